// One thumb on the picture: drag anywhere to drive, tap to jump. A second finger jumps while the first one drives.

import { BITS, bitsOf } from "./input.js";

/** A finger that goes no further and stays no longer has tapped. */
const TAP_PX = 12;
const TAP_MS = 300;
/** The stick is so long: a finger that goes further takes it along. */
const LONG_PX = 56;

export class Thumb {
  constructor(picture, input) {
    Object.assign(this, { input, finger: null });
    picture.addEventListener("pointerdown", (event) => event.pointerType !== "mouse" && this.down(event));
    picture.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) picture.addEventListener(name, (event) => this.up(event));
  }

  down(event) {
    event.preventDefault();
    if (this.finger) return this.input.tap(BITS.jump);
    event.target.setPointerCapture(event.pointerId);
    this.finger = { id: event.pointerId, at: event.timeStamp, x: event.clientX, y: event.clientY, drives: false };
  }

  move({ pointerId, clientX, clientY }) {
    const { finger } = this;
    if (finger?.id !== pointerId) return;
    const [x, y] = [clientX - finger.x, clientY - finger.y];
    const length = Math.hypot(x, y);
    finger.drives ||= length > TAP_PX;
    if (!finger.drives) return;
    this.input.press(this, length > TAP_PX ? bitsOf(x / length, -y / length) : 0);
    const over = Math.max(0, length - LONG_PX);
    if (over) Object.assign(finger, { x: finger.x + (x / length) * over, y: finger.y + (y / length) * over });
  }

  up({ pointerId, timeStamp, type }) {
    const { finger } = this;
    if (finger?.id !== pointerId) return;
    this.finger = null;
    this.input.release(this);
    if (type === "pointerup" && !finger.drives && timeStamp - finger.at < TAP_MS) this.input.tap(BITS.jump);
  }
}
