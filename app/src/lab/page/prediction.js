// The one big switch: whether the own cube is predicted, and how long a key takes to be seen.

const TOLD_MS = 250;
/** In steps that can be read while they change. */
const STEP_MS = 10;
/** The scenes that it is in: those in which the own cube is one of the session's. */
export const SWITCHED = ["prediction", "remote"];

export class Prediction {
  /** `set(on)` is called when it is switched. */
  constructor(button, set) {
    Object.assign(this, { button, on: true, toldAt: -Infinity });
    this.value = button.querySelector("b");
    this.answer = button.querySelector(".answer");
    this.toggle = () => button.disabled || set(!this.on);
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
    this.button.classList.toggle("gone", !SWITCHED.includes(scene));
    this.button.disabled = !SWITCHED.includes(scene);
    this.toldAt = -Infinity;
  }

  /** Shows how long a key takes in `frame`. */
  tell(frame, now) {
    if (now - this.toldAt < TOLD_MS) return;
    this.toldAt = now;
    const round = (ms) => Math.round(ms / STEP_MS) * STEP_MS;
    const [all, way] = [frame.now.answer_ms, frame.now.rtt_ms].map(round);
    // Before there is anything to be shown nobody knows.
    const text = this.on ? "answers at once" : all <= way ? "answers when the server has" : `answers after ${all} ms: ${way} way, ${Math.max(all - way, 0)} wait`;
    if (this.answer.textContent !== text) this.answer.textContent = text;
  }
}
