// When something that has failed is tried again: after pauses that grow, and not before the server wants it.

const PAUSE_MS = 1000;
const PAUSE_MAX_MS = 30_000;

export class Retry {
  constructor() {
    this.succeed();
  }

  isDue(now) {
    return now >= this.due;
  }

  /** It is tried now. Unless it succeeds it is tried again after a pause, and then after a longer one. */
  begin(now) {
    this.due = now + this.pause;
    this.pause = Math.min(2 * this.pause, PAUSE_MAX_MS);
  }

  /** It is not to be tried for so long. */
  putOff(now, ms) {
    this.due = Math.max(this.due, now + ms);
  }

  succeed() {
    [this.due, this.pause] = [0, PAUSE_MS];
  }
}
