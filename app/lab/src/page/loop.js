// Real time in, whole frames of 1/60 s out: one per animation frame on a 60 Hz screen, more or fewer on others.

const FRAME_MS = 1000 / 60;
const MOST_FRAMES = 4;

export class Loop {
  /** `draw(now)` is called on every animation frame; `request(count)` answers whether the frames were asked for. */
  constructor({ draw, request }) {
    this.draw = draw;
    this.request = request;
    this.paused = false;
    this.last = null;
    this.owed = 0;
    this.steps = 0;
    this.intervalMs = FRAME_MS;
  }

  begin() {
    requestAnimationFrame((now) => this.turn(now));
  }

  /** How often the screen is drawn, per second, smoothed. */
  get rate() {
    return 1000 / this.intervalMs;
  }

  pause(paused) {
    this.paused = paused;
    this.owed = 0;
    this.steps = 0;
  }

  /** Runs one frame while paused. */
  step() {
    this.steps += 1;
  }

  turn(now) {
    const elapsed = this.last === null ? 0 : now - this.last;
    this.last = now;
    // Drawing first: keys are then read as late as can be, and the round trip measures the program, not this page.
    this.draw(now);
    if (elapsed > 0 && elapsed < 500) this.intervalMs += 0.05 * (elapsed - this.intervalMs);
    this.owed = this.paused ? this.steps : Math.min(this.owed + elapsed / FRAME_MS, MOST_FRAMES);
    // Rounding, not flooring: a screen of about 60 Hz then asks for exactly one frame each time, however its clock jitters.
    const count = Math.min(Math.round(this.owed), MOST_FRAMES);
    if (count > 0 && this.request(count)) {
      this.owed -= count;
      if (this.paused) this.steps -= count;
    }
    requestAnimationFrame((next) => this.turn(next));
  }
}
