// Keys that act on the page itself. Each key is taken once; letters that drive the cube are never given away.

import { isTyping } from "./input.js";

const RESERVED = new Set(["w", "a", "s", "d"]);
const FALLBACK = "-=;',/`\\";

export class Shortcuts {
  constructor() {
    this.actions = new Map();
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (isTyping(event.target, event) && event.key !== "Escape") return;
      const action = this.actions.get(event.key.toLowerCase());
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
