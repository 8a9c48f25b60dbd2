// The panel of controls, built from what the program says it has: groups of sliders, choices and toggles, each with a
// key, one sentence and its source. A control that counts in some scenes is not there in the others.

import { element } from "./element.js";
import { OF_SECOND } from "./input.js";

function decimals(step) {
  const text = String(step);
  return text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
}

/** What was not answered by then will not be. */
const ANSWERED_MS = 1000;

/** Gives the keys back to the cube after a change by mouse or touch; one by keyboard keeps its focus. */
function releaseAfterPointer(input) {
  let pointer = false;
  input.addEventListener("pointerdown", () => { pointer = true; });
  input.addEventListener("keydown", () => { pointer = false; });
  input.addEventListener("change", () => pointer && input.blur());
}

export class Controls {
  /** `on` holds set(key, value) and preset(name); `help` is the line that explains what is pointed at. */
  constructor({ root, help, shortcuts, on }) {
    Object.assign(this, { root, help, shortcuts, on });
    this.signature = null;
    this.rows = new Map();
    this.keys = [];
    this.ofScenes = [];
    this.explain(null);
  }

  /** Takes the program's `ready`: builds the panel unless it already stands. */
  ready({ controls, presets }) {
    const signature = JSON.stringify([controls.map(({ value, ...rest }) => rest), presets]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.build(controls, presets);
    }
  }

  /** Shows what is set; over what was chosen meanwhile if that was `refused`. */
  update({ settings, preset }, refused = false) {
    for (const [key, row] of this.rows) if (key in settings) row.show(settings[key], refused);
    this.turnTo(settings.scene);
    this.preset.value = preset ?? "";
    this.describePreset();
  }

  /** Shows the controls that count in this scene. */
  turnTo(scene) {
    for (const { row, scenes } of this.ofScenes) row.hidden = !scenes.includes(scene);
    for (const group of this.root.querySelectorAll(".group")) group.hidden = !group.querySelector(".row:not([hidden])");
  }

  build(controls, presets) {
    for (const { key } of this.keys) this.shortcuts.drop(key);
    this.keys = [];
    // What a second player drives with is free for controls where there is none.
    for (const key of OF_SECOND.keys) this.share(key, () => {}, OF_SECOND.scenes);
    this.rows.clear();
    this.ofScenes = [];
    // The scenes are tabs, and prediction is a switch of its own.
    const rows = controls.filter(({ key }) => key !== "scene" && key !== "prediction");
    const groups = [...new Set(rows.map(({ group }) => group))].map((name) => {
      const folded = rows.filter((control) => control.group === name && !control.in_sight);
      return element("section", "group", element("h3", "", name), ...folded.map((control) => this.row(control)));
    });
    this.all = element("details", "all", element("summary", "", "All controls"), ...groups);
    const inSight = rows.filter(({ in_sight }) => in_sight).map((control) => this.row(control));
    this.root.replaceChildren(this.presetRow(presets), ...inSight, this.all);
  }

  /** Shows all controls, or the first ones alone. */
  unfold(yes) {
    if (this.all) this.all.open = yes;
  }

  presetRow(presets) {
    this.presets = presets;
    const row = element("div", "row preset");
    const label = element("label", "name", "Preset");
    this.preset = element("select");
    this.preset.id = "preset";
    label.htmlFor = "preset";
    const custom = new Option("custom", "");
    custom.disabled = true;
    this.preset.append(...presets.map(({ name }) => new Option(name, name)), custom);
    this.preset.addEventListener("change", () => this.on.preset(this.preset.value));
    releaseAfterPointer(this.preset);
    this.presetText = element("p", "explain");
    this.presetText.id = "preset-explain";
    this.preset.setAttribute("aria-describedby", this.presetText.id);
    row.append(this.key("preset", () => this.preset.focus(), this.preset), label, this.preset, this.presetText);
    this.watch(row, () => ({ label: "Preset", explain: this.presetText.textContent, source: "" }));
    return row;
  }

  describePreset() {
    const found = this.presets.find(({ name }) => name === this.preset.value);
    this.presetText.textContent = found ? found.explain : "Your own settings.";
  }

