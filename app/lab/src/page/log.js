// The latest corrections, newest first, a line each: when, how far on the screen, and why. A click opens the card.

import { causeIcon, causeKinds } from "./causes.js";
import { metres } from "./card.js";
import { element } from "./element.js";
import { LATEST } from "./history.js";

const NONE = "None yet: all that was predicted came true.";

export class Log {
  /** `open(number)` is called with the number of a correction. */
  constructor(list, open) {
    Object.assign(this, { list, open, told: undefined });
  }

  /** Lists the latest corrections in the `history` of the run, in which the own cube is `predicted` or not. More than fit. */
  show(history, predicted) {
    const latest = history.corrections.slice(-LATEST);
    const told = latest.at(-1) ?? predicted;
    if (this.told === told) return;
    this.told = told;
    const first = history.total - latest.length;
    const lines = latest.map((correction, i) => this.line(correction, first + i)).reverse();
    this.list.replaceChildren(...(lines.length ? lines : [element("li", "none", predicted ? NONE : "Nothing of yours is predicted, so nothing is wrong.")]));
  }

  line(correction, number) {
    const { time_s, shown_m, own, sentence } = correction;
    const what = own ? metres(shown_m) : `another's cube, ${metres(shown_m)}`;
    const button = element("button", "", element("span", "head", causeIcon(causeKinds(correction)[0]), ` ${time_s.toFixed(1)} s \u00b7 ${what}`), element("span", "why", sentence));
    button.type = "button";
    button.addEventListener("click", (event) => {
      this.open(number);
      if (event.detail > 0) button.blur();
    });
    return element("li", "", button);
  }
}
