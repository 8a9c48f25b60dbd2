// The picture of one lane: a part of the room around the one that all lanes show, with the ways of its cubes.

import { ROLES, SOURCES } from "./roles.js";
import { HALF_M, Room } from "./room.js";
import { colours } from "./theme.js";

/** Over how many frames the place is averaged that the picture looks at. */
const STEADY_FRAMES = 20;
const DASH_OF = { server: [5, 4], ghost: [1.5, 3] };
/** How a way looks that lies under the others. */
const UNDER = { dash: [], width: 6, alpha: 0.28 };

/** Colours belong to players: where the other one holds the cube, it is the other way round. */
const SWAPPED = { client: "other", other: "client" };
const HOLDS = { 0: "you hold it", 1: "player 2 holds it", bot: "a script holds it" };

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
    const { under, toned } = this.bench;
    const { holder } = frames[at].lanes;
    const swaps = this.swaps(frames[at]);
    const colourOf = (role) => (role === toned ? tone : colours[swaps ? SWAPPED[role] ?? role : role]);
    const ways = drawn.filter(({ role }) => role !== "ghost").sort((a, b) => Number(b.role === under) - Number(a.role === under));
    for (const { role } of ways) {
      for (const { id } of cubes.filter((cube) => cube.role === role)) {
        const places = past.map((cubes) => cubes.find((cube) => cube.role === role && cube.id === id)?.position).filter(Boolean);
        const look = role === under ? UNDER : { dash: DASH_OF[role], width: role === "server" ? 1.2 : 1.8, alpha: 0.85 };
        this.trail(places, { colour: colourOf(role), ...look });
      }
    }
    const shown = drawn.flatMap((kind) => cubes.filter(({ role }) => role === kind.role).map((cube) => ({ kind, cube })));
    for (const { cube } of shown) this.shadow(cube.position);
    for (const { kind, cube } of shown) {
      const source = cube.role === "other" ? SOURCES[cube.source] : null;
      this.cube(cube.position, { ...kind, ...source, colour: colourOf(cube.role) });
    }
    const held = cubes.find(({ role }) => role === this.bench.held);
    if (held) this.word(held.position, HOLDS[frames[at].bot && !holder ? "bot" : holder], colourOf(held.role));
  }

  /** Whether the colours of the two players are the other way round. */
  swaps({ lanes }) {
    return lanes.holder === 1;
  }

  /** A word above a cube, within the picture. */
  word(position, text, colour) {
    const c = this.context;
    c.font = "600 12px system-ui, sans-serif";
    c.textAlign = "left";
    c.textBaseline = "bottom";
    const [x, y] = this.view.point([position[0], position[1] + 1, position[2] + 0.5]);
    const wide = c.measureText(text).width;
    const at = [Math.min(Math.max(x - wide / 2, 4), this.size.width - wide - 4), Math.max(y - 5, 18)];
    c.lineWidth = 3;
    c.strokeStyle = colours.panel;
    c.strokeText(text, ...at);
    c.fillStyle = colour;
    c.fillText(text, ...at);
  }

  /** Follows the one that all lanes show, calmly. */
  lookAt(past) {
    const { follow } = this.bench;
    const places = past.slice(-STEADY_FRAMES).map((cubes) => cubes.find(({ role }) => role === follow)?.position).filter(Boolean);
    const mean = (axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    this.view.at = places.length ? [mean(0), mean(2)] : [0, 0];
  }
}
