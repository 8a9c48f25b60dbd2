// The room on a canvas: floor, walls, trails, shadows and cubes. What is drawn in it, and where, others say.

import { Projection, visibleFaces } from "./projection.js";
import { colours, fitCanvas } from "./theme.js";

const EDGE_M = 1;
/** The middle of a cube comes as near to a wall as 10 m from the centre. */
export const HALF_M = 10 + EDGE_M / 2;
const WALL_M = 0.8;
const SHADE = { top: 1, side: 0.72, front: 0.84 };

/** The middle of a cube: `position` is where it stands. */
export function middle([x, y, z]) {
  return [x, y + EDGE_M / 2, z];
}

export class Room {
  /** `half` metres to each side of what is looked at are in the box at least: all of the room, or a part of it. */
  constructor(canvas, half) {
    Object.assign(this, { canvas, half });
    this.context = canvas.getContext("2d");
    this.fit();
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  fit() {
    this.size = fitCanvas(this.canvas);
    const box = this.box(this.size);
    this.view = box.width > 0 && box.height > 0 ? new Projection(box, this.half, WALL_M) : null;
  }

  /** Where in the canvas the room is. */
  box({ width, height }) {
    return { x: 0, y: 0, width, height };
  }

  path(points, close = true) {
    const c = this.context;
    c.beginPath();
    for (const p of points) c.lineTo(...this.view.point(p));
    if (close) c.closePath();
  }

  floor() {
    const c = this.context;
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, z]) => [x * HALF_M, z * HALF_M]);
    this.path(corners.map(([x, z]) => [x, 0, z]));
    c.fillStyle = colours.floor;
    c.fill();
    c.lineWidth = 1;
    c.strokeStyle = colours.grid;
    const every = this.half < HALF_M ? 1 : 2;
    for (let m = -10; m <= 10; m += every) {
      c.globalAlpha = m === 0 ? 1 : 0.55;
      this.path([[m, 0, -HALF_M], [m, 0, HALF_M]], false);
      c.stroke();
      this.path([[-HALF_M, 0, m], [HALF_M, 0, m]], false);
      c.stroke();
    }
    c.globalAlpha = 1;
    c.strokeStyle = colours.wall;
    for (const [i, j] of [[1, 2], [0, 3], [3, 2]]) {
      const [a, b] = [corners[i], corners[j]];
      this.path([[a[0], 0, a[1]], [b[0], 0, b[1]], [b[0], WALL_M, b[1]], [a[0], WALL_M, a[1]]]);
      c.fillStyle = colours.wall;
      c.globalAlpha = 0.13;
      c.fill();
      c.globalAlpha = 1;
      c.stroke();
    }
    this.path([[-HALF_M, 0, -HALF_M], [HALF_M, 0, -HALF_M]], false);
    c.stroke();
  }

  /** A line through where something was, broken where it jumped. */
  trail(places, { colour, dash = [], width = 1.5, alpha = 0.45 }) {
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.globalAlpha = alpha;
    c.setLineDash(dash);
    c.beginPath();
    let before = null;
    for (const [x, , z] of places) {
      const point = this.view.point([x, 0.02, z]);
      if (!before || Math.hypot(x - before[0], z - before[1]) > 1.5) c.moveTo(...point);
      else c.lineTo(...point);
      before = [x, z];
    }
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  shadow([x, y, z]) {
    const h = EDGE_M / 2;
    this.path([[x - h, 0, z - h], [x + h, 0, z - h], [x + h, 0, z + h], [x - h, 0, z + h]]);
    this.context.fillStyle = "#000";
    this.context.globalAlpha = 0.12 / (1 + y);
    this.context.fill();
    this.context.globalAlpha = 1;
  }

  /** A cube; without a `colour` of its own in that of its role. */
  cube(position, { role, colour = colours[role], dash, fill, crossed, ringed }) {
    const c = this.context;
    c.lineJoin = "round";
    for (const face of visibleFaces(middle(position), EDGE_M, this.view.at[0])) {
      this.path(face.corners);
      c.globalAlpha = fill;
      c.fillStyle = colour;
      c.fill();
      if (fill > 0.5 && face.name !== "top") {
        c.globalAlpha = fill * (1 - SHADE[face.name]);
        c.fillStyle = "#000";
        c.fill();
      }
      c.globalAlpha = role === "ghost" ? 0.8 : 1;
      c.strokeStyle = fill > 0.5 ? colours.floor : colour;
      c.lineWidth = fill > 0.5 ? 1 : 2;
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
      if (crossed) this.cross(face.corners);
      if (ringed && face.name === "top") this.ring(face.corners);
    }
    c.globalAlpha = 1;
  }

  /** A smaller outline within a face. */
  ring(corners) {
    const middle = corners[0].map((_, axis) => corners.reduce((sum, corner) => sum + corner[axis] / corners.length, 0));
    this.path(corners.map((corner) => corner.map((part, axis) => middle[axis] + (part - middle[axis]) * 0.55)));
    this.context.lineWidth = 2;
    this.context.stroke();
  }

  cross([a, b, d, e]) {
    this.path([a, d], false);
    this.context.stroke();
    this.path([b, e], false);
    this.context.stroke();
  }
}
