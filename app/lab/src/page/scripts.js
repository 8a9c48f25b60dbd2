// The scripts: a button for each that the program has, with a key of its own.

/** Their keys; another one has a letter of its name, if that drives nobody. */
const KEYS = { spike: "5", blackout: "6", bursts: "7", server: "8", sleep: "9", slow_link: "q" };
/** Those that lie over the link alone, and so over the links of lanes too. */
const OF_LINKS = ["spike", "blackout", "bursts", "hiccup", "slow_link"];

export class Scripts {
  /** `run(name)` starts one; `watch(button, script)` tells what it does when it is pointed at. */
  constructor(root, { shortcuts, watch, run }) {
    Object.assign(this, { root, shortcuts, watch, run });
  }

  ready(scripts) {
    if (this.root.children.length === scripts.length) return;
    this.root.replaceChildren(...scripts.map((script) => this.button(script, KEYS[script.name] ?? this.shortcuts.take(script.label))));
  }

  /** Those that do something in a scene: of lanes, or of the session. */
  show(lanes) {
    for (const button of this.root.querySelectorAll("button")) {
      button.hidden = lanes && !OF_LINKS.includes(button.dataset.script);
      if (!button.hidden) this.claim(button);
    }
  }

  button(script, key) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.script = script.name;
    button.title = script.explain;
    button.setAttribute("aria-keyshortcuts", key.toUpperCase());
    const chip = document.createElement("kbd");
    chip.textContent = key.toUpperCase();
    button.append(`${script.label} `, chip);
    button.addEventListener("click", (event) => {
      this.run(script.name);
      if (event.detail > 0) button.blur();
    });
    this.watch(button, script);
    this.claim(button);
    return button;
  }

  /** Its key; one that is hidden may have left it to an event. */
  claim(button) {
    this.shortcuts.set(button.getAttribute("aria-keyshortcuts").toLowerCase(), () => button.hidden || this.run(button.dataset.script));
  }
}
