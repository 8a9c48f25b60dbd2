// Keys that act on the page itself. Those of the controls do so only while the help is open, which shows them: else every
// letter would do something that nobody asked for. Each is taken once; letters that drive the cube are never given away.

import { isTyping } from "./input.js";

const RESERVED = new Set(["w", "a", "s", "d"]);
const FALLBACK = "-=;',/`\\";

export class Shortcuts {
  /** `always` are the actions of keys that act whether the help is open or not. */
  constructor(always) {
    this.always = new Map(Object.entries(always));
    this.actions = new Map();
    /** Whether the help is open. */
    this.open = false;
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (isTyping(event.target, event) && event.key !== "Escape") return;
      const key = event.key.toLowerCase();
      const action = this.always.get(key) ?? (this.open ? this.actions.get(key) : null);
      if (!action) return;
      event.preventDefault();
      action(event);
    });
  }

  set(key, action) {
    this.actions.set(key, action);
  }

  /** The first free letter of `label`, else of the alphabet, else a sign; null when none is left. */
  take(label) {
    const letters = [...label.toLowerCase()].filter((c) => c >= "a" && c <= "z");
    const candidates = [...letters, ..."abcdefghijklmnopqrstuvwxyz", ...FALLBACK];
    return candidates.find((c) => !RESERVED.has(c) && !this.actions.has(c)) ?? null;
  }

  drop(key) {
    this.actions.delete(key);
  }
}
