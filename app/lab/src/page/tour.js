// The tour: six steps, each a run of its own that shows one thing. A step sets the controls, says what to look at, marks it in
// the picture, and lets happen what it is about. It can be left at any time and taken up by its number, also in the address.

import { element } from "./element.js";

/** With what one drives. */
const KEYS = matchMedia("(pointer: coarse)").matches ? "stick" : "arrow keys";
const ABOUT = {
  title: "Foretell is netcode for games in Rust. Drive a cube over a bad network, and see what it hides.",
  text: `Take over from the script with the ${KEYS}, then switch prediction off and feel the difference.`,
};
const LOST = "own input late or substituted";

const cube = (frame, role, id) => frame.cubes.find((cube) => cube.role === role && (id === undefined || cube.id === id));
const ms = (value) => `${Math.round(value / 10) * 10} ms`;
const centimetres = (m) => `${Math.round(m * 100)} cm`;

/** `settings` lie over the default ones; `open` may be changed by who looks without leaving the step; `mark(frame)` is what the
 *  arena points at, `outline` what of the page; `event` happens at `first_s` of the run and then `every_s`, and the
 *  card of each correction with the cause `opens` is opened. */
const STEPS = [
  {
    title: "Without prediction",
    text: `Prediction is off: a key travels to the server, its effect travels back, and on both ends they wait a little, so that jitter is not seen. Drive by the ${KEYS}: your fingers are at the green outline, your cube (blue) comes after it.`,
    settings: { prediction: false, other_player: false, loss_percent: 0 },
    outline: "#prediction",
    mark: (frame) => ({ from: cube(frame, "local"), to: cube(frame, "client"), text: `answers ${ms(frame.now.answer_ms)} late` }),
  },
  {
    title: "With prediction",
    text: "Prediction is on: your client simulates your keys at once, so blue stays within green. The server (dashed) gets there later, and confirms tick by tick that it is the same place.",
    settings: { other_player: false, loss_percent: 0 },
    outline: "#prediction",
    mark: (frame) => apart(frame, "client", "server", "the server is still here"),
  },
  {
    title: "A lost input",
    text: "For a moment nothing that you send arrives, so the server goes on with your last keys, and goes elsewhere. Your client is told, goes back to that tick, simulates again from there, and glides to the right place: the card says what was lost. It happens every few seconds.",
    settings: { other_player: false, loss_percent: 0 },
    event: { name: "hiccup", first_s: 1.5, every_s: 5, opens: LOST },
    outline: "#card",
    mark: hidden,
  },
  {
    title: "A push by the server",
    text: "Every few seconds the server pushes your cube, which no client can foresee. Yours learns of it one way later, and glides to where it would be by now had it known, in place of a jump.",
    settings: { other_player: false, loss_percent: 0 },
    event: { name: "impulse", first_s: 1.5, every_s: 5, opens: "server event" },
    outline: "#card",
    mark: hidden,
  },
  {
    title: "The others",
    text: "Nobody can foresee another player's keys, so others are shown in the past, on a curve between two snapshots that have come. A line leads from each to where they are by now: choose another curve in the controls and compare.",
    settings: { scene: "remote" },
    open: ["curve", "others"],
    outline: ".row:has(#control-curve)",
    mark: (frame) => {
      const [first] = frame.cubes.filter(({ role }) => role === "other");
      return first ? { from: first, to: cube(frame, "server", first.id), text: `shown ${ms(frame.now.playout_delay_ms + frame.now.rtt_ms / 2)} late` } : null;
    },
  },
  {
    title: "Physics",
    text: "Whole piles can be predicted too: push these cubes, all of them answer at once. Outlines are the server's, which come to the same places later, and the figures below count how many states were the same to the last bit.",
    settings: { scene: "physics", loss_percent: 0 },
    open: ["second_player", "field"],
    outline: ".lane .figures",
  },
];

/** From one own cube to another, where they are apart. */
function apart(frame, one, other, text) {
  const [from, to] = [cube(frame, one), cube(frame, other)];
  const far = from && to && Math.hypot(...from.position.map((lane, i) => lane - to.position[i])) > 0.7;
  return far ? { from, to, text } : null;
}

