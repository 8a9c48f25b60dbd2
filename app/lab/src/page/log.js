// The latest corrections, newest first, a line each: when, how far on the screen, and why. A click opens the card.

import { causeIcon, causeKinds } from "./causes.js";
import { metres } from "./card.js";
import { element } from "./element.js";

/** More than fit. */
const LISTED = 24;
const NONE = "None yet: all that was predicted came true.";

export class Log {
  /** `open(index)` is called with the index of a correction. */
  constructor(list, open) {
    Object.assign(this, { list, open, told: undefined });
  }

  /** Lists the newest of all `corrections` of the run, in which the own cube is `predicted` or not. */
  show(corrections, predicted) {
    const told = corrections.at(-1) ?? predicted;
    if (this.told === told) return;
    this.told = told;
    const first = Math.max(0, corrections.length - LISTED);
    const lines = corrections.slice(first).map((correction, i) => this.line(correction, first + i)).reverse();
    this.list.replaceChildren(...(lines.length ? lines : [element("li", "none", predicted ? NONE : "Nothing of yours is predicted, so nothing is wrong.")]));
  }

  line(correction, index) {
    const { time_s, shown_m, own, sentence } = correction;
    const what = own ? metres(shown_m) : `another's cube, ${metres(shown_m)}`;
    const button = element("button", "", element("span", "head", causeIcon(causeKinds(correction)[0]), ` ${time_s.toFixed(1)} s \u00b7 ${what}`), element("span", "why", sentence));
    button.type = "button";
    button.addEventListener("click", (event) => {
      this.open(index);
      if (event.detail > 0) button.blur();
    });
    return element("li", "", button);
  }
}
