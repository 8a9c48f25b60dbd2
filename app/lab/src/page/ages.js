// How old what is shown of an entity is, as it is drawn: a colour and a shape for each step of age, so that none needs the other.

import { rgb } from "./hall.js";
import { colours } from "./theme.js";

/** Each up to so many ms beyond the playout delay: how much of the colour is that of what is late, and how full the dart is. */
export const AGES = [
  { until: 50, name: "up to date", explain: "told less than 50 ms ago, beyond the playout delay", late: 0, fill: 0.95 },
  { until: 150, name: "≤ 150 ms", explain: "up to 150 ms old: it goes on as it went", late: 0.45, fill: 0.7 },
  { until: 400, name: "≤ 400 ms", explain: "up to 400 ms old: it comes to a stop", late: 0.75, fill: 0.35 },
  { until: Infinity, name: "older", explain: "more than 400 ms old: it stands still", late: 1, fill: 0 },
];
/** What the client is not told of. */
export const UNTOLD = { name: "not told", explain: "out of your interest, or not told yet: only the server knows where it is" };

/** A dart that looks to the right, as long as 2. */
export const DART = [[1, 0], [-0.8, 0.7], [-0.4, 0], [-0.8, -0.7]];

/** Which of the steps an age belongs to. */
export const stepOf = (age_ms) => AGES.findIndex(({ until }) => age_ms <= until);

/** The colours of all steps, for a canvas. */
export function coloursOfAges() {
  const [fresh, late] = [rgb(colours.client), rgb(colours.late)];
  return AGES.map((age) => `rgb(${fresh.map((lane, i) => Math.round(255 * (lane + (late[i] - lane) * age.late))).join(" ")})`);
}

/** The same for what the style paints. */
export const styleOf = (age) => `color-mix(in srgb, var(--late) ${100 * age.late}%, var(--client))`;
