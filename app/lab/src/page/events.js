// The events: a button for each that there is in the scene, with a key.

const SESSION = ["prediction", "remote"];
const SESSIONS = [...SESSION, "stepping", "physics"];

/** `in` says what an event does in which scene. */
const EVENTS = [
  { name: "impulse", label: "Impulse", key: "1", in: { ...of(SESSIONS, "The server pushes your cube by 3 m/s."), styles: "The owner is pushed by 3 m/s." } },
  { name: "teleport", label: "Teleport", key: "2", in: { ...of(SESSIONS, "The server moves your cube by 4 m."), styles: "The owner is moved by 4 m at once.", qiita: "The server moves you by 2 m: the client has to find out." } },
  { name: "stall", label: "Stall", key: "3", in: { ...of([...SESSION, "stepping"], "Your machine runs nothing for 2 s."), styles: "The owner's machine runs and sends nothing for 2 s." } },
  { name: "realign", label: "Realign", key: "4", in: of([...SESSION, "qiita", "stepping", "shared"], "The local cube starts again from where the client is.") },
  { name: "hand_over", label: "Hand over", key: "1", in: { shared: "The other player gets the cube and drives it, or gives it back." } },
  { name: "double_clock", label: "Double clock", key: "9", in: { ...of(["qiita", "stepping"], "A cheat: the client's clock runs twice as fast for 5 s.") } },
  { name: "triple_direction", label: "Triple direction", key: "3", in: { qiita: "A cheat: the client's directions are three long for 5 s." } },
  { name: "client_teleport", label: "Client teleport", key: "8", in: { qiita: "A cheat: the client says that it is 3 m elsewhere." } },
  { name: "ignored_resync", label: "Ignore server", key: "1", in: { qiita: "A cheat: the client ignores what the server says for 5 s, resyncs too." } },
];

function of(scenes, explain) {
  return Object.fromEntries(scenes.map((scene) => [scene, explain]));
}

export class Events {
  /** `run(name)` lets one happen; `watch(button, of)` tells what it does when it is pointed at. */
  constructor(root, { shortcuts, watch, run }) {
    Object.assign(this, { root, shortcuts, run, scene: SESSION[0] });
    this.buttons = EVENTS.map((event) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.event = event.name;
      button.setAttribute("aria-keyshortcuts", event.key);
      const chip = document.createElement("kbd");
      chip.textContent = event.key;
      button.append(`${event.label} `, chip);
      button.addEventListener("click", (click) => {
        run(event.name);
        if (click.detail > 0) button.blur();
      });
      watch(button, () => ({ label: event.label, explain: event.in[this.scene] ?? "", source: "" }));
      return { button, event };
    });
    root.replaceChildren(...this.buttons.map(({ button }) => button));
  }

  /** Those of this scene, with their keys. */
  show(scene) {
    this.scene = scene;
    for (const { event } of this.buttons) this.shortcuts.drop(event.key);
    for (const { button, event } of this.buttons) {
      button.hidden = !(scene in event.in);
      button.title = event.in[scene] ?? "";
      if (!button.hidden) this.shortcuts.set(event.key, () => this.run(event.name));
    }
    this.root.closest("section").hidden = this.buttons.every(({ button }) => button.hidden);
  }
}
