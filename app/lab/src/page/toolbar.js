// The buttons below the picture and above the charts, and the form of the seed.

const COPIED_MS = 1500;

/** A button and its shortcut do the same; after a click the keys go back to the cube. */
function act(button, key, shortcuts, action) {
  button.addEventListener("click", (event) => {
    action();
    if (event.detail > 0) button.blur();
  });
  if (key) shortcuts.set(key, () => button.disabled || action());
}

export class Toolbar {
  /** `on` has what each does: help, pause, step, live, previous, next, copy and restart(seed). */
  constructor(root, { shortcuts, on }) {
    const find = (id) => root.getElementById(id);
    this.labels = { pause: find("pause-label"), copy: find("copy-label") };
    this.live = find("live");
    this.seed = find("seed");
    this.on = on;
    const buttons = [
      ["helper", null, on.help], ["pause", "p", on.pause], ["step", ".", on.step], ["live", "0", on.live],
      ["previous", "[", on.previous], ["next", "]", on.next], ["copy", "c", on.copy],
    ];
    for (const [id, key, action] of buttons) act(find(id), key, shortcuts, action);
    shortcuts.set("r", () => this.restart());
    find("run").addEventListener("submit", (event) => {
      event.preventDefault();
      document.activeElement.blur();
      this.restart();
    });
  }

  /** The run has this seed. */
  showSeed(seed) {
    if (document.activeElement !== this.seed) this.seed.value = seed;
  }

  /** Begins again with the seed that is written, as near as it can be. */
  restart() {
    const seed = Math.min(Math.max(Math.trunc(Number(this.seed.value)) || 0, 0), Number.MAX_SAFE_INTEGER);
    this.seed.value = seed;
    this.on.restart(seed);
  }

  showPaused(paused) {
    this.labels.pause.textContent = paused ? "Run" : "Pause";
  }

  showLive(live) {
    this.live.disabled = live;
  }

  /** Says for a moment that the link was copied, or not. */
  showCopied(copied) {
    this.labels.copy.textContent = copied ? "Copied" : "Copy link";
    setTimeout(() => { this.labels.copy.textContent = "Copy link"; }, COPIED_MS);
  }
}
