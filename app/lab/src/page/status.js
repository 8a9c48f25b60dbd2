// What the page says about itself: one calm line over the arena, the run's clock, and how fast the page is.

/** For how long something that is told stays. */
const TOLD_MS = 6000;
const PACE_MS = 500;
const STATES = {
  joining: "The client joins: it waits for the first snapshot.",
  starved: "Starved: no snapshots come; the client predicts on.",
  behind: "Behind: a resimulation is spread over several updates.",
  resyncing: "Resyncing: the client waits for a snapshot to start again from.",
  lost: "No snapshot for 5 s; the client still listens.",
  stalled: "Your machine sleeps: it runs nothing and sends nothing.",
  left: "You have left, as the faults of this link have it.",
  refused: "The server has refused the client.",
};
/** Whether fingers drive. */
const TOUCH = matchMedia("(pointer: coarse)");
const whole = new Intl.NumberFormat("en");

export class Status {
  constructor(line, clock) {
    Object.assign(this, { line, clock, toldUntil: 0, broken: false, stood: false, paceAt: -Infinity });
    this.paceBox = document.getElementById("pace");
    this.say("Starting …");
    this.pace(60, null, 0);
  }

  say(text, grave = false) {
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.classList.toggle("grave", grave);
    this.line.classList.toggle("gone", text === "");
  }

  /** The connection is lost, and tried again in so long. */
  lost(retryMs) {
    this.broken = true;
    const seconds = retryMs < 1000 ? "in a moment" : `in ${Math.round(retryMs / 1000)} s`;
    this.say(`The program does not answer. Trying again ${seconds}.`, true);
  }

  /** A run stands ready; after a lost connection it is another one than before. */
  ready() {
    if (this.broken && this.stood) this.tell("The program is back: the run begins anew.");
    else if (performance.now() > this.toldUntil) this.say("");
    this.broken = false;
    this.stood = true;
  }

  error(text) {
    this.tell(text, true);
  }

  /** Says something for some seconds. */
  tell(text, grave = false) {
    this.toldUntil = performance.now() + TOLD_MS;
    this.say(text, grave);
  }

  frame(frame, { paused, looking }) {
    const parts = [`${frame.time_s.toFixed(2)} s`, `frame ${whole.format(frame.frame)}`, `tick ${whole.format(frame.tick)}`];
    parts.forEach((text, i) => { this.clock.children[i].textContent = text; });
    if (this.broken || performance.now() < this.toldUntil) return;
    this.say(this.sentence(frame, paused, looking));
  }

  sentence(frame, paused, looking) {
    const { upcoming } = frame;
    const next = upcoming && !looking ? `In ${(Math.ceil(upcoming.in_s * 10) / 10).toFixed(1)} s: ${upcoming.caption}.` : "";
    return `${this.state(frame, paused, looking, next !== "")}\n${next}`.trim();
  }

  state({ state, replaying, bot, time_s, lanes }, paused, looking, busy) {
    if (looking) return `Looking back at ${time_s.toFixed(2)} s.`;
    if (paused) return "Paused. Point at the charts to look back.";
    if (replaying) return "Replaying the run of this link; then the keys are yours.";
    if (bot && !busy) return `A script drives: ${TOUCH.matches ? "drag the stick" : "press an arrow key"} to take over.`;
    // How the session fares is of no matter to lanes.
    if (lanes) return "";
    if (state !== "playing") return STATES[state] ?? state;
    return "";
  }

  /** Render rate and the round trip between page and program. */
  pace(rate, roundTripMs, now) {
    if (now - this.paceAt < PACE_MS) return;
    this.paceAt = now;
    const trip = roundTripMs === null ? "–" : roundTripMs.toFixed(1);
    this.paceBox.textContent = `drawn ${Math.round(rate)}/s · page to program and back ${trip} ms`;
  }
}
