// A row of buttons of which one is pressed, with a key for the next one: the scenes, and what the charts ask.

/** `choose(name)` is called when a button is used. */
export class Tabs {
  constructor(root, choose) {
    Object.assign(this, { root, choose, names: [], pressed: null });
  }

  /** Fills the row with a button for each of `choices` = [{name, label}], and a chip with the key. */
  build(choices, key) {
    const names = choices.map(({ name }) => name);
    if (names.join() === this.names.join()) return;
    this.names = names;
    this.root.replaceChildren(...choices.map(({ name, label }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.name = name;
      button.textContent = label;
      button.setAttribute("aria-keyshortcuts", key.toUpperCase());
      button.addEventListener("click", (event) => {
        this.choose(name);
        if (event.detail > 0) button.blur();
      });
      return button;
    }));
    const chip = document.createElement("kbd");
    chip.textContent = key.toUpperCase();
    this.root.append(chip);
    this.press(this.pressed);
  }

  press(name) {
    this.pressed = name;
    for (const button of this.root.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.name === name));
  }

  next() {
    if (this.names.length) this.choose(this.names[(this.names.indexOf(this.pressed) + 1) % this.names.length]);
  }
}
