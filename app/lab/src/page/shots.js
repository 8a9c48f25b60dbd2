// The shots of a duel, a card each, the newest first: by what moment the server judged it and why, how far that may be off, and as
// a stacked bar what the shooter's head start is made of.

import { element } from "./element.js";
import { metres } from "./card.js";
import { format } from "./readout.js";

/** How many cards are kept. */
const CARDS = 12;
const SIGNS = { hit: "●", spared: "○", missed: "×" };
const HEADS = {
  hit: ["You hit", "The other hit you"],
  spared: ["Your hit is taken back", "You are spared"],
  missed: ["You missed", "The other missed"],
};

/** In another session numbers begin anew. */
const nameOf = ({ number, tick }) => `${number}/${tick}`;
const short = (m) => (m < 0.01 ? `${format(m * 1000, 1)} mm` : metres(m));

/** What the rows of a card mean, and the parts of its bar, in their order. */
const MEANINGS = {
  claimed: "how long before the tick of the shot was what the shooter's client says that it showed",
  used: "how far the server went back for it",
  why: "why it did not go back as far as was claimed, if it did not",
  error: "how far from the amber outline the shooter may have been shown who was hit, by what was lost and by rounding",
  "after cover": "how long after they were safe on their own screen who was hit may have been hit",
};
const PARTS = [
  "how far apart the shooter's datagrams of inputs are: so long what is pressed may wait to be one",
  "from the shooter to the server, half a round trip",
  "how long the shooter's inputs wait at the server for their tick, so that jitter does no harm",
  "the step of the server that the input is a part of",
  "from the server to who was shot at, half a round trip",
  "how far in the past who was shot at is shown others",
];
const ms = (value) => (value === null ? "–" : `${format(value, 0)} ms`);

/** The shots that were judged up to a frame of its scene, newest first: [{shot, time_s}]. */
export function shotsUpTo(frames, at, most = CARDS) {
  const found = [];
  for (let i = at; i >= 0 && found.length < most; i -= 1) {
    const { lanes, time_s, scene } = frames[i];
    if (scene !== frames[at].scene) break;
    for (const shot of [...(lanes?.shots ?? [])].reverse()) found.push({ shot, time_s, age: at - i });
  }
  return found;
}

export class Shots {
  /** `meaning` explains what is pointed at; `changed()` is called when another card is. */
  constructor(title, { meaning, changed }) {
    Object.assign(this, { meaning, changed });
    this.list = element("div", "cards");
    this.none = element("p", "none", "Each shot gets a card here: what was claimed, by what it was judged, and why.");
    this.list.append(this.none);
    this.root = element("section", "shots", element("h3", "", title), this.list);
    /** The card of each shot, by its name. */
    this.cards = new Map();
    this.listed = "";
    /** The shot that is pointed at, or null. */
    this.pointed = null;
  }

  /** Shows the cards of what was shot up to a frame. */
  draw(frames, at) {
    const found = shotsUpTo(frames, at);
    const listed = found.map(({ shot }) => nameOf(shot)).join();
    if (listed === this.listed) return;
    this.listed = listed;
    const before = this.cards;
    this.cards = new Map(found.map((one) => [nameOf(one.shot), before.get(nameOf(one.shot)) ?? this.card(one)]));
    const cards = [...this.cards.values()];
    // The newest is open; one that was opened by hand stays so, and one that is being read.
    cards.forEach((card, i) => { if (!card.dataset.kept && !card.matches(":hover, :focus-within")) card.open = i === 0; });
    for (const [name, card] of before) if (!this.cards.has(name)) card.remove();
    // What has the focus is not moved.
    cards.toReversed().forEach((card) => { if (!card.isConnected) this.list.prepend(card); });
    this.none.hidden = cards.length > 0;
    if (this.pointed && !found.some(({ shot }) => shot === this.pointed)) this.point(null);
  }

  card({ shot, time_s }) {
    const { by, outcome, result, claimed_ms, used_ms, why, clamped, receipt } = shot;
    const head = element("summary", "", element("b", `sign ${outcome}`, SIGNS[outcome]), element("span", "shooter", HEADS[outcome][by]), element("span", "time", `${time_s.toFixed(2)} s`));
    const said = element("dl", "");
    const rows = [["claimed", `${ms(claimed_ms)} ago`], ["used", `${ms(used_ms)} ago`], ["why", why]];
    if (receipt) rows.push(["error", `at most ${short(receipt.error_m)}`], ["after cover", `at most ${ms(receipt.after_cover_ms)}`]);
    for (const [term, text] of rows) {
      const row = element("div", "", element("dt", "", term), element("dd", term === "why" && clamped ? "clamped" : "", text));
      this.meaning.of(row, term, `${MEANINGS[term]}.`, false);
      said.append(row);
    }
    const made = element("details", `shot ${outcome}`, head, element("p", "", result), said, ...(receipt ? this.sum(receipt) : []));
    made.dataset.shot = nameOf(shot);
    const point = (shot) => () => this.point(shot);
    made.addEventListener("pointerenter", point(shot));
    made.addEventListener("pointerleave", point(null));
    made.addEventListener("focusin", point(shot));
    made.addEventListener("focusout", point(null));
    head.addEventListener("click", () => { made.dataset.kept = "yes"; });
    return made;
  }

  /** The stacked bar of a receipt's sum, and its parts by name. */
  sum({ peek_ms, parts }) {
    const bar = element("div", "bar-of-parts");
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", `${ms(peek_ms)}: ${parts.map(({ name, ms: part }) => `${name} ${ms(part)}`).join(", ")}`);
    const list = element("ul", "parts");
    parts.forEach(({ name, ms: part }, i) => {
      const [piece, sign] = [element("i", `part-${i}`), element("i", `part-${i}`)];
      piece.style.flexGrow = String(part);
      const item = element("li", "", sign, element("b", "", ms(part)), ` ${name}`);
      for (const box of [piece, item]) this.meaning.of(box, name, `${PARTS[i]}.`, false);
      bar.append(piece);
      list.append(item);
    });
    return [element("h4", "", "A shooter who comes out sees first by ", element("b", "", ms(peek_ms))), bar, list];
  }

  point(shot) {
    if (shot === this.pointed) return;
    this.pointed = shot;
    this.changed();
  }
}
