// What happened in the lanes, a line each, listed beside them.

import { element } from "./element.js";

/** How many steps are listed. */
const STEPS = 10;

export class Steps {
  constructor(title) {
    this.list = element("ol");
    this.root = element("section", "steps", element("h3", "", title), this.list);
    this.listed = null;
  }

  /** Lists what happened up to a frame, oldest first. */
  draw(frames, at) {
    const lines = [];
    for (let i = at; i >= 0 && lines.length < STEPS; i -= 1) {
      const { lanes, time_s, scene } = frames[i];
      if (scene !== frames[at].scene) break;
      for (const [, sentence] of [...(lanes?.steps ?? [])].reverse()) lines.unshift([`${time_s.toFixed(2)} s`, sentence]);
    }
    const text = lines.flat().join();
    if (text === this.listed) return;
    this.listed = text;
    this.list.replaceChildren(...lines.slice(-STEPS).map(([time, sentence]) => element("li", "", element("b", "", time), ` ${sentence}`)));
    this.list.scrollTop = this.list.scrollHeight;
  }
}
