// The picture of a lane with rigid bodies: its screen in 3D, with the server's bodies and the last snapshot's as outlines where
// they are elsewhere, and a trail for each correction.

import { coincide, corrections, halfOf, isDriver, place, rotation } from "./bodies.js";
import { Hall, cube, mark, pale, rgb } from "./hall.js";
import { colours } from "./theme.js";

/** Frames after which a trail is gone. */
const TRAIL_FRAMES = 40;
/** `small` is how much of it is left on small cubes, of which there are many. */
const GHOSTS = { server: { dash: 2.5, wide: 1.3, alpha: 0.95, small: 0.62 }, ghost: { dash: 5, wide: 1.0, alpha: 0.85, small: 0.45 } };

export class PilePicture extends Hall {
  /** `legend` says which roles are drawn, `bodies` where they are. */
  constructor(canvas, { legend, bodies }) {
    super(canvas);
    Object.assign(this, { legend, bodies });
  }

  /** Draws the lane `name` of `frames[at]`. */
  draw(frames, at, name) {
    const lane = frames[at].lanes.lanes.find((lane) => lane.name === name);
    if (!lane?.bodies || !this.isReady()) return;
    const { own } = lane.bodies;
    const lists = this.bodies.at(frames, at, name);
    const ownRow = lists.client.get(own);
    if (ownRow) this.follow(place(ownRow), frames[at].time_s);
    const view = this.view();
    const shown = this.legend.draws("client") ? [...lists.client.values()] : [];
    // What the client is not told of leaves a mark on the floor.
    const untold = [...lists.server.entries()].filter(([number]) => !lists.client.has(number)).map(([, row]) => row);
    this.furnish(view, shown.flatMap((row) => instance(row, tone(row, own))), untold.flatMap((row) => mark(place(row))));
    for (const role of ["ghost", "server"]) this.ghosts(role, lists, view);
    this.trails(frames, at, name, view);
    this.name(shown.filter(([number]) => isDriver(number)).map((row) => ({ number: row[0], own: row[0] === own, place: place(row) })), view);
  }

  /** Outlines of those that are known here and are elsewhere than they are shown; of players' cubes always. */
  ghosts(role, lists, { camera }) {
    if (!this.legend.draws(role)) return;
    const { dash, wide, alpha, small } = GHOSTS[role];
    const colour = [...rgb(colours[role]), alpha];
    const known = ([number, row]) => lists.client.has(number) && !coincide(row, lists.client.get(number));
    const rows = [...lists[role].entries()].filter((entry) => isDriver(entry[0]) || known(entry));
    const instances = rows.flatMap(([number, row]) => instance(row, isDriver(number) ? colour : [...colour.slice(0, 3), alpha * small]));
    this.solids.draw("outline", { camera, dash, wide: wide * this.size.ratio }, instances, true);
  }

  /** From where bodies were shown to where they were found to be, for a while. */
  trails(frames, at, name, { camera }) {
    if (!this.legend.draws("correction")) return;
    const { width, height, ratio } = this.size;
    const colour = rgb(colours.late);
    const lines = [];
    for (let i = Math.max(0, at - TRAIL_FRAMES); i <= at; i += 1) {
      const rows = frames[i].lanes?.lanes.find((lane) => lane.name === name)?.bodies?.corrected;
      if (!rows?.length) continue;
      const alpha = (1 - (at - i) / TRAIL_FRAMES) ** 1.5;
      for (const [from, to] of corrections(rows)) lines.push(...from, ...to, 1.6 * ratio, 0, 0, 0, ...colour, alpha);
    }
    this.solids.flat("ribbon", { camera, size: [width * ratio, height * ratio] }, lines, true);
  }
}

function instance(row, colour) {
  return cube(place(row), rotation(row), halfOf(row[0]), colour);
}

/** The own cube in the client's colour, another player's in the others', the rest tinted by how they come to be there. */
function tone(row, own) {
  const [number, between] = [row[0], row[7]];
  if (number === own) return [...rgb(colours.client), 1];
  if (isDriver(number)) return [...rgb(colours.other), 1];
  return pale(colours[between ? "other" : "client"], 0.3);
}
