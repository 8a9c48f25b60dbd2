// One row of the charts: its axis, its curves, and beside or above them its question with each curve's value.

import { format } from "./readout.js";
import { logScale, niceScale } from "./scale.js";
import { colours } from "./theme.js";

/** What stands for a curve is a line of this length, in CSS pixels. */
const SAMPLE = 14;
/** Where curves are named that stand beside the question, in CSS pixels. */
const BESIDE = 194;

export class Strip {
  /** `row` is one of `questions.js`; `box` = {left, right, top, bottom, narrow, beside}, in CSS pixels. */
  constructor(context, row, box) {
    Object.assign(this, { context, row, box });
  }

  /** The value of a curve in a frame, in the row's unit. */
  valueAt(history, name, index) {
    return (history.valueAt(name, index) - (this.row.from ?? 0)) * this.row.factor;
  }

  /** Draws the frames [from, until) of `history`; `x(time_s)` is the shared time axis. */
  draw(history, [from, until], x) {
    const { left, right, top, bottom } = this.box;
    const scale = this.scaleOf(history, from, until);
    this.y = (value) => bottom - scale.part(value) * (bottom - top);
    this.axis(scale);
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(left, top - 2, right - left, bottom - top + 4);
    c.clip();
    for (const curve of this.row.curves) {
      c.globalAlpha = this.isBehind(curve) ? 0.2 : 1;
      this.curve(curve, history, [from, until], x);
    }
    c.restore();
    if (!this.hasData(history, from, until)) this.excuse();
  }

  /** Whether there is anything to see of any curve; of stems those that are not zero. */
  hasData(history, from, until) {
    const seen = (value, kind) => Number.isFinite(value) && (kind !== "stem" || value !== 0);
    return this.row.curves.some(([name, , , kind]) => {
      for (let i = from; i < until; i += 1) if (seen(this.valueAt(history, name, i), kind)) return true;
      return false;
    });
  }

  /** Why there is nothing to see. */
  excuse() {
    const c = this.context;
    const { left, right, top, bottom } = this.box;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = colours.muted;
    c.fillText(this.row.none ?? "nothing measured yet", (left + right) / 2, (top + bottom) / 2);
  }

  /** Whether another lane stands out. */
  isBehind([name]) {
    const { foremost } = this.box;
    return this.row.lanes && foremost && !name.startsWith(`${foremost}/`);
  }

  scaleOf(history, from, until) {
    const { curves, least, log, even } = this.row;
    let [low, high] = [0, 0];
    for (const [name] of curves) {
      for (let i = from; i < until; i += 1) {
        // What is kept in 32 bits is a little off: no larger scale for that.
        const value = Math.round(this.valueAt(history, name, i) * 1000) / 1000;
        if (value > high) high = value;
        if (value < low) low = value;
      }
    }
    if (even) [low, high] = [Math.min(low, -high, -least), Math.max(high, -low, least)];
    return log ? logScale(log, high, least) : niceScale(low, high, least, 2);
  }

  axis(scale) {
    const c = this.context;
    const { left, right, top, bottom } = this.box;
    if (this.row.late && scale.low < 0) {
      c.fillStyle = colours.late;
      c.globalAlpha = 0.12;
      c.fillRect(left, this.y(0), right - left, bottom - this.y(0));
      c.globalAlpha = 1;
    }
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillStyle = colours.muted;
    const every = Math.max(1, Math.ceil(((scale.ticks.length - 1) * 14) / (bottom - top)));
    scale.ticks.forEach((tick, i) => {
      const level = Math.round(this.y(tick)) + 0.5;
      const foot = this.row.log ? i === 0 : Math.abs(tick) < 1e-9;
      c.strokeStyle = foot ? colours.line : colours.grid;
      c.globalAlpha = foot ? 1 : 0.6;
      c.beginPath();
      c.moveTo(left, level);
      c.lineTo(right, level);
      c.stroke();
      c.globalAlpha = 1;
      const text = scale.decimals === null ? String(Number(tick.toPrecision(1))) : format(tick, scale.decimals);
      if (i % every === 0) c.fillText(text, left - 5, Math.min(Math.max(level, top + 3), bottom - 2));
    });
  }

