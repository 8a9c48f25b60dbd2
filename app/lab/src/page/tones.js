// What tells the lanes apart: each has a colour, a dash and a number, so that a curve needs no colour to be known.

import { colours } from "./theme.js";

const TONES = ["client", "late", "local", "event", "text", "ghost"];
/** Neighbours differ in dash too; with six colours, twelve lanes differ in the pair. */
const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3]];

/** The name of the colour of the lane `index`. */
export function toneOf(index) {
  return TONES[index % TONES.length];
}

export function dashOf(index) {
  return DASHES[index % DASHES.length];
}

/** A short piece of the curve of the lane `index`, on the canvas `c`. */
export function sample(c, index, x, y, width) {
  c.strokeStyle = colours[toneOf(index)];
  c.lineWidth = 2;
  c.setLineDash(dashOf(index));
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x + width, y);
  c.stroke();
  c.setLineDash([]);
}
