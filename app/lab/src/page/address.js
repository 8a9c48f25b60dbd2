// What stands behind the # of the page's address: the settings of the run, an opened link until something is changed, or a
// step of the tour.

export class Address {
  constructor() {
    this.fragment = location.hash.slice(1);
    /** Whether it is a link that was opened: a reload plays it again. */
    this.opened = this.fragment !== "";
    /** What it says without a tour. */
    this.settings = "";
  }

  write(fragment) {
    this.fragment = fragment;
    window.history.replaceState(null, "", `#${fragment}`);
  }

  /** It says what is set again. */
  writeSettings() {
    this.write(this.settings);
  }

  /** What is set has become `settings`; during a tour the address is that of its step. */
  keep(settings, tour) {
    this.settings = settings;
    if (!this.opened) this.write(tour ?? settings);
  }

  /** A link is opened; none if it is empty. */
  open(fragment) {
    this.write(fragment);
    this.opened = fragment !== "";
  }

  /** Forgets a link that was refused. Whether there was one. */
  forget() {
    const was = this.fragment !== "";
    this.fragment = "";
    this.opened = false;
    return was;
  }

  /** Calls `changed` when somebody writes another one. */
  listen(changed) {
    addEventListener("hashchange", () => {
      this.fragment = location.hash.slice(1);
      changed(this.fragment);
    });
  }
}
