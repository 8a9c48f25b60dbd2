// The tour: six steps, each a run of its own that shows one thing. A step sets the controls, says what to look at, marks it in
// the picture, and lets happen what it is about. It can be left at any time and taken up by its number, also in the address.

import { element } from "./element.js";

/** With what one drives. */
const KEYS = matchMedia("(pointer: coarse)").matches ? "stick" : "arrow keys";
const ABOUT = {
  title: "Drive a cube over a bad network, and see what the netcode hides.",
  text: `Your client simulates it at once, and the server, 150 ms away, has the last word. Take over from the script with the ${KEYS}, then switch prediction off and feel the difference.`,
};
const LOST = "own input late or substituted";

const cube = (frame, role, id) => frame.cubes.find((cube) => cube.role === role && (id === undefined || cube.id === id));
const ms = (value) => `${Math.round(value / 10) * 10} ms`;
const centimetres = (m) => `${Math.round(m * 100)} cm`;

/** `settings` lie over the default ones; `open` may be changed by who looks without leaving the step; `mark(frame)` is what the
 *  arena points at, `outline` what of the page; `event` happens at `first_s` of the run and then `every_s`, until `opens`, if
 *  there is such a cause, has led to a correction, whose card is opened then. */
const STEPS = [
  {
    title: "Without prediction",
    text: `Prediction is off: every key travels to the server, and your cube (blue) moves when the answer is back. Drive by the ${KEYS} and feel the wait: green is where your fingers want it.`,
    settings: { prediction: false, other_player: false },
    outline: "#prediction",
    mark: (frame) => ({ from: cube(frame, "local"), to: cube(frame, "client"), text: frame.now.answer_ms ? `blue answers ${ms(frame.now.answer_ms)} late` : "blue answers at once" }),
  },
  {
    title: "With prediction",
    text: "Prediction is on: your client simulates your keys at once, so blue lies on green. The server (red) gets there later, and confirms tick by tick that it is the same place.",
    settings: { other_player: false },
    outline: "#prediction",
    mark: (frame) => ({ from: cube(frame, "client"), to: cube(frame, "server"), text: "the server is still here" }),
  },
  {
    title: "A lost input",
    text: "For a moment nothing that you send arrives, so the server repeats your last keys and goes elsewhere. Your client is told, goes back to that tick, simulates again, and hides the jump: the card says which input it was.",
    settings: { other_player: false, loss_percent: 0 },
    event: { name: "hiccup", first_s: 1.5, every_s: 2.5, opens: LOST },
    outline: "#card",
    mark: (frame) => (frame.now.correction_m > 0.02 ? { from: cube(frame, "client"), text: `corrected: ${centimetres(frame.now.correction_m)} still hidden` } : null),
  },
  {
    title: "A push by the server",
    text: "Every few seconds the server pushes your cube, which no client can foresee. Blue learns of it one way later, and glides to where red is by then, in place of a jump.",
    settings: { other_player: false, loss_percent: 0 },
    event: { name: "impulse", first_s: 1.5, every_s: 3.5 },
    outline: '[data-event="impulse"]',
    mark: (frame) => (frame.now.correction_m > 0.02
      ? { from: cube(frame, "client"), text: `corrected: ${centimetres(frame.now.correction_m)} still hidden` }
      : { from: cube(frame, "server"), text: "the server may push" }),
  },
  {
    title: "The others",
    text: "Nobody can foresee another player's keys, so others are shown in the past, on a curve between two snapshots that have come. A line leads from each to where they are by now: choose another curve in the controls and compare.",
    settings: { scene: "remote" },
    open: ["curve", "others"],
    outline: '.row:has(#control-curve)',
    mark: (frame) => {
      const [first] = frame.cubes.filter(({ role }) => role === "other");
      return first ? { from: first, to: cube(frame, "server", first.id), text: `shown ${ms(frame.now.playout_delay_ms + frame.now.rtt_ms / 2)} late` } : null;
    },
  },
  {
    title: "Physics",
    text: "All these cubes are predicted, each to the last bit: push them, they answer at once. Outlines are the server's, which come to the same places later; the figures count how many states agreed.",
    settings: { scene: "physics" },
    open: ["second_player", "field"],
    outline: ".lane .figures",
  },
];

