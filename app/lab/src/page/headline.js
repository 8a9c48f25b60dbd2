// What a scene is about, and what to look at in it: a title and a sentence over the picture.

export class Headline {
  constructor(root) {
    [this.title, this.look] = root.children;
    this.all = [];
  }

  /** Takes over what the program says of its scenes: [{name, prediction, title, look}]. */
  ready(headlines) {
    this.all = headlines;
  }

  /** Shows what the scene of these settings is about. */
  show({ scene, prediction }) {
    const { title, look } = this.all.find((headline) => headline.name === scene && headline.prediction === prediction);
    this.title.textContent = title;
    this.look.textContent = look;
  }
}
