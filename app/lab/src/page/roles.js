// The cubes of the arena: what each one is in which scene, and the outline that tells it apart without its colour.

import { AGES, DART, styleOf, UNTOLD } from "./ages.js";

/** Drawn in this order. `dash` is in CSS pixels; `label` is where its name stands, as a direction from the cube. */
export const ROLES = [
  { role: "other", name: "other", dash: [], fill: 0.55, label: [0, -1.5] },
  { role: "ghost", name: "snapshot", dash: [1.5, 3], fill: 0.08, label: [-1.25, 0.75] },
  { role: "client", name: "client", dash: [], fill: 0.9, label: [1.2, -1.15] },
  { role: "local", name: "local", dash: [], fill: 0.1, label: [-1.2, -1.15] },
  { role: "server", name: "server", dash: [6, 4], fill: 0.1, label: [1.25, 0.75] },
  { role: "correction", name: "corrections", line: true },
  { role: "seen", name: "seen there", dash: [2, 3], fill: 0 },
  { role: "rewound", name: "judged here", dash: [], fill: 0.12 },
  { role: "ray", name: "shot", line: true },
];

/** What is drawn in a scene, in the order of its legend, with what each one means there. `hidden` is so until asked for. */
const LEGENDS = {
  prediction: [
    { role: "local", explain: "you without a network" },
    { role: "client", explain: "what you play" },
    { role: "server", explain: "the truth, not yet here" },
    { role: "ghost", explain: "the newest received" },
    { role: "other", explain: "another player" },
  ],
  remote: [
    { role: "other", explain: "as your client shows them" },
    { role: "server", explain: "where they are by now" },
    { role: "ghost", explain: "the newest received", hidden: true },
    { role: "client", explain: "you" },
  ],
  styles: [
    { role: "other", name: "shown", explain: "the owner by this lane's method, in its colour" },
    { role: "server", name: "truth", explain: "where the owner is, and its path" },
    { role: "ghost", name: "update", explain: "the newest received", hidden: true },
  ],
  qiita: [
    { role: "local", explain: "no network" },
    { role: "client", explain: "your screen" },
    { role: "server", explain: "the truth" },
    { role: "other", name: "others' view", explain: "another's screen" },
  ],
  stepping: [
    { role: "local", explain: "no network" },
    { role: "client", explain: "your screen" },
    { role: "server", explain: "the truth" },
    { role: "ghost", explain: "the newest received" },
    { role: "other", name: "others' view", explain: "a host on another's screen" },
  ],
  shared: [
    { role: "local", explain: "without ticks" },
    { role: "client", name: "holder's view", explain: "the screen of whoever holds the cube" },
    { role: "other", name: "the other's view", explain: "the other player's screen" },
  ],
  physics: [
    { role: "client", name: "shown", explain: "what the screen shows: all predicted" },
    { role: "server", explain: "the truth, not yet here" },
    { role: "ghost", explain: "the newest received" },
    { role: "correction", explain: "from where a body was shown to where it is" },
  ],
  peek: [
    { role: "client", name: "you", explain: "you, in both pictures" },
    { role: "other", name: "the other", explain: "the other player, in both pictures" },
    { role: "server", explain: "where the server has both by now" },
    { role: "seen", explain: "where the shooter saw who was shot at, if that is elsewhere" },
    { role: "rewound", explain: "where the server found who was shot at, when it looked back" },
    { role: "ray", explain: "from who shot to where it ended: filled a hit, open one that was taken back, a cross a miss" },
  ],
  crowd: [
    { role: "server", name: "lag", line: true, explain: "a line to where each is by now" },
  ],
};

/** How another player is drawn, by where their pose comes from: the same in the arena and in the legend. */
export const SOURCES = {
  authority: { dash: [], fill: 0.9, crossed: false },
  predicted: { dash: [], fill: 0.9, crossed: false, ringed: true },
  interpolated: { dash: [], fill: 0.55, crossed: false },
  extrapolated: { dash: [3, 3], fill: 0.2, crossed: false },
  held: { dash: [], fill: 0.05, crossed: true },
};

