// The picture of one lane: a part of the room around the one that all lanes show, with the ways of its cubes.

import { ROLES, SOURCES } from "./roles.js";
import { HALF_M, Room } from "./room.js";
import { colours } from "./theme.js";

/** Over how many frames the place is averaged that the picture looks at. */
const STEADY_FRAMES = 20;
const DASH_OF = { server: [5, 4], ghost: [1.5, 3] };

export class Picture extends Room {
  /** `bench` is one of `benches.js`; `legend` says which roles are drawn. */
  constructor(canvas, bench, legend) {
    super(canvas, bench.half ?? HALF_M);
    Object.assign(this, { bench, legend });
  }

  box({ width, height }) {
    return { x: 2, y: 3, width: width - 4, height: height - 6 };
  }

  /** Draws the lane `name` of `frames[at]`; `tone` is the colour of the lane. */
  draw(frames, at, name, tone) {
    if (!this.view) return;
    const c = this.context;
    c.clearRect(0, 0, this.size.width, this.size.height);
    const past = [];
    for (let i = Math.max(0, at - this.bench.trail); i <= at; i += 1) {
      const lane = frames[i].lanes?.lanes.find((lane) => lane.name === name);
      if (lane) past.push(lane.cubes);
    }
    const cubes = past.at(-1);
    if (!cubes) return;
    this.lookAt(past);
    this.floor();
    const drawn = ROLES.filter(({ role }) => this.legend.draws(role));
    const colourOf = (role) => (role === this.bench.toned ? tone : colours[role]);
    for (const { role } of drawn.filter(({ role }) => role !== "ghost")) {
      for (const { id } of cubes.filter((cube) => cube.role === role)) {
        const places = past.map((cubes) => cubes.find((cube) => cube.role === role && cube.id === id)?.position).filter(Boolean);
        const truth = role === "server";
        this.trail(places, { colour: colourOf(role), dash: DASH_OF[role], width: truth ? 1.2 : 1.8, alpha: truth ? 0.9 : 0.8 });
      }
    }
    const shown = drawn.flatMap((kind) => cubes.filter(({ role }) => role === kind.role).map((cube) => ({ kind, cube })));
    for (const { cube } of shown) this.shadow(cube.position);
    for (const { kind, cube } of shown) {
      const source = cube.role === "other" ? SOURCES[cube.source] : null;
      this.cube(cube.position, { ...kind, ...source, colour: colourOf(cube.role) });
    }
  }

  /** Follows the one that all lanes show, calmly. */
  lookAt(past) {
    const { follow } = this.bench;
    const places = past.slice(-STEADY_FRAMES).map((cubes) => cubes.find(({ role }) => role === follow)?.position).filter(Boolean);
    const mean = (axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    this.view.at = places.length ? [mean(0), mean(2)] : [0, 0];
  }
}
