// The scenes of lanes: a grid of pictures, each with its name, its figures and what happened in it. A lane can be shown
// alone or switched off; the charts get a curve for each lane that is on.

import { BENCHES } from "./benches.js";
import { Bodies } from "./bodies.js";
import { CrowdPicture } from "./crowd.js";
import { DuelPicture } from "./duel.js";
import { element } from "./element.js";
import { Meaning } from "./meaning.js";
import { Picture } from "./picture.js";
import { PilePicture } from "./pile.js";
import { format } from "./readout.js";
import { Shots } from "./shots.js";
import { Steps } from "./steps.js";
import { colours, fitCanvas } from "./theme.js";
import { dashOf, sample, toneOf } from "./tones.js";

const COMPACT = matchMedia("(max-width: 1199px)");
/** What of a card is not its picture, in CSS pixels: its header, and each line of figures. */
const CARD_REST = 30;
const FIGURES_LINE = 17;
/** Which way a figure is better: a sign, and in words. */
const BETTER = { less: ["↓", "lower is better"], more: ["↑", "higher is better"] };
/** For how long a sentence stays, in frames. */
const SAID_FRAMES = 300;

export class Lanes {
  /** `watch(element, lane)` explains what is pointed at; `changed()` is called when another lane is shown or charted. */
  constructor(root, { legend, watch, changed }) {
    Object.assign(this, { root, legend, watch, changed, bench: null, cards: [], signature: "", bodies: new Bodies() });
    this.grid = element("div", "grid");
    this.rest = element("p", "rest");
    /** What stands beside the lanes, or null. */
    this.beside = null;
    const line = element("p", "meaning");
    this.meaning = new Meaning(line);
    root.append(this.grid, this.rest, line);
    /** The names of those that are switched off, and of the one that is shown alone. */
    this.off = new Set();
    this.alone = null;
    /** The name of the one that is pointed at. */
    this.pointed = null;
    new ResizeObserver(() => {
      this.arrange();
      this.changed();
    }).observe(root);
  }

  /** Turns to a scene; whether it is one of lanes. */
  turnTo(scene) {
    this.bench = BENCHES[scene] ?? null;
    this.signature = "";
    this.names = "";
    this.beside = this.besideOf();
    this.alone = null;
    this.pointed = null;
    this.off.clear();
    this.empty();
    this.grid.replaceChildren();
    this.rest.replaceChildren();
    this.meaning.rest(this.hint());
    this.root.hidden = !this.bench;
    this.root.dataset.scene = scene;
    return this.bench !== null;
  }

  /** What the scene lists beside its lanes. */
  besideOf() {
    const { steps, shots } = this.bench ?? {};
    if (shots) return new Shots(shots, { meaning: this.meaning, changed: () => this.changed() });
    return steps ? new Steps(steps) : null;
  }

  /** What the line below the lanes says until a figure is asked about. */
  hint() {
    if (!this.bench) return "";
    const higher = Object.values(this.bench.figures).some(([better]) => better === "more") ? ", ↑ higher is" : "";
    const best = this.bench.compared ? ", ★ best of those shown" : "";
    return `↓ lower is better${higher}${best}. Point at a figure, or tap it, to read what it means.`;
  }

  /** Lets go of all cards. */
  empty() {
    for (const { picture } of this.cards) picture.dispose?.();
    this.cards = [];
  }

  /** Forgets the run that was: another one begins. */
  clear() {
    this.bodies.clear();
  }

  /** The first frame is dropped, and `next` is the first one then. */
  drop(first, next) {
    this.bodies.follow(first, next);
  }

  /** Takes over which lanes and questions a frame has; whether they are others than before. */
  take(frame) {
    const { lanes, questions } = frame;
    if (lanes) this.bodies.take(frame);
    if (!lanes || !this.bench) return false;
    const signature = JSON.stringify([lanes.lanes.map(({ name, figures }) => [name, figures.map(({ label }) => label)]), questions]);
    if (signature === this.signature) return false;
    this.signature = signature;
    this.questions = questions;
    this.empty();
    this.cards = lanes.lanes.map((lane, index) => this.card(lane, index));
    const names = this.cards.map(({ name }) => name);
    if (names.join() !== this.names) {
      this.names = names.join();
      this.off = new Set(names.slice(this.bench.first ?? names.length));
    }
    if (!names.includes(this.alone)) this.alone = null;
    this.meaning.rest(this.hint());
    this.grid.replaceChildren(...this.cards.map(({ root }) => root), ...(this.beside ? [this.beside.root] : []));
    this.arrange();
    return true;
  }