const SVG = "http://www.w3.org/2000/svg";

function swatch({ dash, fill, crossed, ringed, line }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  if (line) {
    const way = document.createElementNS(SVG, "path");
    way.setAttribute("d", "M1 13L15 3");
    svg.append(way);
    return svg;
  }
  const box = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x: 2, y: 2, width: 12, height: 12, "fill-opacity": fill, "stroke-dasharray": dash.length ? dash.map((d) => d * 0.7).join(" ") : "none" })) {
    box.setAttribute(name, value);
  }
  svg.append(box);
  if (ringed) {
    const ring = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x: 5.5, y: 5.5, width: 5, height: 5, class: "ring" })) ring.setAttribute(name, value);
    svg.append(ring);
  }
  if (crossed) {
    const cross = document.createElementNS(SVG, "path");
    cross.setAttribute("d", "M2 2L14 14M14 2L2 14");
    svg.append(cross);
  }
  return svg;
}

function words(name, explain) {
  return [["b", name], ["span", explain]].map(([tag, text]) => {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  });
}

/** What a colour of the crowd means. */
function ageSign(age) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-1.2 -1.2 2.4 2.4");
  svg.setAttribute("aria-hidden", "true");
  const dart = document.createElementNS(SVG, "path");
  dart.setAttribute("d", `M${DART.map((point) => point.join(" ")).join("L")}Z`);
  dart.style.cssText = age === UNTOLD ? "fill: none; stroke: var(--muted); stroke-width: 0.15" : `fill: ${styleOf(age)}; fill-opacity: ${age.fill}; stroke: ${styleOf(age)}; stroke-width: 0.2`;
  svg.append(dart);
  const item = document.createElement("li");
  item.className = "sign age";
  item.title = age.explain;
  item.append(svg, ...words(age.name, age.explain));
  return item;
}

/** The list of what is drawn: one button for each role, which hides or shows it. */
export class Legend {
  constructor(list, onChange) {
    Object.assign(this, { list, onChange });
    const off = (legend) => new Set(legend.filter(({ hidden }) => hidden).map(({ role }) => role));
    this.hiddenIn = Object.fromEntries(Object.entries(LEGENDS).map(([scene, legend]) => [scene, off(legend)]));
    this.show("prediction");
  }

  show(scene) {
    if (scene === this.scene) return;
    this.scene = scene;
    this.list.replaceChildren(...LEGENDS[scene].map((entry) => this.item(entry)));
    if (scene === "crowd") this.list.append(...[...AGES, UNTOLD].map(ageSign));
    if (scene === "remote") this.list.append(...["predicted", "extrapolated", "held"].map((source) => this.sign(source)));
  }

  /** Whether cubes of this role are drawn in this scene. */
  draws(role) {
    return LEGENDS[this.scene].some((entry) => entry.role === role) && !this.hiddenIn[this.scene].has(role);
  }

  item({ role, name, explain, line }) {
    const kind = ROLES.find((kind) => kind.role === role);
    const hidden = this.hiddenIn[this.scene];
    const button = document.createElement("button");
    button.type = "button";
    button.className = role;
    button.title = explain;
    button.append(swatch({ ...kind, line: line ?? kind.line }), ...words(name ?? kind.name, explain));
    const press = () => button.setAttribute("aria-pressed", String(!hidden.has(role)));
    press();
    button.addEventListener("click", (event) => {
      if (!hidden.delete(role)) hidden.add(role);
      press();
      this.onChange();
      if (event.detail > 0) button.blur();
    });
    const item = document.createElement("li");
    item.append(button);
    return item;
  }

  /** What an outline of another player means. */
  sign(source) {
    const item = document.createElement("li");
    item.className = "other sign";
    const meaning = { predicted: "simulated ahead, like you", extrapolated: "guessed ahead", held: "nothing more came" }[source];
    item.append(swatch(SOURCES[source]), ...words(source, meaning));
    return item;
  }
}
