// What to press: large over the hall until something was pressed, then small in its corner of the page.

/** Who starts nearer to the lower wall than this would have it over them, in metres from the middle. */
const LOW_M = -1;

export class Hint {
  /** `caps` are the keys, and `home` is where they are once they were used. */
  constructor(hint, caps) {
    Object.assign(this, { hint, caps, home: caps.parentElement });
  }

  /** The own cube can be driven now, from where it starts. */
  show(own) {
    if (this.used || !own || !this.hint.hidden) return;
    this.hint.dataset.at = own.position[2] < LOW_M ? "top" : "bottom";
    this.hint.prepend(this.caps);
    this.hint.hidden = false;
  }

  /** It was driven. */
  use() {
    this.used = true;
    this.home.append(this.caps);
    this.hint.hidden = true;
  }
}
