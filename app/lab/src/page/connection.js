// The one WebSocket to the program: it opens, retries for ever and calmly, and pairs each request for frames with its
// answer, of which at most one is outstanding.
import { openSocket } from "./socket.js";

const RETRY_MS = [250, 500, 1000, 2000];
/** A request that was answered by an error, or never, is given up after this. */
const PATIENCE_MS = 3000;

export class Connection {
  /** `on` holds greeted(ready), lost(retryMs), and one handler for each type of message. */
  constructor(on) {
    this.on = on;
    this.socket = null;
    this.attempts = 0;
    this.asked = null;
    this.greeted = false;
    this.started = false;
    /** Whether a start waits for its answer. */
    this.waiting = false;
    /** Round trip of a request for frames, smoothed, in ms; null until measured. */
    this.roundTripMs = null;
  }

  open() {
    this.socket = openSocket((data) => {
      this.attempts = 0;
      this.receive(JSON.parse(data));
    });
    this.socket.addEventListener("close", () => this.retry());
  }

  retry() {
    const delay = RETRY_MS[Math.min(this.attempts, RETRY_MS.length - 1)];
    this.attempts += 1;
    this.asked = null;
    this.greeted = false;
    this.started = false;
    this.waiting = false;
    this.roundTripMs = null;
    this.on.lost(delay);
    setTimeout(() => this.open(), delay);
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** Starts a run; one without a link with the `faults` of the run so far, if asked to. Frames that were asked for before belong to the old one and are dropped when they come. */
  start(seed, settings, link, faults = false) {
    this.started = false;
    this.waiting = this.send({ type: "start", seed, settings, link, faults });
  }

  /** Whether a request for frames would be sent now. */
  get idle() {
    return this.started && (this.asked === null || performance.now() - this.asked > PATIENCE_MS);
  }

  /** Asks for so many frames with these keys of the first player, and of the second. */
  frames(count, { keys, second }) {
    if (!this.idle || !this.send({ type: "frames", count, keys, second })) return false;
    this.asked = performance.now();
    return true;
  }

  receive(message) {
    switch (message.type) {
      case "ready":
        this.started = true;
        this.waiting = false;
        this.asked = null;
        // The first one greets: a run that nobody asked for stands ready.
        if (!this.greeted) {
          this.greeted = true;
          return this.on.greeted(message);
        }
        break;
      case "frames": {
        if (!this.started) return;
        const ms = performance.now() - this.asked;
        this.roundTripMs = this.roundTripMs === null ? ms : this.roundTripMs + 0.05 * (ms - this.roundTripMs);
        this.asked = null;
        break;
      }
    }
    this.on[message.type]?.(message);
  }
}