export class Tour {
  /** `told` is where its words stand and `bar` where its numbers do; `on` holds start(settings), happen(event) and left(). */
  constructor({ told, bar, on }) {
    Object.assign(this, { told, bar, on, step: null, nth: null, outlined: null });
    this.numbers = STEPS.map(({ title }, i) => act(element("button", "", String(i + 1)), title, () => this.open(i + 1)));
    bar.append(element("span", "", "Tour"), ...this.numbers);
    this.say();
  }

  /** The number in a fragment of the address, or null. */
  static of(fragment) {
    const [, number] = /^tour=([1-9]\d*)$/.exec(fragment) ?? [];
    return number && number <= STEPS.length ? Number(number) : null;
  }

  /** What of the address leads here, or null. */
  get fragment() {
    return this.nth === null ? null : `tour=${this.nth}`;
  }

  open(nth) {
    Object.assign(this, { nth, step: STEPS[nth - 1], due_s: null, found: false });
    this.say();
    this.on.start(this.step.settings);
  }

  /** Leaves it, unless `key` is a control that belongs to the step. */
  leave(key = null) {
    if (!this.step || (key && ["prediction", ...(this.step.open ?? [])].includes(key))) return;
    Object.assign(this, { nth: null, step: null });
    this.say();
    this.on.left();
  }

  say() {
    const { title, text } = this.step ?? ABOUT;
    const move = (by) => act(element("button", "", by > 0 ? "Next \u25b8" : "\u25c2 Back"), by > 0 ? "next step" : "step before", () => this.open(this.nth + by));
    const moves = !this.step
      ? [act(element("button", "go", "Take the tour \u25b8"), "the first of six steps", () => this.open(1))]
      : [...(this.nth > 1 ? [move(-1)] : []), ...(this.nth < STEPS.length ? [move(1)] : []), act(element("button", "", "Leave"), "leave the tour", () => this.leave())];
    const heading = this.step ? `${this.nth} of ${STEPS.length}: ${title}` : title;
    document.body.classList.toggle("touring", this.step !== null);
    this.told.replaceChildren(element("p", "", element("b", "", heading), ` ${text}`), element("div", "moves", ...moves));
    this.numbers.forEach((button, i) => button.setAttribute("aria-pressed", String(this.nth === i + 1)));
  }

  /** Lets happen what is due in `frame`. */
  take(frame) {
    const { event } = this.step ?? {};
    if (!event || this.found) return;
    this.due_s ??= frame.time_s + event.first_s;
    if (frame.time_s < this.due_s || frame.state !== "playing") return;
    this.due_s = frame.time_s + event.every_s;
    this.on.happen(event.name);
  }

  /** The index of the first correction that the step is about, among those of the run; once, else null. */
  finds(corrections) {
    const { event } = this.step ?? {};
    if (!event?.opens || this.found) return null;
    const found = corrections.findIndex(({ own, causes }) => own && causes.includes(event.opens));
    this.found = found >= 0;
    return this.found ? found : null;
  }

  /** What is to be pointed at in the arena, or null; outlines what there is of the page. */
  pointer(frame) {
    const outlined = this.step ? document.querySelector(this.step.outline) : null;
    if (outlined !== this.outlined) {
      this.outlined?.classList.remove("pointed");
      outlined?.classList.add("pointed");
      this.outlined = outlined;
    }
    return this.step?.mark?.(frame) ?? null;
  }
}

/** A button that says by `label` what it does. */
function act(button, label, action) {
  button.type = "button";
  button.title = label;
  button.setAttribute("aria-label", `${button.textContent}: ${label}`);
  button.addEventListener("click", (event) => {
    action();
    if (event.detail > 0) button.blur();
  });
  return button;
}
