// What the charts and the card look back on: one column of numbers for each curve, the corrections, and what was done to the
// run.

import { CURVES } from "./questions.js";

/** Ten minutes of frames; older ones are overwritten. */
const CAPACITY = 36_000;
/** How many corrections are kept, however old they are. */
export const LATEST = 24;
/** A control that is dragged is one mark while it changes at least this often. */
const DRAG_S = 0.6;

function column() {
  return new Float32Array(CAPACITY).fill(NaN);
}

export class History {
  constructor() {
    this.time = new Float64Array(CAPACITY);
    this.columns = Object.fromEntries(CURVES.map((name) => [name, column()]));
    /** The curves of lanes: a column each from the frame on in which its lane first was. */
    this.ofLanes = new Map();
    this.clear();
  }

  clear() {
    this.ofLanes.clear();
    this.turn();
    /** How many frames were ever added; frame `i` is kept while `count - CAPACITY <= i < count`. */
    this.count = 0;
    /** Oldest first, each with the `frame` and `time_s` in which it happened. */
    this.corrections = [];
    /** How many corrections there were before these. */
    this.forgotten = 0;
    /** Oldest first, each with the `time_s` of its frame. */
    this.marks = [];
  }

  /** Another scene begins with the next frame. */
  turn() {
    /** When the scene that is shown began, in seconds; null before its first frame. */
    this.since = null;
  }

  add(frame) {
    const at = this.count % CAPACITY;
    this.since ??= frame.time_s;
    this.time[at] = frame.time_s;
    for (const name of CURVES) this.columns[name][at] = frame.chart[name] ?? frame.now[name] ?? NaN;
    for (const column of this.ofLanes.values()) column[at] = NaN;
    for (const { name, chart } of frame.lanes?.lanes ?? []) chart.forEach((value, i) => { this.ofLane(`${name}/${i}`)[at] = value ?? NaN; });
    for (const correction of frame.corrections) {
      this.corrections.push({ ...correction, frame: frame.frame, time_s: frame.time_s });
    }
    for (const mark of frame.marks) this.addMark({ ...mark, time_s: frame.time_s, until_s: frame.time_s });
    this.count += 1;
    this.forget();
  }

  /** Forgets what happened before the oldest frame, but for the latest corrections. */
  forget() {
    const { corrections, marks, oldestTime } = this;
    while (corrections.length > LATEST && corrections[0].time_s < oldestTime) {
      corrections.shift();
      this.forgotten += 1;
    }
    while (marks.length && marks[0].until_s < oldestTime) marks.shift();
  }

  /** How many corrections there were since the start. */
  get total() {
    return this.forgotten + this.corrections.length;
  }

  /** The correction of this number, counted from 0 since the start; undefined once it is forgotten. */
  correction(number) {
    return this.corrections[number - this.forgotten];
  }

  /** The column of a lane's curve. */
  ofLane(name) {
    if (!this.ofLanes.has(name)) this.ofLanes.set(name, column());
    return this.ofLanes.get(name);
  }

  addMark(mark) {
    const last = this.marks.at(-1);
    const word = ({ caption }) => caption.replace(/[\d.]+( \S+)?$/, "");
    if (last && last.kind === "set" && mark.kind === "set" && word(last) === word(mark) && mark.time_s - last.until_s < DRAG_S) {
      last.caption = mark.caption;
      last.until_s = mark.time_s;
    } else {
      this.marks.push(mark);
    }
  }

  get first() {
    return Math.max(0, this.count - CAPACITY);
  }

  timeAt(index) {
    return this.time[index % CAPACITY];
  }

  valueAt(name, index) {
    return (this.columns[name] ?? this.ofLane(name))[index % CAPACITY];
  }

  get newestTime() {
    return this.count ? this.timeAt(this.count - 1) : 0;
  }

  get oldestTime() {
    return this.count ? this.timeAt(this.first) : 0;
  }

  /** The first kept index whose time is not before `time_s`; `count` if there is none. */
  indexAt(time_s) {
    let [low, high] = [this.first, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timeAt(middle) < time_s) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
