// What the charts and the card look back on: one column of numbers for each curve, and the corrections, since the start.

/** Ten minutes of frames; older ones are overwritten. */
const CAPACITY = 36_000;

export const CURVES = [
  "misprediction_m", "correction_m", "rtt_ms", "margin_ticks", "up_bytes_per_s", "down_bytes_per_s", "resimulated_ticks",
];

export class History {
  constructor() {
    this.time = new Float64Array(CAPACITY);
    this.columns = Object.fromEntries(CURVES.map((name) => [name, new Float32Array(CAPACITY)]));
    this.clear();
  }

  clear() {
    /** How many frames were ever added; frame `i` is kept while `count - CAPACITY <= i < count`. */
    this.count = 0;
    /** Oldest first, each with the `frame` and `time_s` in which it happened. */
    this.corrections = [];
  }

  add(frame) {
    const at = this.count % CAPACITY;
    this.time[at] = frame.time_s;
    for (const name of CURVES) this.columns[name][at] = frame.chart[name] ?? NaN;
    for (const correction of frame.corrections) {
      this.corrections.push({ ...correction, frame: frame.frame, time_s: frame.time_s });
    }
    this.count += 1;
  }

  get first() {
    return Math.max(0, this.count - CAPACITY);
  }

  timeAt(index) {
    return this.time[index % CAPACITY];
  }

  valueAt(name, index) {
    return this.columns[name][index % CAPACITY];
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