  curve([name, , colour, kind], history, [from, until], x) {
    const c = this.context;
    const foot = this.y(0) + 1;
    c.strokeStyle = colours[colour];
    c.lineJoin = "round";
    c.lineWidth = kind === "stem" ? 2 : 1.6;
    c.setLineDash(dashOf(kind));
    c.beginPath();
    let open = false;
    // Where there are many curves: no more of their frames than can be seen, always the same ones.
    const every = this.row.every ?? 1;
    for (let i = from - (from % every); i < until; i += every) {
      const value = this.valueAt(history, name, i);
      const at = x(history.timeAt(i));
      if (kind === "stem") {
        if (!value) continue;
        c.moveTo(at, foot);
        c.lineTo(at, this.y(value));
      } else if (Number.isNaN(value)) {
        open = false;
      } else {
        if (open) c.lineTo(at, this.y(value));
        else c.moveTo(at, this.y(value));
        open = true;
      }
    }
    c.stroke();
    c.setLineDash([]);
  }

  /** The question where there is room, and each curve's line, name and value in the frame `at`. */
  heading(history, at) {
    if (this.row.lanes && !this.row.named) return this.headingOfLanes(history, at);
    const c = this.context;
    const { narrow, beside, left, top } = this.box;
    const { question, unit, decimals, curves } = this.row;
    c.textBaseline = "middle";
    c.textAlign = "left";
    let [x, y] = narrow ? [left, top - 10] : [0, top + 4];
    // Where there are three beside each other, the last one says the unit of all.
    const dense = narrow && curves.length > 2;
    if (!narrow) {
      c.fillStyle = colours.muted;
      c.fillText(question, x, y);
      if (beside) [x, y] = [BESIDE, y - 14];
    }
    for (const [name, label, colour, kind] of curves) {
      const said = dense && name !== curves.at(-1)[0] ? "" : ` ${unit}`;
      if (!narrow) y += 14;
      this.sample(x, y, colours[colour], kind);
      c.fillStyle = colours.text;
      c.fillText(label, x + 20, y);
      const end = narrow ? x + 20 + c.measureText(`${label} `).width + (dense ? 29 : 34) : left - 40 - c.measureText(` ${unit}`).width;
      c.textAlign = "right";
      c.fillText(at >= 0 ? format(this.valueAt(history, name, at), decimals) : "–", end, y);
      c.textAlign = "left";
      c.fillStyle = colours.muted;
      c.fillText(said, end, y);
      if (narrow) x = dense ? end + 14 : Math.max(x + 160, end + 40);
    }
  }

  /** The question, and under it where there is room each lane's number, line and value. */
  headingOfLanes(history, at) {
    const c = this.context;
    const { narrow, left, top, bottom } = this.box;
    const { question, unit, decimals, curves } = this.row;
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.fillStyle = colours.muted;
    c.fillText(`${question} (${this.row.log ? "log, " : ""}${unit})`, narrow ? left : 0, narrow ? top - 10 : top + 4);
    if (narrow) return;
    const columns = curves.length > 4 ? 3 : 2;
    const wide = (left - 32) / columns;
    const apart = Math.min(14, (bottom - top - 8) / Math.ceil(curves.length / columns));
    curves.forEach((curve, i) => {
      const [name, label, colour, kind] = curve;
      const [x, y] = [(i % columns) * wide, top + 4 + apart * (1 + Math.floor(i / columns))];
      c.globalAlpha = this.isBehind(curve) ? 0.35 : 1;
      c.fillStyle = colours.muted;
      c.fillText(label, x, y);
      this.sample(x + 10, y, colours[colour], kind, 13);
      c.fillStyle = colours.text;
      c.textAlign = "right";
      c.fillText(at >= 0 ? format(this.valueAt(history, name, at), decimals) : "–", x + wide - 6, y);
      c.textAlign = "left";
      c.globalAlpha = 1;
    });
  }

  sample(x, y, colour, kind, long = SAMPLE) {
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = 2;
    c.setLineDash(dashOf(kind));
    c.beginPath();
    if (kind === "stem") {
      for (const [dx, dy] of [[2, 0], [7, -4], [12, 0]]) {
        c.moveTo(x + dx, y + 4);
        c.lineTo(x + dx, y + dy);
      }
    } else {
      c.moveTo(x, y);
      c.lineTo(x + long, y);
    }
    c.stroke();
    c.setLineDash([]);
  }
}

/** The dash of a way of drawing: one of the names of `questions.js`, or a lane's own. */
function dashOf(kind) {
  if (Array.isArray(kind)) return kind;
  return kind === "dash" ? [5, 3] : [];
}
