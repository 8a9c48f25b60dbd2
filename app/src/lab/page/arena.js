// The arena on a canvas: floor, walls, trails, cubes with their names, and the two states of an opened correction.

import { Projection, visibleFaces } from "./projection.js";
import { ROLES, SOURCES } from "./roles.js";
import { colours, fitCanvas } from "./theme.js";

const EDGE_M = 1;
/** The middle of a cube comes as near to a wall as 10 m from the centre. */
const HALF_M = 10 + EDGE_M / 2;
const WALL_M = 0.8;
/** One column: legend and status then stand in a row above the arena. */
const COMPACT = matchMedia("(max-width: 1199px)");
const TRAIL_FRAMES = 75;
/** Whose ways are drawn in which scene, and how; those of all others, or the person's own. */
const TRAILS = {
  prediction: { local: [], client: [], server: [5, 4] },
  remote: { client: [], other: [], server: [5, 4] },
};
const SHADE = { top: 1, side: 0.72, front: 0.84 };

/** The middle of a cube: `position` is where it stands. */
function middle([x, y, z]) {
  return [x, y + EDGE_M / 2, z];
}

export class Arena {
  constructor(canvas, legend) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.legend = legend;
    this.fit();
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  fit() {
    const { width, height } = fitCanvas(this.canvas);
    this.size = { width, height };
    const margin = COMPACT.matches ? { side: 12, top: 62, bottom: 34 } : { side: 24, top: 14, bottom: 26 };
    const box = { x: margin.side, y: margin.top, width: width - 2 * margin.side, height: height - margin.top - margin.bottom };
    this.view = box.width > 0 && box.height > 0 ? new Projection(box, HALF_M, WALL_M) : null;
  }

  /** Draws `frames[at]` with the trails of those before it; `opened` is a correction whose card is open, or null. */
  draw(frames, at, opened) {
    if (!this.view) return;
    this.context.clearRect(0, 0, this.size.width, this.size.height);
    this.floor();
    const frame = frames[at];
    if (!frame) return;
    const cubes = this.cubesOf(frame);
    for (const { role, id } of cubes) {
      const dash = TRAILS[this.legend.scene][role];
      if (dash) this.trail(frames, at, { role, id }, dash);
    }
    const kindOf = (cube) => ROLES.find((kind) => kind.role === cube.role);
    const order = cubes.filter(kindOf).sort((a, b) => ROLES.indexOf(kindOf(a)) - ROLES.indexOf(kindOf(b)));
    for (const cube of order) this.shadow(cube.position);
    if (this.legend.scene === "remote") this.lateness(cubes);
    for (const cube of order) this.cube(cube.position, { ...kindOf(cube), ...(cube.role === "other" ? SOURCES[cube.source] : null) });
    for (const cube of order) this.label(cube, kindOf(cube));
    if (opened) this.correction(opened);
  }

  /** What is drawn of a frame: in the scene of remote players the others alone and the person's own cube, in the other one
   *  of server and snapshot the person's own alone. */
  cubesOf(frame) {
    const remote = this.legend.scene === "remote";
    const mine = frame.cubes.find(({ role }) => role === "client")?.id;
    const belongs = ({ role, id }) => (role === "server" || role === "ghost" ? (id !== mine) === remote : true);
    return frame.cubes.filter((cube) => this.legend.draws(cube.role) && belongs(cube));
  }

  /** A line from each other player as shown to where they are by now. */
  lateness(cubes) {
    const c = this.context;
    c.strokeStyle = colours.server;
    c.lineWidth = 1;
    c.globalAlpha = 0.55;
    for (const truth of cubes.filter(({ role }) => role === "server")) {
      const shown = cubes.find(({ role, id }) => role === "other" && id === truth.id);
      if (!shown) continue;
      this.path([middle(shown.position), middle(truth.position)], false);
      c.stroke();
    }
    c.globalAlpha = 1;
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
    for (let m = -10; m <= 10; m += 2) {
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
    this.scale();
  }

  scale() {
    const c = this.context;
    c.fillStyle = colours.muted;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const m of [-10, -5, 0, 5, 10]) {
      const [x, y] = this.view.point([m, 0, -HALF_M]);
      c.fillText(m === 10 ? "10 m" : String(m).replace("-", "\u2212"), x, y + 4);
    }
  }

