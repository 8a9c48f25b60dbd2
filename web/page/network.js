// How much worse the own network is to be than it is: two sliders, in words, for the transport of whoever plays.

const $ = (id) => document.getElementById(id);

export class Network {
  constructor() {
    Object.assign(this, { game: null, used: false });
    this.sliders = ["delay", "loss"].map($);
    for (const slider of this.sliders) slider.addEventListener("input", () => this.change());
    this.say();
  }

  /** This game is played from now on. */
  attach(game) {
    this.game = game;
    this.apply();
  }

  /** This is what to try now, if it was not tried yet. */
  suggest() {
    if (!this.used) document.body.dataset.next = "network";
  }

  change() {
    this.used = true;
    delete document.body.dataset.next;
    this.apply();
  }

  apply() {
    const [delay, loss] = this.sliders.map(({ valueAsNumber }) => valueAsNumber);
    this.game?.impair(delay, loss);
    this.say();
  }

  say() {
    const [delay, loss] = this.sliders;
    $("delay-said").textContent = `${delay.value} ms`;
    $("loss-said").textContent = `${loss.value} %`;
    for (const slider of this.sliders) slider.style.setProperty("--part", slider.value / slider.max);
  }
}