  /** The chip that names the shortcut of `label`, which does `action` in these scenes, or in all. Controls that are never
   *  there together share a key. */
  key(label, action, input, scenes = null) {
    const apart = ({ users }) => scenes && users.every((user) => user.scenes && !user.scenes.some((scene) => scenes.includes(scene)));
    const shared = this.keys.filter(apart);
    let taken = shared.find(({ key }) => label.toLowerCase().includes(key)) ?? shared[0];
    if (taken) taken.users.push({ action, scenes });
    else taken = this.share(this.shortcuts.take(label), action, scenes);
    if (taken.key) input.setAttribute("aria-keyshortcuts", taken.key.toUpperCase());
    return element("kbd", "", taken.key ? taken.key.toUpperCase() : "");
  }

  /** A key that others may share, in other scenes. */
  share(key, action, scenes) {
    const shared = { key, users: [{ action, scenes }] };
    if (key) {
      this.shortcuts.set(key, (event) => shared.users.forEach((user) => user.action(event)));
      this.keys.push(shared);
    }
    return shared;
  }

  row(control) {
    const row = element("div", `row ${control.kind}`);
    const id = `control-${control.key}`;
    const label = element("label", "name", control.label);
    label.htmlFor = id;
    const explain = element("p", "explain", `${control.explain} `);
    explain.id = `${id}-explain`;
    explain.append(element("cite", "", control.source));
    const made = { slider: slider, choice: choice, toggle: toggle }[control.kind](control, (value) => this.on.set(control.key, value));
    made.input.id = id;
    made.input.setAttribute("aria-describedby", explain.id);
    releaseAfterPointer(made.input);
    const act = (event) => row.hidden || made.act(event);
    row.append(this.key(control.label, act, made.input, control.scenes), label, ...made.parts, explain);
    this.rows.set(control.key, made);
    this.ofScenes.push({ row, scenes: control.scenes });
    this.watch(row, () => control);
    return row;
  }

  watch(row, of) {
    row.addEventListener("pointerenter", () => this.explain(of()));
    row.addEventListener("pointerleave", () => this.explain(null));
    row.addEventListener("focusin", () => this.explain(of()));
    row.addEventListener("focusout", () => this.explain(null));
  }

  explain(control) {
    if (!control) {
      this.help.textContent = "Point at a control to read what it does.";
      return;
    }
    this.help.replaceChildren(element("b", "", control.label), ` ${control.explain} `, element("cite", "", control.source));
  }
}

function slider({ min, max, step, unit }, set) {
  const input = element("input");
  Object.assign(input, { type: "range", min, max, step });
  const value = element("output", "value");
  const places = decimals(step);
  const write = (number) => {
    value.textContent = unit ? `${Number(number).toFixed(places)} ${unit}` : Number(number).toFixed(places);
    input.style.setProperty("--part", String((number - min) / (max - min || 1)));
  };
  let dragged = false;
  input.addEventListener("pointerdown", () => { dragged = true; });
  for (const name of ["pointerup", "pointercancel", "blur"]) input.addEventListener(name, () => { dragged = false; });
  // What was chosen and is not answered yet: the answer to a step before it must not undo it.
  let chosen = null;
  input.addEventListener("input", () => {
    chosen = { number: Number(input.value), at: performance.now() };
    write(input.value);
    set(chosen.number);
  });
  const show = (number, refused) => {
    const isAwaited = dragged || (chosen && chosen.number !== number && performance.now() - chosen.at < ANSWERED_MS);
    if (isAwaited && !refused) return;
    chosen = null;
    input.value = number;
    write(number);
  };
  return { input, parts: [input, value], show, act: () => input.focus() };
}

function choice({ choices }, set) {
  const input = element("select");
  input.append(...choices.map(({ label }, index) => new Option(label, String(index))));
  input.addEventListener("change", () => set(choices[Number(input.value)].value));
  const show = (value) => { input.value = String(choices.findIndex((one) => one.value === value)); };
  const act = (event) => {
    const from = Number(input.value) + (event.shiftKey ? choices.length - 1 : 1);
    input.value = String(from % choices.length);
    input.focus();
    set(choices[Number(input.value)].value);
  };
  return { input, parts: [input], show, act };
}

function toggle(_, set) {
  const input = element("input");
  input.type = "checkbox";
  input.setAttribute("role", "switch");
  const value = element("output", "value");
  const write = () => { value.textContent = input.checked ? "on" : "off"; };
  input.addEventListener("change", () => {
    write();
    set(input.checked);
  });
  const show = (checked) => {
    input.checked = checked;
    write();
  };
  const act = () => {
    input.focus();
    input.click();
  };
  return { input, parts: [input, value], show, act };
}
