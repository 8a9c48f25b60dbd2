// The datagrams of a correction: a picture of who sent what when and when it came, and the same in words and numbers.

import { element } from "./element.js";
import { format } from "./readout.js";

const whole = new Intl.NumberFormat("en");
const SVG = "http://www.w3.org/2000/svg";
const [WIDE, TALL, LEFT, RIGHT, YOU, SERVER] = [348, 114, 50, 12, 20, 80];
const COUNTED = [["lost", "lost"], ["late", "too late"], ["in_time", "in time"], ["repeated", "only repeating it"]];

const seconds = (at) => `${format(at, 3)} s`;
const span = ([first, newest]) => (first === newest ? whole.format(newest) : `${whole.format(first)}–${whole.format(newest)}`);

/** What is known of the datagrams of `correction`, as elements for its card. */
export function packetsOf({ own, packets, tick, time_s }) {
  const picture = packets.inputs.length || packets.snapshot ? [draw(packets, tick, time_s)] : [];
  return [element("h3", "", "Packets"), ...picture, ...(own ? [inputs(packets)] : []), ...(packets.inputs.length ? [table(packets)] : []), snapshot(packets.snapshot, tick)];
}

function inputs({ ticks, inputs, ...counts }) {
  const one = ticks[0] === ticks[1];
  const all = COUNTED.reduce((sum, [key]) => sum + counts[key], 0) || inputs.length;
  if (!all) return element("p", "", `No datagram carried the ${one ? "input for tick" : "inputs for ticks"} ${span(ticks)}.`);
  const what = one ? `The input for tick ${span(ticks)} was in` : `The inputs for ticks ${span(ticks)} were in`;
  const parts = COUNTED.filter(([key]) => counts[key]).map(([key, words]) => `${counts[key]} ${words}`);
  const more = all > inputs.length ? `; the last ${inputs.length}:` : ":";
  return element("p", "", `${what} ${all} ${all === 1 ? "datagram" : "datagrams"}${parts.length ? `, ${parts.join(", ")}` : ""}${more}`);
}

function table({ inputs }) {
  const head = element("tr", "", ...["ticks", "sent", "came", ""].map((name) => element("th", "", name)));
  const rows = inputs.map(({ ticks, sent_s, comes_s, fate, late_ms }) => element(
    "tr", fate.replace(" ", "-"),
    element("td", "", span(ticks)),
    element("td", "", seconds(sent_s)),
    element("td", "", comes_s === null ? "never" : seconds(comes_s)),
    element("td", "", fate === "late" ? `${format(late_ms, 1)} ms too late` : fate === "in time" ? `${format(-late_ms, 1)} ms early` : fate),
  ));
  return element("table", "", head, ...rows);
}

function snapshot(told, tick) {
  const text = told
    ? `The snapshot of tick ${whole.format(tick)} told it: sent at ${seconds(told.sent_s)}, it came ${format((told.came_s - told.sent_s) * 1000, 0)} ms later, at ${seconds(told.came_s)}.`
    : `The snapshot of tick ${whole.format(tick)} told it; its datagram is not remembered.`;
  return element("p", "", text);
}

/** Two lines of time, yours and the server's; a datagram is a line between them, one that is lost ends half-way. */
function draw({ inputs, snapshot, due_s, ticks }, tick, time_s) {
  const times = [time_s, due_s, ...inputs.flatMap(({ sent_s, comes_s }) => [sent_s, comes_s]), snapshot?.sent_s, snapshot?.came_s].filter((at) => typeof at === "number");
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (at) => LEFT + ((at - from) / Math.max(to - from, 0.001)) * (WIDE - LEFT - RIGHT);
  const svg = make("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, class: "passages", role: "img", "aria-label": "When the datagrams were sent, and when they came" });
  for (const [y, name] of [[YOU, "you"], [SERVER, "server"]]) {
    svg.append(make("line", { class: "host", x1: LEFT, x2: WIDE - RIGHT, y1: y, y2: y }), text(0, y + 3.5, name, "start"));
  }
  if (due_s !== null) {
    svg.append(make("line", { class: "due", x1: x(due_s), x2: x(due_s), y1: SERVER - 8, y2: SERVER + 8 }));
    svg.append(beside(x(due_s), SERVER + 19, `tick ${whole.format(ticks[1])} simulated`));
  }
  for (const { sent_s, comes_s, fate } of inputs) svg.append(passage([x(sent_s), YOU], comes_s === null ? null : [x(comes_s), SERVER], fate));
  if (snapshot) svg.append(passage([x(snapshot.sent_s), SERVER], [x(snapshot.came_s), YOU], "snapshot"));
  svg.append(make("line", { class: "due", x1: x(time_s), x2: x(time_s), y1: YOU - 8, y2: YOU + 8 }), text(Math.min(x(time_s), WIDE - RIGHT), YOU - 11, "corrected", "end"));
  svg.append(text(LEFT, TALL - 2, seconds(from), "start"), text(WIDE - RIGHT, TALL - 2, `+${format((to - from) * 1000, 0)} ms`, "end"));
  return svg;
}

function passage([x1, y1], end, fate) {
  const group = make("g", { class: fate.replace(" ", "-") });
  const [x2, y2] = end ?? [x1 + 9, (y1 + SERVER) / 2];
  group.append(make("line", { x1, y1, x2, y2 }), make("circle", { cx: x1, cy: y1, r: 1.8 }));
  group.append(end ? make("circle", { cx: x2, cy: y2, r: 2.6 }) : make("path", { d: `M${x2 - 3.5} ${y2 - 3.5}l7 7m0 -7l-7 7` }));
  return group;
}

/** A text at `x` that stays within the picture. */
function beside(x, y, words) {
  const half = words.length * 3.9;
  return text(Math.min(Math.max(x, half), WIDE - half), y, words, "middle");
}

function text(x, y, words, anchor) {
  const made = make("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}

function make(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