/** How much of a correction is still hidden. */
function hidden(frame) {
  const { correction_m } = frame.now;
  return correction_m > 0.05 ? { from: cube(frame, "client"), text: `corrected: ${centimetres(correction_m)} still to glide` } : null;
}

export class Tour {
  /** `told` is where its words stand and `bar` where its numbers do; `on` holds start(settings), beginning(), which is how the run
   *  began, resume(beginning), happen(event) and left(). */
  constructor({ told, bar, on }) {
    Object.assign(this, { told, bar, on, step: null, nth: null, before: null, switched: true, outlined: null });
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
    this.before ??= this.on.beginning();
    Object.assign(this, { nth, step: STEPS[nth - 1], due_s: null, found: -1 });
    this.say();
    this.on.start(this.step.settings);
  }

  /** Leaves it for a run as it was before. */
  end() {
    const { before } = this;
    this.leave();
    this.on.resume(before);
  }

  /** Leaves it as it is, unless `key` is a control that belongs to the step. */
  leave(key = null) {
    if (!this.step || (key && ["prediction", ...(this.step.open ?? [])].includes(key))) return;
    Object.assign(this, { nth: null, step: null, before: null });
    this.say();
    this.on.left();
  }

  /** Outside of the tour it tells of the switch, where it is `there`. */
  offer(there) {
    if (there === this.switched) return;
    this.switched = there;
    if (!this.step) this.say();
  }

  say() {
    const { title, text } = this.step ?? { ...ABOUT, ...(this.switched ? null : { text: "" }) };
    const heading = this.step ? `${this.nth} of ${STEPS.length}: ${title}.` : title;
    // Who goes by the keyboard goes on from here.
    const byKeys = this.told.querySelector(":focus-visible") !== null;
    document.body.classList.toggle("touring", this.step !== null);
    this.told.replaceChildren(element("p", "", element("b", "", heading), ` ${text}`), element("div", "moves", ...this.moves()));
    if (byKeys) this.told.querySelector(".go").focus();
    this.numbers.forEach((button, i) => button.setAttribute("aria-pressed", String(this.nth === i + 1)));
  }

  /** The buttons that lead on, of which one is the way to go. */
  moves() {
    const to = (nth, kind, words, what) => act(element("button", kind, words), what, () => this.open(nth));
    if (!this.step) return [to(1, "go", "Take the tour \u25b8", "the first of six steps")];
    const last = this.nth === STEPS.length;
    const end = act(element("button", last ? "go" : "", last ? "Done: play" : "Leave"), "leave the tour", () => this.end());
    const back = this.nth > 1 ? [to(this.nth - 1, "", "\u25c2 Back", "step before")] : [];
    const next = last ? [] : [to(this.nth + 1, "go", "Next \u25b8", "next step")];
    return [...back, ...next, end];
  }

  /** Lets happen what is due in `frame`. */
  take(frame) {
    const { event } = this.step ?? {};
    if (!event) return;
    this.due_s ??= frame.time_s + event.first_s;
    if (frame.time_s < this.due_s || frame.state !== "playing") return;
    this.due_s = frame.time_s + event.every_s;
    this.on.happen(event.name);
  }

  /** The number of the newest correction that the step is about, in the `history` of the run, when there is another one;
   *  else null. */
  finds(history) {
    const { event } = this.step ?? {};
    if (!event) return null;
    const index = history.corrections.findLastIndex(({ own, causes }) => own && causes.includes(event.opens));
    const found = history.forgotten + index;
    if (index < 0 || found <= this.found) return null;
    this.found = found;
    return found;
  }

  /** Outlines what of the page the step is about, once it is there. */
  outline() {
    const outlined = this.step ? document.querySelector(this.step.outline) : null;
    if (outlined !== this.outlined) {
      this.outlined?.classList.remove("pointed");
      outlined?.classList.add("pointed");
      this.outlined = outlined;
    }
  }

  /** What is to be pointed at in the arena, or null. */
  pointer(frame) {
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
