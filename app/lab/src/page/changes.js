// Changes of controls on their way to the program: of each control only the newest, and no more often than frames are
// asked for, so that a dragged slider does not flood a run.

const WHILE_PAUSED_MS = 150;

export class Changes {
  constructor(send) {
    this.send = send;
    this.waiting = new Map();
    this.timer = null;
  }

  put(key, value) {
    this.waiting.set(key, value);
    this.timer ??= setTimeout(() => this.flush(), WHILE_PAUSED_MS);
  }

  /** Sends what waits; called before each request for frames. */
  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    for (const [key, value] of this.waiting) this.send(key, value);
    this.waiting.clear();
  }
}
