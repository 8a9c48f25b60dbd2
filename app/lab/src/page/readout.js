// The "now" line: a fixed cell for each number, rewritten ten times a second so that it can be read.

import { Meaning } from "./meaning.js";

const EVERY_MS = 100;
const WIRE = "without headers of IP and UDP";
const CELLS = {
  misprediction: ["misprediction_m", "cm", 100, 1, "distance between what was predicted and what the server confirmed"],
  correction: ["correction_m", "cm", 100, 1, "how far the shown cube still is from the simulated one"],
  lead: ["lead_ticks", "ticks", 1, 1, "how far the client is ahead of the server"],
  "input margin": ["margin_ticks", "ticks", 1, 1, "how long before its tick the latest of the last inputs reached the server; below 0 it was late"],
  RTT: ["rtt_ms", "ms", 1, 0, "round trip time as the client measures it"],
  "input misses": ["input_miss_rate", "%", 100, 1, "ticks of the last second for which the server had no input in time"],
  up: ["up_bytes_per_s", "kB/s", 0.001, 1, `client to server, ${WIRE}; where others are shown, each input also says how late, so that the server can judge shots by it`],
  down: ["down_bytes_per_s", "kB/s", 0.001, 1, `server to client, ${WIRE}`],
  pace: ["speed", "×", 1, 3, "how fast the client runs its ticks to keep its lead"],
  "playout delay": ["playout_delay_ms", "ms", 1, 0, "how far behind the newest possible information others are shown"],
  extrapolated: ["extrapolated_share", "%", 100, 1, "frames of others in the last 5 s that were shown beyond the newest snapshot"],
  frozen: ["frozen_ms", "ms", 1, 0, "the longest in the last 5 s that another was shown standing still while in truth they moved"],
  "largest jump": ["jump_m", "cm", 100, 0, "the largest step of another in the last 5 s beyond what their true speed allows"],
};
const SCENES = {
  prediction: ["misprediction", "correction", "lead", "input margin", "RTT", "input misses", "up", "down", "pace"],
  remote: ["playout delay", "extrapolated", "frozen", "largest jump", "lead", "input margin", "RTT", "input misses", "down"],
};

/** `number` with `decimals` places and a true minus sign; a dash when there is none. */
export function format(number, decimals) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const text = number.toFixed(decimals);
  return text.startsWith("-") ? (Number(text) === 0 ? text.slice(1) : `\u2212${text.slice(1)}`) : text;
}

export class Readout {
  /** `list` holds the numbers, `line` says what one of them means. */
  constructor(list, line) {
    Object.assign(this, { list, meaning: new Meaning(line) });
    this.ask("prediction");
  }

  /** Shows the numbers of this scene from now on. */
  ask(scene) {
    if (scene === this.scene) return;
    this.scene = scene;
    this.written = -Infinity;
    this.list.replaceChildren();
    this.meaning.rest("Point at a number, or tap it, to read what it means.");
    this.cells = SCENES[scene].map((name) => {
      const [key, unit, factor, decimals, explain] = CELLS[name];
      const [box, term, value, suffix] = ["div", "dt", "dd", "span"].map((tag) => document.createElement(tag));
      this.meaning.of(box, name, `${explain}.`);
      term.textContent = name;
      suffix.textContent = ` ${unit}`;
      const number = document.createTextNode("–");
      value.append(number, suffix);
      box.append(term, value);
      this.list.append(box);
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
