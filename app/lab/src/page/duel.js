// The picture of a duel: the wall with its doorway, both players, and of the last shots the ray, and the outline where the server
// found who was shot at when it looked back.

import { Picture } from "./picture.js";
import { ROLES } from "./roles.js";
import { middle } from "./room.js";
import { shotsUpTo } from "./shots.js";
import { colours } from "./theme.js";

const WALL_M = 0.7;
const GRID_M = 1;
const WORD_PX = 26;
/** For how many frames a shot is drawn. */
const DRAWN_FRAMES = 100;
/** From this distance on it is drawn where the shooter saw the other, beside where the server found them. */
const APART_M = 0.08;

const kindOf = (wanted) => ROLES.find(({ role }) => role === wanted);

export class DuelPicture extends Picture {
  /** `pointed()` is the shot whose card is pointed at, or null. */
  constructor(canvas, bench, legend, pointed) {
    super(canvas, bench, legend);
    Object.assign(this, { pointed, walls: [], viewer: 0 });
  }

  /** Above the room there is place for a cube at its far end, and the word on it. */
  box({ width, height }) {
    return { x: 2, y: WORD_PX, width: width - 4, height: height - WORD_PX - 3 };
  }

  draw(frames, at, name, tone) {
    const lane = frames[at].lanes.lanes.find((lane) => lane.name === name);
    if (!lane?.duel || !this.view) return;
    Object.assign(this, lane.duel);
    super.draw(frames, at, name, tone);
    const pointed = this.pointed();
    const shots = pointed ? [pointed] : shotsUpTo(frames, at, 4).filter(({ age }) => age < DRAWN_FRAMES).map(({ shot }) => shot);
    const newest = [0, 1].map((by) => shots.find((shot) => shot.by === by)).filter(Boolean);
    for (const shot of newest) this.shot(shot);
    for (const { role, position } of lane.cubes) {
      const whose = { client: this.viewer, other: 1 - this.viewer }[role];
      if (whose !== undefined && this.legend.draws(role)) this.word(position, ["you", "the other"][whose], colours[["client", "other"][whose]]);
    }
  }

  /** Colours belong to players. */
  swaps() {
    return this.viewer === 1;
  }

  floor() {
    const c = this.context;
    const [across, deep] = this.bench.half;
    this.path([[-across, 0, -deep], [across, 0, -deep], [across, 0, deep], [-across, 0, deep]]);
    c.fillStyle = colours.floor;
    c.fill();
    c.strokeStyle = colours.wall;
    c.lineWidth = 1;
    c.stroke();
    c.strokeStyle = colours.grid;
    c.globalAlpha = 0.6;
    const lines = (half, line) => {
      for (let m = Math.ceil(-half / GRID_M); m < half; m += GRID_M) {
        this.path(line(m), false);
        c.stroke();
      }
    };
    lines(across, (x) => [[x, 0, -deep], [x, 0, deep]]);
    lines(deep, (z) => [[-across, 0, z], [across, 0, z]]);
    c.globalAlpha = 1;
    for (const wall of this.walls) this.wall(wall);
  }

  wall([left, near, right, far]) {
    const c = this.context;
    const faces = [
      [[left, WALL_M, near], [right, WALL_M, near], [right, WALL_M, far], [left, WALL_M, far]],
      [[left, 0, near], [right, 0, near], [right, WALL_M, near], [left, WALL_M, near]],
    ];
    c.strokeStyle = colours.wall;
    c.fillStyle = colours.wall;
    c.lineWidth = 1;
    faces.forEach((face, i) => {
      this.path(face);
      c.globalAlpha = i ? 0.35 : 0.6;
      c.fill();
      c.globalAlpha = 1;
      c.stroke();
    });
  }

  /** Its ray, what came of it, and where the other was judged. */
  shot({ by, from, end, seen, rewound, outcome }) {
    const c = this.context;
    const colour = colours[by ? "other" : "client"];
    const isApart = seen && rewound && Math.hypot(...seen.map((lane, i) => lane - rewound[i])) > APART_M;
    if (isApart && this.legend.draws("seen")) this.cube(seen, { ...kindOf("seen"), colour });
    if (rewound && this.legend.draws("rewound")) this.cube(rewound, { ...kindOf("rewound"), colour: colours.late });
    if (!this.legend.draws("ray")) return;
    this.path([middle(from), middle(end)], false);
    c.strokeStyle = colour;
    c.lineWidth = 2;
    c.setLineDash(by ? [7, 4] : []);
    c.stroke();
    c.setLineDash([]);
    this.mark(this.view.point(middle(end)), outcome, colour);
  }

  /** Filled for a hit, open for one that was taken back, a cross for none. */
  mark([x, y], outcome, colour) {
    const c = this.context;
    c.beginPath();
    if (outcome === "missed") {
      for (const side of [-1, 1]) {
        c.moveTo(x - 4, y - 4 * side);
        c.lineTo(x + 4, y + 4 * side);
      }
    } else c.arc(x, y, 5, 0, 2 * Math.PI);
    c.fillStyle = outcome === "hit" ? colour : colours.floor;
    if (outcome !== "missed") c.fill();
    c.strokeStyle = colour;
    c.lineWidth = 2;
    c.stroke();
  }
}
