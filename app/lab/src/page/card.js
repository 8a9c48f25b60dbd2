// The card of one correction: when, what, how far, why, and the datagrams that it is about.

import { causeIcon, causeKinds } from "./causes.js";
import { element } from "./element.js";
import { packetsOf } from "./packets.js";
import { format } from "./readout.js";

const whole = new Intl.NumberFormat("en");

function state(value) {
  if (Array.isArray(value) && !value.length) return "–";
  if (Array.isArray(value)) return value.map((part) => (typeof part === "number" ? format(part, 3) : String(part))).join("  ");
  if (typeof value === "number") return format(value, 3);
  return value === null || value === undefined ? "–" : String(value);
}

/** With a capital and a full stop. */
function asSentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** A length in the unit that reads best. */
export function metres(m) {
  if (typeof m !== "number" || !Number.isFinite(m)) return "–";
  return Math.abs(m) < 1 ? `${format(m * 100, 1)} cm` : `${format(m, 2)} m`;
}

export class Card {
  constructor(root, onClose) {
    this.root = root;
    this.onClose = onClose;
    this.opened = null;
  }

  open(correction, number) {
    this.opened = correction;
    const close = element("button", "close", "×");
    close.type = "button";
    close.setAttribute("aria-label", "close (Escape)");
    close.addEventListener("click", () => this.close());
    const causes = element("ul", "causes", ...causeKinds(correction).map((kind) => element("li", "", causeIcon(kind), kind.name)));
    this.root.replaceChildren(
      element("header", "", element("h2", "", `Correction ${number + 1}`), close),
      causes,
      element("p", "sentence", asSentence(correction.sentence)),
      this.table(correction),
      element("p", "span", this.span(correction)),
      ...packetsOf(correction),
    );
    this.root.hidden = false;
    this.root.scrollTop = 0;
  }

  table({ entity, tick, field, predicted, confirmed, size, shown_m, teleport }) {
    const list = element("dl", "");
    const shown = teleport ? `${metres(shown_m)}, shown at once: too far to hide` : `${metres(shown_m)}, hidden by an offset that decays`;
    const amount = predicted.length === 0 ? "–" : field === "position" ? metres(size) : format(size, 3);
    const rows = [
      ["tick", whole.format(tick)],
      ["entity", String(entity)],
      ["field", field ?? "–"],
      ["predicted", state(predicted)],
      ["confirmed", state(confirmed)],
      ["size", amount],
      ["on screen", shown],
    ];
    for (const [term, text] of rows) list.append(element("dt", "", term), element("dd", "", text));
    return list;
  }

  span({ tick, until, time_s }) {
    const ticks = until - tick;
    return `At ${format(time_s, 2)} s the client went back to tick ${whole.format(tick)} and simulated ${whole.format(ticks)} ${ticks === 1 ? "tick" : "ticks"} again, up to ${whole.format(until)}.`;
  }

  close() {
    if (!this.opened) return;
    this.opened = null;
    this.root.hidden = true;
    this.onClose();
  }
}
