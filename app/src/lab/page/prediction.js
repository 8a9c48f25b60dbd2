// The one big switch: whether the own cube is predicted, and how long a key takes to be seen.

const TOLD_MS = 250;
/** In steps that can be read while they change. */
const STEP_MS = 10;
/** Where the own cube is one of the session's. */
const SCENES = ["prediction", "remote"];

export class Prediction {
  /** `set(on)` is called when it is switched. */
  constructor(button, set) {
    Object.assign(this, { button, on: true, toldAt: -Infinity });
    this.value = button.querySelector("b");
    this.answer = button.querySelector(".answer");
    this.toggle = () => button.hidden || set(!this.on);
    button.addEventListener("click", (event) => {
      this.toggle();
      if (event.detail > 0) button.blur();
    });
  }

  /** Shows what is set, in the scenes that have it. */
  show({ prediction, scene }) {
    this.on = prediction;
    this.button.setAttribute("aria-checked", String(prediction));
    this.value.textContent = prediction ? "on" : "off";
    this.button.hidden = !SCENES.includes(scene);
    this.toldAt = -Infinity;
  }

  /** Shows how long a key takes in `frame`. */
  tell(frame, now) {
    if (now - this.toldAt < TOLD_MS) return;
    this.toldAt = now;
    const ms = Math.round(frame.now.answer_ms / STEP_MS) * STEP_MS;
    const text = this.on ? "answers at once" : `answers after ${ms} ms`;
    if (this.answer.textContent !== text) this.answer.textContent = text;
  }
}