  trail(frames, at, { role, id }, dash) {
    const c = this.context;
    c.strokeStyle = colours[role];
    c.lineWidth = 1.5;
    c.globalAlpha = 0.45;
    c.setLineDash(dash);
    c.beginPath();
    let before = null;
    for (let i = Math.max(0, at - TRAIL_FRAMES); i <= at; i += 1) {
      const cube = frames[i].cubes.find((cube) => cube.role === role && cube.id === id);
      if (!cube) continue;
      const [x, , z] = cube.position;
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

  cube(position, { role, dash, fill, crossed, ringed }) {
    const c = this.context;
    const colour = colours[role];
    c.lineJoin = "round";
    for (const face of visibleFaces(middle(position), EDGE_M)) {
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

  /** The cube's name beside it, on a short line, so that names stay apart when cubes coincide; its height when it jumps. */
  label(cube, { role, name, label: [dx, dy] }) {
    const remote = this.legend.scene === "remote";
    if (remote && (role === "server" || role === "ghost")) return;
    const { position } = cube;
    const c = this.context;
    const [x, y] = this.view.point(middle(position));
    const pixels = this.view.scale / this.view.depth(position);
    const from = [x + dx * 0.45 * pixels, y + dy * 0.45 * pixels];
    const to = [x + dx * pixels, y + dy * pixels];
    c.strokeStyle = colours[role];
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(...from);
    c.lineTo(...to);
    c.stroke();
    const tall = position[1] > 0.05 && role === "client" ? ` ${position[1].toFixed(1)} m up` : "";
    const text = this.nameOf(cube, remote ? { other: `player ${cube.id}`, client: "you" }[role] : name) + tall;
    c.font = "600 11px system-ui, sans-serif";
    c.textAlign = dx > 0.1 ? "left" : dx < -0.1 ? "right" : "center";
    c.textBaseline = dy > 0 ? "top" : "bottom";
    // Within the canvas.
    const wide = c.measureText(text).width;
    const before = { left: 0, right: wide, center: wide / 2 }[c.textAlign];
    to[0] = Math.min(Math.max(to[0], before + 2), this.size.width - wide + before - 2);
    c.lineWidth = 3;
    c.strokeStyle = colours.panel;
    c.strokeText(text, ...to);
    c.fillStyle = colours[role];
    c.fillText(text, ...to);
  }

  /** A name, with how another player is guessed, and how far. */
  nameOf({ role, source, beyond_ms }, name) {
    if (role === "other" && source === "predicted") return `${name}, predicted`;
    if (source === "extrapolated") return `${name}, +${Math.round(beyond_ms)} ms`;
    return source === "held" ? `${name}, held` : name;
  }

  /** What was predicted (ring) and what was confirmed (disc) of an opened correction of a position. */
  correction({ field, predicted, confirmed }) {
    if (field !== "position" || predicted?.length !== 3 || confirmed?.length !== 3) return;
    const c = this.context;
    const [a, b] = [this.view.point(middle(predicted)), this.view.point(middle(confirmed))];
    c.strokeStyle = colours.text;
    c.fillStyle = colours.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(...a);
    c.lineTo(...b);
    c.stroke();
    for (const [[x, y], full] of [[a, false], [b, true]]) {
      c.beginPath();
      c.arc(x, y, 4.5, 0, 2 * Math.PI);
      c.fillStyle = full ? colours.text : colours.floor;
      c.fill();
      c.stroke();
    }
    c.fillStyle = colours.text;
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    // Their names below the lower one, where no cube's own name stands.
    const pixels = this.view.scale / this.view.depth(middle(confirmed));
    const x = Math.min(Math.max((a[0] + b[0]) / 2, 48), this.size.width - 48);
    const y = Math.max(a[1], b[1]) + 1.15 * pixels + 14;
    c.textAlign = "center";
    c.lineWidth = 3;
    c.strokeStyle = colours.floor;
    ["\u25cb predicted", "\u25cf confirmed"].forEach((text, i) => {
      c.strokeText(text, x, y + 14 * i);
      c.fillText(text, x, y + 14 * i);
    });
  }
}
