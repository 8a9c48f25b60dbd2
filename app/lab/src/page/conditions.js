// The second article's three conditions: a button for each, which sets the link.

const CLEAN = { jitter_ms: 0, burst_length: 1, duplicates_percent: 0, reordering_percent: 0, rate_kbps: 0, cellular: "none" };
const CONDITIONS = [
  { label: "75 ms", latency_ms: 75, loss_percent: 0, explain: "75 ms each way, and nothing is lost.", source: "R12" },
  { label: "75 ms, 25 %", latency_ms: 75, loss_percent: 25, explain: "75 ms each way, and a quarter is lost: try it with and without repeated inputs.", source: "R21" },
  { label: "250 ms, 10 %", latency_ms: 250, loss_percent: 10, explain: "250 ms each way, and a tenth is lost: try it with and without hidden corrections.", source: "R25" },
];
const SCENES = ["stepping", "physics"];

export class Conditions {
  /** `set(key, value)` sets a control; `watch(button, of)` tells what a button does when it is pointed at. */
  constructor(section, root, { watch, set }) {
    this.section = section;
    root.replaceChildren(...CONDITIONS.map(({ label, explain, source, ...link }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.title = explain;
      button.addEventListener("click", (event) => {
        for (const [key, value] of Object.entries({ ...CLEAN, ...link })) set(key, value);
        if (event.detail > 0) button.blur();
      });
      watch(button, () => ({ label, explain, source }));
      return button;
    }));
  }

  show(scene) {
    this.section.hidden = !SCENES.includes(scene);
  }
}
