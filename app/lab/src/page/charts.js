// The strip charts: one time axis, a row for each question, a mark for each correction and a flag for whatever was done to
// the run. The axis begins where the data of the scene begin, grows to 20 s and scrolls from then on. It can be dragged to
// look back, and a click on a mark opens it.

import { causeKinds } from "./causes.js";
import { EVENTS_LANE, drawEvents } from "./lane.js";
import { SETS } from "./questions.js";
import { format } from "./readout.js";
import { niceStep } from "./scale.js";
import { Strip } from "./strip.js";
import { colours, fitCanvas } from "./theme.js";

/** How much time the axis shows: no less at first, no more later. */
const SPAN_S = { least: 4, most: 20 };
/** The lanes above the rows: events, then corrections. */
const LANE = EVENTS_LANE + 18;
const AXIS = 21;

export class Charts {
  /** `on` holds open(number of a correction) and moved() (the looked-at time changed). */
  constructor(canvas, history, on) {
    Object.assign(this, { canvas, history, on });
    this.context = canvas.getContext("2d");
    /** The time at the right edge, while `held` seconds are shown; null follows the newest frame. */
    this.end = null;
    this.held = SPAN_S.most;
    /** Where the pointer is on the time axis, in pixels; null when it is elsewhere. */
    this.pointer = null;
    this.drag = null;
    this.selected = null;
    /** The lane whose curves stand out, or null. */
    this.foremost = null;
    this.rows = SETS[0].rows;
    this.fit();
    new ResizeObserver(() => this.fit()).observe(canvas);
    this.listen();
  }

  /** Asks other questions. */
  ask(rows) {
    this.rows = rows;
    this.fit();
    this.on.moved();
  }

  fit() {
    const { width, height } = fitCanvas(this.canvas);
    const narrow = width < 620;
    const head = narrow ? 17 : 0;
    const sum = (weights) => weights.reduce((sum, weight) => sum + weight);
    // A row with two curves has one line of text more, unless its curves stand beside the question for want of height.
    const stacked = this.rows.map((row) => (narrow || row.lanes || row.curves.length === 1 ? 1 : 1.5));
    const beside = !narrow && !this.rows[0].lanes && (height - LANE - AXIS) / sum(stacked) < 28;
    const left = narrow ? 40 : beside ? 410 : 238;
    const weights = beside ? this.rows.map(() => 1) : stacked;
    const unit = (height - LANE - AXIS) / sum(weights);
    let bottom = LANE;
    const boxes = weights.map((weight) => {
      const top = bottom;
      bottom += weight * unit;
      return { top: top + head + 3, bottom: bottom - 5 };
    });
    this.layout = { width, height, narrow, beside, left, right: width - 10, boxes };
  }

