// Whose colour is whose.

/** Okabe and Ito's, in an order in which neighbours differ most. The name tells apart who has the same. */
const TONES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7bd1", "#7a6a58"];

/** The colour of a player, everywhere the same. */
export function toneOf(number) {
  return TONES[(number - 1) % TONES.length];
}
