// The keys that drive the cube, from the keyboard, the key caps and the touch stick, as the protocol's bits.

export const BITS = { up: 1, down: 2, left: 4, right: 8, jump: 16 };
const CODES = {
  ArrowUp: BITS.up, ArrowDown: BITS.down, ArrowLeft: BITS.left, ArrowRight: BITS.right,
  KeyW: BITS.up, KeyS: BITS.down, KeyA: BITS.left, KeyD: BITS.right, Space: BITS.jump,
};
/** A second player's keys stand beside the first one's, so many bits higher. */
const SECOND = 5;
const SECOND_CODES = { KeyI: BITS.up << SECOND, KeyK: BITS.down << SECOND, KeyJ: BITS.left << SECOND, KeyL: BITS.right << SECOND, KeyU: BITS.jump << SECOND };
/** Where a second player has keys, and which. */
export const OF_SECOND = { scenes: ["physics"], keys: ["i", "j", "k", "l", "u"] };
/** A direction counts when the stick leans at least so far towards it: eight equal sectors. */
const LEAN = Math.sin(Math.PI / 8);
const DEAD_ZONE = 0.28;
const TAP_MS = 100;

/** The keys of a stick that leans in this direction, a unit vector with y up. */
export function bitsOf(dx, dy) {
  const lean = (yes, bit) => (yes ? bit : 0);
  return lean(dy > LEAN, BITS.up) | lean(dy < -LEAN, BITS.down) | lean(dx < -LEAN, BITS.left) | lean(dx > LEAN, BITS.right);
}

/** Whether `element` needs `event`'s key for itself. */
export function isTyping(element, event) {
  if (element instanceof HTMLInputElement && element.type === "range") return event.code.startsWith("Arrow");
  if (element instanceof HTMLInputElement && element.type === "checkbox") return event.code === "Space";
  if (element instanceof HTMLButtonElement || element?.tagName === "SUMMARY") return event.code === "Space" || event.code === "Enter";
  return element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
}

export class Input {
  /** `second` are the caps of a second player, where there may be one; `onFirst` is called once, at the first key, cap or
   *  touch. */
  constructor({ caps, second = null, stick, knob, jump, onFirst }) {
    this.held = new Map();
    this.tapped = 0;
    this.second = second;
    this.onFirst = onFirst;
    this.stickHeld = false;
    Object.assign(this, { caps, stick, jump, knob });
    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("keyup", (event) => {
      this.release(event.code);
      // On macOS a key that is let go while this one is down tells of it by no event.
      if (event.key === "Meta") this.held.clear();
    });
    addEventListener("blur", () => this.held.clear());
    document.addEventListener("visibilitychange", () => document.hidden && this.held.clear());
    const buttons = [caps, second].filter(Boolean).flatMap((caps) => [...caps.querySelectorAll("button")]).concat(jump);
    for (const button of buttons) this.bindButton(button);
    this.bindStick(stick);
    this.lamps = buttons.map((button) => [button, bitOf(button)]);
  }

  /** The keys for the next frames: those held, and those that were only tapped since `sent` was last called; of the first
   *  player and of the second. */
  get keys() {
    let bits = this.tapped;
    for (const bit of this.held.values()) bits |= bit;
    const each = (1 << SECOND) - 1;
    return { keys: bits & each, second: bits >> SECOND };
  }

  /** Whether there is a second player. */
  offerSecond(there) {
    this.second.hidden = !there;
  }

  /** Says what the key does that is no direction: `word` is jump or shoot. */
  nameAction(word) {
    for (const button of [this.caps.querySelector(`[data-bit="${BITS.jump}"]`), this.jump]) button.textContent = word;
    this.stick.setAttribute("aria-label", `touch stick: drag to move, tap to ${word}`);
    this.stick.parentElement.querySelector(".thumb").replaceChildren("drag to move,", document.createElement("br"), `tap to ${word}`);
  }

  sent() {
    this.tapped = 0;
  }

  press(source, bits) {
    this.held.set(source, bits);
    this.tapped |= bits;
    if (bits) this.onFirst?.();
    if (bits) this.onFirst = null;
  }

  /** Holds these keys for as long as a tap on a key takes. */
  tap(bits) {
    this.press(this, bits);
    setTimeout(() => this.release(this), TAP_MS);
  }

  release(source) {
    this.held.delete(source);
  }

  keyDown(event) {
    const bit = CODES[event.code] ?? (this.second && !this.second.hidden ? SECOND_CODES[event.code] : 0);
    if (!bit || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target, event)) return;
    event.preventDefault();
    this.press(event.code, bit);
  }

  bindButton(button) {
    button.tabIndex = -1;
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.press(button, bitOf(button));
      // The first press may move the caps to another place of the page, and what is moved loses its pointer.
      button.setPointerCapture(event.pointerId);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      button.addEventListener(name, () => this.release(button));
    }
    button.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  bindStick(stick) {
    let leant = false;
    const lean = (event) => {
      const box = stick.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * 2 - 1;
      const y = 1 - ((event.clientY - box.top) / box.height) * 2;
      const length = Math.hypot(x, y);
      const [dx, dy] = length > 0 ? [x / length, y / length] : [0, 0];
      this.moveKnob(dx * Math.min(length, 0.7), dy * Math.min(length, 0.7));
      const bits = length > DEAD_ZONE ? bitsOf(dx, dy) : 0;
      leant ||= bits !== 0;
      this.press(stick, bits);
    };
    stick.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      stick.setPointerCapture(event.pointerId);
      this.stickHeld = true;
      leant = false;
      lean(event);
    });
    // One thumb is enough: a tap on the middle is the other key.
    stick.addEventListener("pointerup", () => leant || this.tap(BITS.jump));
    stick.addEventListener("pointermove", (event) => this.stickHeld && lean(event));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      stick.addEventListener(name, () => {
        this.stickHeld = false;
        this.release(stick);
      });
    }
  }

  moveKnob(x, y) {
    this.knob.style.transform = `translate(${(x * 44).toFixed(1)}px, ${(-y * 44).toFixed(1)}px)`;
  }

  /** Lights the caps and leans the stick by the keys that the run had in its last frame. */
  show(keys, second = 0) {
    const bits = keys | (second << SECOND);
    for (const [button, bit] of this.lamps) button.classList.toggle("on", (bits & bit) !== 0);
    if (this.stickHeld) return;
    const x = Boolean(bits & BITS.right) - Boolean(bits & BITS.left);
    const y = Boolean(bits & BITS.up) - Boolean(bits & BITS.down);
    const long = x && y ? Math.SQRT1_2 : 1;
    this.moveKnob(x * long * 0.7, y * long * 0.7);
  }
}

function bitOf(button) {
  return Number(button.dataset.bit) << (button.closest(".second") ? SECOND : 0);
}
