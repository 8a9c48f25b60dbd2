// The arena: the room with everybody's cube in it, each with a colour and a name.

import { HALF_M, Room } from "./room.js";
import { colours } from "./theme.js";
import { toneOf } from "./tone.js";

export class Picture extends Room {
  constructor(canvas) {
    super(canvas, HALF_M);
  }

  box({ width, height }) {
    const margin = Math.min(24, width / 20);
    return { x: margin, y: margin, width: width - 2 * margin, height: height - 2 * margin };
  }

  /** Draws `cubes` = [{number, own, position, beyondMs}]; `faded` while they are not the newest that there is. */
  draw(cubes, faded) {
    if (!this.view) return;
    this.context.clearRect(0, 0, this.size.width, this.size.height);
    this.floor();
    const far = [...cubes].sort((a, b) => b.position[2] - a.position[2]);
    for (const { position } of far) this.shadow(position);
    for (const { number, position, own } of far) {
      this.cube(position, { colour: toneOf(number), dash: [], fill: faded ? 0.35 : own ? 1 : 0.85, ringed: own });
    }
    for (const cube of far) this.name(cube);
  }

  name({ number, own, position }) {
    const c = this.context;
    const [x, y] = this.view.point([position[0], position[1] + 1.2, position[2] + 0.5]);
    c.font = `${own ? 700 : 500} 12px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "bottom";
    c.lineWidth = 3;
    c.strokeStyle = colours.floor;
    c.fillStyle = colours.text;
    const text = own ? "you" : `player ${number}`;
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
  }
}
