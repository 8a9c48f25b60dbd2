// What happened last, in a sentence: it fades after a while.

/** A note is old after this many seconds. */
const OLD_S = 4;
const NONE = { text: "", time_s: -Infinity };

export class Note {
  constructor(place) {
    Object.assign(this, { place, ...NONE });
  }

  /** Takes in what a frame says. */
  take({ lanes, notes, time_s }) {
    const said = lanes ? lanes.steps.map(([number, sentence]) => `${lanes.lanes[number]?.name}: ${sentence}`) : notes;
    if (said.length) Object.assign(this, { text: said.at(-1), time_s });
  }

  /** Shows it, in the frame that is looked at. */
  show({ time_s }) {
    this.place.textContent = this.text;
    this.place.title = this.text;
    this.place.classList.toggle("old", time_s - this.time_s > OLD_S);
  }

  clear() {
    Object.assign(this, NONE);
  }
}
