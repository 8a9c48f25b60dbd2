// The pile: small cubes in 3D, and everybody's own among them, each with a colour and a name.

import { HALF_M, Hall, cube, pale, rgb } from "./hall.js";
import { placed } from "./labels.js";
import { seen } from "./matrix.js";
import { toneOf } from "./tone.js";

export class Picture extends Hall {
  constructor(canvas) {
    super(canvas, 1.4);
    /** The size of each player's name. */
    this.sizes = new Map();
  }

  /** Draws `cubes` = [{number, own, position, rotation}], the small ones with number 0; `faded` while they are not the newest
   *  that there is. */
  draw(cubes, faded, { taken }) {
    if (!this.isReady()) return;
    this.canvas.classList.toggle("faded", faded);
    const players = cubes.filter(({ number }) => number > 0);
    const own = players.find(({ own }) => own);
    if (own) this.follow(place(own), performance.now() / 1000);
    const view = this.view();
    this.furnish(view, cubes.flatMap(solid), []);
    this.name(players.map((player) => ({ ...player, place: place(player) })), view);
    this.spread(players, view, taken);
  }

  /** Puts the names where each has room, the own and the nearest to it first. */
  spread(players, { camera }, taken) {
    const own = players.find((player) => player.own)?.position ?? [0, 0, 0];
    const away = ({ position }) => Math.hypot(position[0] - own[0], position[2] - own[2]);
    const labels = players.sort((a, b) => away(a) - away(b)).map((player) => {
      const [x, y, z] = place(player);
      const [right, up] = seen(camera, [x, y + 1.0, z]);
      const label = this.labels.get(player.number);
      if (!this.sizes.has(player.number)) this.sizes.set(player.number, { width: label.offsetWidth, height: label.offsetHeight });
      return { label, x: ((right + 1) / 2) * this.size.width, y: ((1 - up) / 2) * this.size.height, ...this.sizes.get(player.number) };
    });
    const there = placed(labels, this.size, taken);
    for (const { label } of labels) label.hidden = true;
    for (const { label, left, top } of there) {
      label.hidden = false;
      label.style.transform = `translate(${left}px, ${top}px)`;
    }
  }
}

function solid(body) {
  const { number } = body;
  const [half_m, colour] = number ? [HALF_M.driver, [...rgb(toneOf(number)), 1]] : [HALF_M.small, pale("#e69f00", 0.16)];
  return cube(place(body), rotation(body), half_m, colour);
}

/** The picture's z comes towards the one who looks, the room's goes away. */
function place({ position: [x, y, z] }) {
  return [x, y, -z];
}

/** Mirrored as the place is. */
function rotation({ rotation: [i, j, k, w] }) {
  return [-i, -j, k, w];
}
