// The lane of what was done to the run: a flag on the time axis for each event, step of a script, and changed control.

import { colours } from "./theme.js";

/** Its height in CSS pixels. */
export const EVENTS_LANE = 15;
const GAP = 6;

/** As much of `text` as fits into `width` pixels; nothing where that says nothing. */
function fitted(c, text, width) {
  if (c.measureText(text).width <= width) return text;
  for (let end = text.length - 1; end >= 4; end -= 1) {
    const cut = `${text.slice(0, end).trimEnd()}…`;
    if (c.measureText(cut).width <= width) return cut;
  }
  return "";
}

/** Draws the marks in view. A caption stands before its flag, so that it can be read as soon as it appears; the one
 *  nearest to `pointer` is written out. */
export function drawEvents(c, marks, { left, right, bottom }, x, pointer) {
  const inView = atOnce(marks).map((mark) => ({ mark, at: x(mark.time_s) })).filter(({ at }) => at >= left - 1 && at <= right + 1);
  c.font = "12px system-ui, sans-serif";
  c.textAlign = "right";
  c.textBaseline = "middle";
  inView.forEach(({ mark, at }, i) => {
    const before = i > 0 ? inView[i - 1].at : 0;
    line(c, at, bottom, mark.kind);
    flag(c, at, mark.kind);
    c.fillStyle = mark.kind === "set" ? colours.muted : colours.text;
    c.fillText(fitted(c, mark.caption, at - before - GAP - 4), at - GAP, EVENTS_LANE / 2);
  });
  const near = pointer === null ? null : inView.reduce((best, one) => (Math.abs(one.at - pointer) < Math.min(9, best ? Math.abs(best.at - pointer) : 9) ? one : best), null);
  if (near) writeOut(c, near.mark.caption, near.at, left, right);
}

/** Marks of one instant as one, with all that they say. */
function atOnce(marks) {
  const joined = [];
  for (const mark of marks) {
    const last = joined.at(-1);
    if (last?.time_s === mark.time_s) joined[joined.length - 1] = { ...last, caption: `${last.caption} · ${mark.caption}` };
    else joined.push(mark);
  }
  return joined;
}

function line(c, at, bottom, kind) {
  c.strokeStyle = kind === "set" ? colours.muted : colours.text;
  c.lineWidth = 1;
  c.globalAlpha = 0.5;
  c.setLineDash([1, 3]);
  c.beginPath();
  c.moveTo(Math.round(at) + 0.5, EVENTS_LANE);
  c.lineTo(Math.round(at) + 0.5, bottom);
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}

/** A full flag for a script, an open one for an event, a bar for a control. */
function flag(c, at, kind) {
  const foot = Math.round(at) + 0.5;
  const colour = kind === "set" ? colours.muted : colours.text;
  c.strokeStyle = colour;
  c.fillStyle = kind === "script" ? colour : colours.panel;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(foot, EVENTS_LANE);
  c.lineTo(foot, 2);
  if (kind !== "set") {
    c.lineTo(foot - 5, 4.5);
    c.lineTo(foot, 7.5);
    c.fill();
  }
  c.stroke();
}

function writeOut(c, all, at, left, right) {
  const text = fitted(c, all, right - left - 10);
  const wide = c.measureText(text).width + 10;
  const from = Math.min(Math.max(at - wide, left), right - wide);
  c.fillStyle = colours.text;
  c.fillRect(from, 0, wide, EVENTS_LANE);
  c.fillStyle = colours.panel;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillText(text, from + 5, EVENTS_LANE / 2 + 0.5);
}
