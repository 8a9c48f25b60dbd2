// The "now" line: a fixed cell for each number, rewritten ten times a second so that it can be read.

const EVERY_MS = 100;
/** [key, name, unit, factor, decimals, explanation] */
const CELLS = [
  ["misprediction_m", "misprediction", "cm", 100, 1, "distance between what was predicted and what the server confirmed"],
  ["correction_m", "correction", "cm", 100, 1, "how far the shown cube still is from the simulated one"],
  ["lead_ticks", "lead", "ticks", 1, 1, "how far the client is ahead of the server"],
  ["margin_ticks", "input margin", "ticks", 1, 1, "how long before its tick an input reaches the server; below 0 it is late"],
  ["rtt_ms", "RTT", "ms", 1, 0, "round trip time as the client measures it"],
  ["input_miss_rate", "input misses", "%", 100, 1, "ticks for which the server had no input in time"],
  ["up_bytes_per_s", "up", "kB/s", 0.001, 1, "client to server, packet headers included"],
  ["down_bytes_per_s", "down", "kB/s", 0.001, 1, "server to client, packet headers included"],
  ["speed", "pace", "×", 1, 3, "how fast the client runs its ticks to keep its lead"],
];

/** `number` with `decimals` places and a true minus sign; a dash when there is none. */
export function format(number, decimals) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const text = number.toFixed(decimals);
  return text.startsWith("-") ? (Number(text) === 0 ? text.slice(1) : `\u2212${text.slice(1)}`) : text;
}

export class Readout {
  constructor(list) {
    this.written = -Infinity;
    this.cells = CELLS.map(([key, name, unit, factor, decimals, explain]) => {
      const [box, term, value, suffix] = ["div", "dt", "dd", "span"].map((tag) => document.createElement(tag));
      box.title = explain;
      term.textContent = name;
      suffix.textContent = ` ${unit}`;
      const number = document.createTextNode("–");
      value.append(number, suffix);
      box.append(term, value);
      list.append(box);
      return { key, factor, decimals, number, peak: unit === "cm" ? 0 : null };
    });
  }

  /** Shows the numbers of `frame`, of distances the largest since the last time; `at_once` skips the wait. */
  show(frame, now, at_once = false) {
    for (const cell of this.cells) if (cell.peak !== null) cell.peak = at_once ? frame.now[cell.key] : Math.max(cell.peak, frame.now[cell.key]);
    if (!at_once && now - this.written < EVERY_MS) return;
    this.written = now;
    for (const cell of this.cells) {
      const { key, factor, decimals, number, peak } = cell;
      const value = peak ?? frame.now[key];
      if (peak !== null) cell.peak = 0;
      number.data = format(typeof value === "number" ? value * factor : null, decimals);
    }
  }
}