  card(lane, index) {
    const { name, explain } = lane;
    const canvas = element("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${name}: ${this.bench.picture}`);
    const swatch = element("canvas", "sample");
    const enlarge = button("enlarge", `show ${name} alone`, "⤢", () => this.show(this.alone === name ? null : name));
    const off = button("off", `switch ${name} off`, "×", () => this.toggle(name));
    const figures = element("dl", "figures");
    const said = element("p", "said");
    const header = element("header", "", element("b", "", String(index + 1)), swatch, element("h3", "", name), enlarge, off);
    const body = element("div", "body", element("div", "view", canvas, said), figures);
    const root = element("article", "lane", header, element("p", "explain", explain), body);
    root.setAttribute("aria-label", name);
    root.addEventListener("pointerenter", () => this.point(name));
    root.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", () => this.show(this.alone === name ? null : name));
    this.watch(root, { label: name, explain, source: "" });
    return { name, index, root, swatch, enlarge, said, picture: this.picture(canvas), values: this.values(figures, lane.figures, index === 0) };
  }

  picture(canvas) {
    const { bench, legend, bodies } = this;
    if (bench.shots) return new DuelPicture(canvas, bench, legend, () => this.beside.pointed);
    if (bench.bodies) return new PilePicture(canvas, { legend, bodies });
    return bench.crowd ? new CrowdPicture(canvas, legend) : new Picture(canvas, bench, legend);
  }

  /** Tab stops at the figures of the first lane alone: the others' are the same ones. */
  values(list, figures, stop) {
    return figures.map(({ label, unit }) => {
      const [better, explain] = this.bench.figures[label] ?? [null, ""];
      const [sign, words] = BETTER[better] ?? ["", ""];
      const way = element("span", "", sign && ` ${sign}`);
      if (words) way.setAttribute("aria-label", words);
      const value = document.createTextNode("–");
      const box = element("div", "", element("dt", "", label, way), element("dd", "", value, element("span", "", ` ${unit}`)));
      this.meaning.of(box, label, `${explain}.${words ? ` ${words[0].toUpperCase()}${words.slice(1)}.` : ""}`, stop);
      list.append(box);
      return { box, value, better };
    });
  }

  /** Marks the best figure of each row of those lanes that are shown, where they are compared; equal ones all. */
  markBest(shown) {
    if (!this.bench.compared || !shown.length) return;
    shown[0].values.forEach(({ better }, i) => {
      // What is early is not better than what is in time.
      const numbers = shown.map(({ values }) => Math.abs(Number(values[i]?.value.data.replace("\u2212", "-"))));
      const known = numbers.filter(Number.isFinite);
      const best = !better || known.length < 2 ? null : better === "less" ? Math.min(...known) : Math.max(...known);
      const all = known.every((number) => number === best);
      shown.forEach(({ values }, lane) => values[i]?.box.classList.toggle("best", !all && numbers[lane] === best));
    });
  }

  /** Shows one lane alone, or all again. */
  show(name) {
    this.alone = name;
    if (name) this.off.delete(name);
    this.arrange();
    this.changed();
  }

  toggle(name) {
    if (this.alone === name) this.alone = null;
    else if (!this.off.delete(name)) this.off.add(name);
    this.arrange();
    this.changed();
  }

  point(name) {
    this.pointed = name;
    this.changed();
  }

  isShown(name) {
    return this.alone ? this.alone === name : !this.off.has(name);
  }

  /** Lays out what is shown: as many columns as give the largest pictures; a chip for each lane that is not. */
  arrange() {
    if (!this.bench) return;
    for (const { name, root, enlarge } of this.cards) {
      root.hidden = !this.isShown(name);
      root.classList.toggle("alone", this.alone === name);
      enlarge.textContent = this.alone === name ? "⤡" : "⤢";
      enlarge.setAttribute("aria-pressed", String(this.alone === name));
    }
    const hidden = this.cards.filter(({ name }) => !this.isShown(name));
    const chip = ({ name, index }) => button("chip", `show ${name}`, `${index + 1} ${name}`, () => (this.alone ? this.show(name) : this.toggle(name)));
    this.rest.replaceChildren(this.alone ? "Show instead:" : "Switch on:", ...hidden.map(chip));
    this.rest.hidden = hidden.length === 0;
    const lanes = this.cards.length - hidden.length;
    const columns = COMPACT.matches ? Math.min(lanes, this.bench.bodies ? 1 : 2) || 1 : this.columns(lanes + (this.beside ? 1 : 0));
    this.grid.style.setProperty("--columns", String(columns));
    this.grid.style.setProperty("--lanes", String(lanes || 1));
    this.grid.style.setProperty("--across", String(this.across(this.grid.clientWidth / columns)));
    // In one that is left over there is no gap beside it.
    const last = this.cards.findLast(({ name }) => this.isShown(name));
    for (const { root } of this.cards) root.classList.toggle("last", columns === 2 && lanes % 2 === 1 && root === last?.root);
    this.paintSamples();
  }

  /** How many figures stand in a line of a lane so wide: as many in each line, as far as it goes. */
  across(width) {
    const count = this.cards[0]?.values.length || 1;
    const most = Math.max(1, Math.floor((width - 4) / this.bench.figure_px));
    return Math.ceil(count / Math.ceil(count / most));
  }

  columns(count) {
    const { width, height } = this.grid.getBoundingClientRect();
    let [best, largest] = [1, -Infinity];
    for (let columns = 1; columns <= count; columns += 1) {
      const lines = Math.ceil((this.cards[0]?.values.length ?? 0) / this.across(width / columns));
      const size = Math.min(width / columns, 1.4 * (height / Math.ceil(count / columns) - CARD_REST - FIGURES_LINE * lines));
      if (size > largest + 1) [best, largest] = [columns, size];
    }
    return best;
  }

  /** After a change of the theme too. */
  paintSamples() {
    for (const { index, swatch } of this.cards) {
      const { width, height } = fitCanvas(swatch);
      const c = swatch.getContext("2d");
      c.clearRect(0, 0, width, height);
      sample(c, index, 0, height / 2, width);
    }
  }

  draw(frames, at) {
    const frame = frames[at];
    if (!this.bench || !frame?.lanes) return;
    this.root.dataset.holder = frame.lanes.holder ?? "";
    this.beside?.draw(frames, at);
    const said = this.bench.steps ? new Map() : this.said(frames, at);
    for (const card of this.cards) {
      const lane = frame.lanes.lanes.find(({ name }) => name === card.name);
      if (card.root.hidden || !lane) continue;
      card.picture.draw(frames, at, card.name, colours[toneOf(card.index)]);
      lane.figures.forEach(({ value, digits }, i) => { if (card.values[i]) card.values[i].value.data = format(value, digits); });
      this.showShares(card, lane);
      const text = (said.get(card.name) ?? []).slice(-(this.bench.said ?? 2)).join("\n");
      if (card.said.textContent !== text) card.said.textContent = text;
    }
    this.markBest(this.cards.filter(({ root }) => !root.hidden));
  }

  /** A bar behind each figure that is a part of another one. */
  showShares(card, { figures }) {
    const at = figures.findIndex(({ label }) => label === this.bench.whole);
    if (at < 0) return;
    figures.slice(at + 1).forEach(({ value }, i) => card.values[at + 1 + i].box.style.setProperty("--share", (value / (figures[at].value || 1)).toFixed(3)));
  }

  /** What happened lately in each lane, oldest first. */
  said(frames, at) {
    const said = new Map();
    for (let i = Math.max(0, at - SAID_FRAMES); i <= at; i += 1) {
      const { lanes, time_s, scene } = frames[i];
      if (scene !== frames[at].scene) continue;
      for (const [number, sentence] of lanes?.steps ?? []) {
        const name = lanes.lanes[number]?.name;
        said.set(name, [...(said.get(name) ?? []), `${time_s.toFixed(1)} s: ${sentence}`]);
      }
    }
    return said;
  }

  /** The rows of the charts: a question each, with a curve for each lane that is on. */
  rows() {
    const shown = this.cards.filter(({ name }) => !this.off.has(name) || this.alone === name);
    const { feet = [], every, curves } = this.bench;
    if (curves) return this.namedRows(curves);
    return this.questions.map(({ question, unit, digits }, at) => ({
      question, unit, factor: 1, least: feet[at] ? 100 * feet[at] : 10 ** (1 - digits), decimals: digits, log: feet[at], every, lanes: true,
      curves: shown.map(({ name, index }) => [`${name}/${at}`, String(index + 1), toneOf(index), dashOf(index)]),
    }));
  }

  /** The same of one lane that has several curves to a question, each with its own name. */
  namedRows(curves) {
    const { name } = this.cards[0];
    let column = 0;
    return this.questions.map(({ question, unit, digits }, at) => ({
      question, unit, factor: 1, least: 10 ** (1 - digits), decimals: digits, lanes: true, named: true,
      curves: curves[at].map((look) => [`${name}/${column++}`, ...look]),
    }));
  }

  /** The name of the lane whose curves stand out, or null. */
  get foremost() {
    return this.pointed ?? this.alone;
  }
}

function button(kind, label, text, act) {
  const made = element("button", kind, text);
  made.type = "button";
  made.setAttribute("aria-label", label);
  made.title = label;
  made.addEventListener("click", (event) => {
    act();
    if (event.detail > 0) made.blur();
  });
  return made;
}
