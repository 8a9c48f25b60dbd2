// What a scene is about, and what to look at in it: a title and a sentence over the picture.

const WAITING = { title: "You wait for the server", look: "A key travels there, and what comes of it back, before your cube moves. The green outline is where it would be without a network." };

export class Headline {
  constructor(root) {
    [this.title, this.look] = root.children;
    this.scenes = new Map();
  }

  /** Takes over what the program says of its scenes: [{name, title, look}]. */
  ready(scenes) {
    this.scenes = new Map(scenes.map((scene) => [scene.name, scene]));
    this.show(this.shown);
  }

  /** Shows what a scene is about, where the own cube is predicted or not. */
  show(name, predicted = true) {
    this.shown = name;
    const { title = "", look = "" } = name === "prediction" && !predicted ? WAITING : this.scenes.get(name) ?? {};
    this.title.textContent = title;
    this.look.textContent = look;
  }
}
