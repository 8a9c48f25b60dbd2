// The one line that says what a figure means: of the one that is pointed at, tapped, or reached by the keyboard.

import { element } from "./element.js";

export class Meaning {
  constructor(line) {
    Object.assign(this, { line, hint: "", kept: null });
  }

  /** What it says of its own accord; it forgets which figure it was about. */
  rest(hint) {
    this.hint = hint;
    this.kept = null;
    this.say(null);
  }

  /** Lets `box` tell what its figure means; `stop` says whether Tab stops there too. */
  of(box, name, text, stop = true) {
    const about = { name, text };
    const keep = (kept) => {
      this.kept = kept;
      this.say(kept);
    };
    box.tabIndex = stop ? 0 : -1;
    box.addEventListener("focus", () => keep(about));
    box.addEventListener("blur", () => keep(null));
    box.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.say(about));
    box.addEventListener("pointerleave", () => this.say(this.kept));
  }

  say(about) {
    this.line.replaceChildren(...(about ? [element("b", "", about.name), `: ${about.text}`] : [this.hint]));
  }
}
