// The arena: the room with everybody's cube in it, each with a colour and a name, and the ball; where the server has the own
// cube, and what was corrected.

import { Ball } from "./ball.js";
import { placed } from "./labels.js";
import { HALF_M, Room } from "./room.js";
import { STACKED } from "./roster.js";
import { colours } from "./theme.js";
import { toneOf } from "./tone.js";

const NAME_PX = 12;
const MARK_M = 0.22;

export class Picture extends Room {
  constructor(canvas) {
    super(canvas, HALF_M);
    this.ball = new Ball();
    /** Where the names were written last. */
    this.names = [];
  }

  box({ width, height }) {
    const margin = Math.min(16, width / 40);
    // Who is here may stand below.
    const below = matchMedia(STACKED).matches ? 28 : margin;
    return { x: margin, y: margin, width: width - 2 * margin, height: height - margin - below };
  }

  /**
   * Draws `cubes` = [{number, own, position}], the ball with number 0; `faded` while they are not the newest that there is;
   * `confirmed` is where the server had the own cube, if that is to be seen, `marks` are those of corrections, and the boxes
   * that are `taken` have something else in them than names.
   */
  draw(cubes, faded, { confirmed, marks, taken }) {
    if (!this.view) return;
    this.context.clearRect(0, 0, this.size.width, this.size.height);
    this.floor();
    for (const mark of marks) this.mark(mark);
    const far = [...cubes].sort((a, b) => b.position[2] - a.position[2]);
    for (const { number, position } of far) if (number > 0) this.shadow(position);
    if (confirmed) this.cube(confirmed, { colour: colours.server, dash: [4, 3], fill: 0 });
    for (const { number, position, own } of far) {
      if (number === 0) this.ball.draw(this.context, this.view, position, faded);
      else this.cube(position, { colour: toneOf(number), dash: [], fill: faded ? 0.35 : own ? 1 : 0.85, ringed: own });
    }
    this.write(cubes.filter(({ number }) => number > 0), taken);
  }

  mark({ x, z, left, own }) {
    const c = this.context;
    c.strokeStyle = own ? colours.late : colours.muted;
    c.globalAlpha = left;
    c.lineWidth = 2;
    for (const way of [1, -1]) {
      this.path([[x - MARK_M, 0.02, z - way * MARK_M], [x + MARK_M, 0.02, z + way * MARK_M]], false);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  /** Where on the picture a place on the floor is. */
  placeOf({ x, z }) {
    return this.view ? this.view.point([x, 0, z]) : [NaN, NaN];
  }

  /** The names of players, the own and the nearest to it first. */
  write(players, taken) {
    const c = this.context;
    const own = players.find((player) => player.own)?.position ?? [0, 0, 0];
    const away = ({ position }) => Math.hypot(position[0] - own[0], position[2] - own[2]);
    const labels = players.sort((a, b) => away(a) - away(b)).map((player) => {
      const [x, y] = this.view.point([player.position[0], player.position[1] + 1.2, player.position[2] + 0.5]);
      const text = player.own ? "you" : `player ${player.number}`;
      c.font = fontOf(player);
      return { text, x, y, own: player.own, width: c.measureText(text).width + 4, height: NAME_PX + 3 };
    });
    this.names = placed(labels, this.size, taken);
    c.textAlign = "left";
    c.textBaseline = "bottom";
    c.lineWidth = 3;
    c.strokeStyle = colours.floor;
    c.fillStyle = colours.text;
    for (const { text, own, left, top, height } of this.names) {
      c.font = fontOf({ own });
      c.strokeText(text, left + 2, top + height);
      c.fillText(text, left + 2, top + height);
    }
  }
}

function fontOf({ own }) {
  return `${own ? 700 : 500} ${NAME_PX}px system-ui, sans-serif`;
}
