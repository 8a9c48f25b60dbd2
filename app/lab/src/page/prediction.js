// The one big switch: whether the own cube is predicted, and how long a key takes to be seen.

const TOLD_MS = 250;
/** In steps that can be read while they change. */
const STEP_MS = 10;

export class Prediction {
  /** `set(on)` is called when it is switched. */
  constructor(button, set) {
    Object.assign(this, { button, on: true, scenes: [], toldAt: -Infinity });
    this.value = button.querySelector("b");
    this.answer = button.querySelector(".answer");
    this.toggle = () => button.hidden || set(!this.on);
    button.addEventListener("click", (event) => {
      this.toggle();
      if (event.detail > 0) button.blur();
    });
  }

  /** Takes over from the program in which scenes it counts. */
  ready(controls) {
    this.scenes = controls.find(({ key }) => key === "prediction").scenes;
  }

  /** Whether it counts in a scene. */
  isIn(scene) {
    return this.scenes.includes(scene);
  }

  /** Shows what is set, in the scenes that have it. */
  show({ prediction, scene }) {
    this.on = prediction;
    this.button.setAttribute("aria-checked", String(prediction));
    this.value.textContent = prediction ? "on" : "off";
    this.button.hidden = !this.isIn(scene);
    this.toldAt = -Infinity;
  }

  /** Shows how long a key takes in `frame`. */
  tell(frame, now) {
    if (now - this.toldAt < TOLD_MS) return;
    this.toldAt = now;
    const round = (ms) => Math.round(ms / STEP_MS) * STEP_MS;
    const [all, way] = [frame.now.answer_ms, frame.now.rtt_ms].map(round);
    const late = all > way ? `answers after ${all} ms: ${way} way, ${all - way} wait` : "answers when the server has";
    const text = this.on ? "answers at once" : late;
    if (this.answer.textContent !== text) this.answer.textContent = text;
  }
}
