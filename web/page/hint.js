// What to press: large over the hall until something was pressed, then small in its corner of the page.

export class Hint {
  /** `caps` are the keys, and `home` is where they are once they were used. */
  constructor(hint, caps) {
    Object.assign(this, { hint, caps, home: caps.parentElement });
  }

  /** Something can be driven now. */
  show() {
    if (this.used) return;
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
