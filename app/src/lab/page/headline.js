// What a scene is about, and what to look at in it: a title and a sentence over the picture.

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

  show(name) {
    this.shown = name;
    const { title = "", look = "" } = this.scenes.get(name) ?? {};
    this.title.textContent = title;
    this.look.textContent = look;
  }
}