  listen() {
    const c = this.canvas;
    const at = (event) => event.clientX - c.getBoundingClientRect().left;
    c.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      c.setPointerCapture(event.pointerId);
      this.drag = { x: at(event), end: this.rightEdge, far: false };
    });
    c.addEventListener("pointermove", (event) => {
      this.pointer = at(event);
      c.classList.toggle("on-mark", this.markAt(this.pointer, 9) !== null);
      if (!this.drag) return this.on.moved();
      const moved = this.pointer - this.drag.x;
      if (Math.abs(moved) > 4) this.drag.far = true;
      if (this.drag.far) this.lookAt(this.drag.end - (moved / this.plotWidth) * this.span);
    });
    c.addEventListener("pointerup", (event) => {
      const mark = this.drag && !this.drag.far ? this.markAt(at(event), event.pointerType === "mouse" ? 9 : 20) : null;
      this.drag = null;
      if (mark !== null) this.on.open(mark);
    });
    c.addEventListener("pointercancel", () => { this.drag = null; });
    c.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.on.moved();
    });
  }

  get plotWidth() {
    return this.layout.right - this.layout.left;
  }

  /** When the data of the scene begin, in seconds. */
  get since() {
    return this.history.since ?? this.history.newestTime;
  }

  /** How many seconds are shown. */
  get span() {
    return this.end === null ? Math.min(Math.max(this.history.newestTime - this.since, SPAN_S.least), SPAN_S.most) : this.held;
  }

  /** The right edge that follows the newest frame, or waits for it. */
  get newestEdge() {
    return Math.max(this.history.newestTime, this.since + SPAN_S.least);
  }

  get rightEdge() {
    return this.end ?? this.newestEdge;
  }

  /** Where which time is: the edges in seconds, and in CSS pixels on the canvas. */
  get axis() {
    const { left, right } = this.layout;
    return { from_s: this.rightEdge - this.span, until_s: this.rightEdge, left, right };
  }

  /** Moves the right edge to `end` seconds; at or beyond the newest frame it follows again. */
  lookAt(end) {
    const [newest, span] = [this.newestEdge, this.span];
    const oldest = Math.min(this.history.oldestTime + span, newest);
    this.end = end >= newest ? null : Math.max(end, oldest);
    this.held = span;
    this.on.moved();
  }

  x(time_s) {
    return this.layout.right - ((this.rightEdge - time_s) / this.span) * this.plotWidth;
  }

  /** The time under the pointer, or null. */
  get cursorTime() {
    const { left, right } = this.layout;
    if (this.pointer === null || this.pointer < left || this.pointer > right || !this.history.count) return null;
    const time = this.rightEdge - ((right - this.pointer) / this.plotWidth) * this.span;
    return time > this.history.newestTime || time < this.history.oldestTime ? null : time;
  }

  /** The number of the correction nearest to `x` within `reach` pixels, or null. */
  markAt(x, reach) {
    if (this.rows[0]?.lanes) return null;
    let [best, nearest] = [null, reach];
    this.history.corrections.forEach(({ time_s }, index) => {
      const distance = Math.abs(this.x(time_s) - x);
      if (distance <= nearest) [best, nearest] = [this.history.forgotten + index, distance];
    });
    return best;
  }

  draw() {
    const { width, height, left, right } = this.layout;
    if (this.plotWidth <= 0) return;
    const c = this.context;
    c.clearRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    this.timeAxis();
    const from = this.history.indexAt(this.rightEdge - this.span);
    const until = Math.min(this.history.count, this.history.indexAt(this.rightEdge) + 1);
    const cursor = this.cursorTime;
    // Numbers that change 60 times a second can't be read: without a cursor those of every sixth frame.
    const at = cursor === null ? until - 1 - (this.end === null ? Math.max(until - 1, 0) % 6 : 0) : Math.min(until - 1, this.history.indexAt(cursor));
    this.marks((x, kind, chosen) => this.markLine(x, kind, chosen));
    drawEvents(c, this.history.marks, { left, right, bottom: this.layout.boxes.at(-1).bottom }, (time) => this.x(time), this.pointer);
    this.rows.forEach((row, i) => {
      const strip = new Strip(c, row, { ...this.layout, ...this.layout.boxes[i], foremost: this.foremost });
      strip.draw(this.history, [from, until], (time) => this.x(time));
      strip.heading(this.history, at);
    });
    this.marks((x, kind, chosen) => this.markShape(x, kind, chosen));
    if (cursor !== null) this.cursor(cursor);
  }

  timeAxis() {
    const c = this.context;
    const { boxes, narrow, left, right } = this.layout;
    const [top, bottom] = [boxes[0].top, boxes.at(-1).bottom];
    const step = niceStep(this.span / (narrow ? 4 : 10));
    c.fillStyle = colours.muted;
    c.strokeStyle = colours.grid;
    c.lineWidth = 1;
    c.textAlign = "center";
    c.textBaseline = "top";
    const newest = this.rightEdge;
    for (let t = Math.ceil((newest - this.span) / step) * step; t <= newest; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.globalAlpha = 0.6;
      c.beginPath();
      c.moveTo(x, top);
      c.lineTo(x, bottom);
      c.stroke();
      c.globalAlpha = 1;
      if (x > left + 8 && x < right - 8) c.fillText(`${format(t, step < 1 ? 1 : 0)} s`, x, bottom + 6);
    }
  }

  /** Calls `paint(x, kind, chosen)` for each correction in view, the chosen one last. */
  marks(paint) {
    // Those of the session say nothing of lanes.
    if (this.rows[0]?.lanes) return;
    const { left, right } = this.layout;
    const chosen = this.selected === null ? null : this.history.correction(this.selected);
    for (const correction of this.history.corrections) {
      const x = this.x(correction.time_s);
      if (correction !== chosen && x >= left - 1 && x <= right + 1) paint(x, causeKinds(correction)[0], false);
    }
    const x = chosen ? this.x(chosen.time_s) : -1;
    if (x >= left - 1 && x <= right + 1) paint(x, causeKinds(chosen)[0], true);
  }

  markLine(x, kind, chosen) {
    const c = this.context;
    c.strokeStyle = colours[kind.colour];
    c.lineWidth = chosen ? 2 : 1;
    c.globalAlpha = chosen ? 0.9 : 0.3;
    c.beginPath();
    c.moveTo(x, EVENTS_LANE + 9);
    c.lineTo(x, this.layout.boxes.at(-1).bottom);
    c.stroke();
    c.globalAlpha = 1;
  }

  markShape(x, kind, chosen) {
    const c = this.context;
    c.save();
    c.translate(x, EVENTS_LANE + 9);
    if (chosen) c.scale(1.3, 1.3);
    const shape = new Path2D(kind.path);
    c.lineWidth = 1;
    c.fillStyle = colours[kind.colour];
    c.fill(shape);
    c.strokeStyle = chosen ? colours.text : colours.panel;
    c.stroke(shape);
    c.restore();
  }

  cursor(time) {
    const c = this.context;
    const x = Math.round(this.pointer) + 0.5;
    const bottom = this.layout.boxes.at(-1).bottom;
    c.strokeStyle = colours.text;
    c.globalAlpha = 0.6;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x, LANE);
    c.lineTo(x, bottom + 4);
    c.stroke();
    c.globalAlpha = 1;
    const text = `${format(time, 2)} s`;
    const wide = c.measureText(text).width + 10;
    const box = Math.min(Math.max(x - wide / 2, this.layout.left), this.layout.right - wide);
    c.fillStyle = colours.text;
    c.fillRect(box, bottom + 3, wide, 17);
    c.fillStyle = colours.panel;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(text, box + wide / 2, bottom + 11.5);
  }
}
