// The pile: small cubes in 3D, and everybody's own among them, each with a colour and a name.

import { HALF_M, Hall, cube, pale, rgb } from "./hall.js";
import { toneOf } from "./tone.js";

export class Picture extends Hall {
  constructor(canvas) {
    super(canvas, 1.4);
  }

  /** Draws `cubes` = [{number, own, position, rotation}], the small ones with number 0; `faded` while they are not the newest
   *  that there is. */
  draw(cubes, faded) {
    if (!this.isReady()) return;
    this.canvas.classList.toggle("faded", faded);
    const players = cubes.filter(({ number }) => number > 0);
    const own = players.find(({ own }) => own);
    if (own) this.follow(place(own), performance.now() / 1000);
    const view = this.view();
    this.furnish(view, cubes.flatMap(solid), []);
    this.name(players.map((player) => ({ ...player, place: place(player) })), view);
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
