// The room in 3D: the floor, low walls, cubes that lie in it and the names of players, from a camera that follows the own
// cube. What is drawn in it, and where, others say. Places are the picture's: its z comes towards the one who looks.

import { element } from "./element.js";
import { lookingAt, orthographic, perspective, product, seen, unit } from "./matrix.js";
import { Solids } from "./solids.js";
import { colours } from "./theme.js";

/** Half an edge of a player's cube, and of one of the field. */
export const HALF_M = { driver: 0.5, small: 0.2 };
const ROOM_M = 10;
const WALL_M = 0.35;
const SUN = unit([-0.5, 1, 0.5]);
const ANGLE = (34 * Math.PI) / 180;
/** From what is looked at to the camera, in metres, where the picture is wide; and how far above the floor is looked. */
const BACK = [0, 7.6, 9.6];
const LOOK_M = 0.3;
/** The camera comes nearer to its place by this share per second, to the power of e; it never goes further than so, and
 *  least far to where there is only wall. */
const FOLLOW_PER_S = 5;
const FARTHEST_M = { x: [-6.5, 6.5], z: [-4.5, 8.4] };
const UPRIGHT = [0, 0, 0, 1];
const MARK_M = 0.09;

export class Hall {
  /** The camera stands `far` times as far off as suits a small picture. */
  constructor(canvas, far = 1) {
    Object.assign(this, { canvas, far, at: [0, 0], time_s: null });
    this.labels = new Map();
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (this.gl) this.solids = new Solids(this.gl);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.solids = new Solids(this.gl); });
  }

  /** Gives the graphics card back what it holds. */
  dispose() {
    this.solids = null;
    this.gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Whether there is anything to draw on now. */
  isReady() {
    if (!this.gl) this.excuse();
    return Boolean(this.gl && this.solids) && this.fit();
  }

  /** As many pixels as the screen has, up to two for one of the style; whether there are any. */
  fit() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    this.size = { width, height, ratio };
    return w > 0 && h > 0;
  }

  /** The camera follows the own cube on the floor alone, by time and not by frame, and never turns: that is what makes sick. */
  follow([x, , z], time_s) {
    const goal = [[x, FARTHEST_M.x], [z, FARTHEST_M.z]].map(([lane, [least, most]]) => Math.min(Math.max(lane * 0.85, least), most));
    const passed = this.time_s === null ? Infinity : Math.abs(time_s - this.time_s);
    const share = passed > 1 ? 1 : 1 - Math.exp(-FOLLOW_PER_S * passed);
    this.at = this.at.map((lane, i) => lane + (goal[i] - lane) * share);
    this.time_s = time_s;
  }

  view() {
    const { width, height } = this.size;
    // A narrow picture is looked at from further away.
    const far = Math.max(this.far, Math.min(1.9, 1.25 / (width / height)));
    const at = [this.at[0], LOOK_M, this.at[1] - 1.1];
    const eye = at.map((lane, i) => lane + BACK[i] * far);
    return { eye, camera: product(perspective(ANGLE, width / height, 1, 90), lookingAt(eye, at)) };
  }

  /** The room as the camera sees it, with these cubes, and marks on the floor; what comes after is drawn over it. */
  furnish({ camera, eye }, cubes, marks) {
    const solid = [...this.walls(), ...cubes];
    const sunlight = product(orthographic(15, 1, 45), lookingAt(SUN.map((lane) => lane * 22), [0, 0, 0]));
    const light = { camera, sunlight, sun: SUN };
    this.solids.begin({ casters: solid, sunlight, background: rgb(colours.panel) });
    this.solids.floor({ ...light, half_m: ROOM_M, ground: rgb(colours.floor), grid: rgb(colours.grid), shade: isDark() ? 0.55 : 0.34 });
    this.solids.flat("contact", { camera, strength: isDark() ? 1.3 : 0.8 }, cubes, true);
    this.solids.flat("contact", { camera, strength: isDark() ? 1.6 : 0.8 }, marks, true);
    this.solids.draw("body", { ...light, eye }, solid);
  }

  walls() {
    const colour = [...mixed(rgb(colours.wall), rgb(colours.floor), 0.55), 1];
    const half = WALL_M / 2;
    const [out, long] = [ROOM_M + half, ROOM_M + WALL_M];
    const wall = (x, z) => [x * out, half, z * out, ...UPRIGHT, x ? half : long, half, z ? half : long, ...colour];
    return [...wall(-1, 0), ...wall(1, 0), ...wall(0, -1), ...wall(0, 1)];
  }

  /** Who is who: a colour is never the only sign. `players` = [{number, own, place}]. */
  name(players, { camera }) {
    for (const [number, label] of this.labels) {
      if (players.some((player) => player.number === number)) continue;
      label.remove();
      this.labels.delete(number);
    }
    for (const { number, own, place: [x, y, z] } of players) {
      if (!this.labels.has(number)) {
        const label = element("span", "who");
        this.labels.set(number, label);
        this.canvas.parentElement.append(label);
      }
      const label = this.labels.get(number);
      const [right, up] = seen(camera, [x, y + 1.0, z]);
      label.textContent = own ? "you" : `player ${number}`;
      label.dataset.whose = own ? "own" : "other";
      const at = { x: kept(((right + 1) / 2) * this.size.width, 30, this.size.width - 30), y: kept(((1 - up) / 2) * this.size.height, 17, this.size.height) };
      label.style.transform = `translate(-50%, -100%) translate(${at.x}px, ${at.y}px)`;
    }
  }

  excuse() {
    if (this.excused) return;
    this.excused = true;
    this.canvas.parentElement.append(element("p", "excuse", "This browser has no WebGL 2: all but the picture goes on."));
  }
}

/** What is a little beyond an edge stays at it. */
function kept(at, least, most) {
  const inside = Math.min(Math.max(at, least), most);
  return Math.abs(at - inside) < 30 ? inside : at;
}

/** A cube to draw, with so long a half of its edge. */
export function cube(place, rotation, half_m, colour) {
  return [...place, ...rotation, half_m, half_m, half_m, ...colour];
}

/** A small spot on the floor below. */
export function mark([x, , z]) {
  return cube([x, MARK_M, z], UPRIGHT, MARK_M, [0, 0, 0, 1]);
}

/** The colour of a cube that is nobody's, with a share of another in it. */
export function pale(tint, share) {
  const grey = isDark() ? [0.62, 0.65, 0.64] : [0.93, 0.94, 0.94];
  return [...mixed(grey, rgb(tint), share), 1];
}

function mixed(a, b, share) {
  return a.map((lane, i) => lane + (b[i] - lane) * share);
}

/** A colour of the style as three numbers from 0 to 1. */
export function rgb(text) {
  const digits = text.length === 4 ? [...text.slice(1)].map((digit) => digit + digit) : text.slice(1).match(/../g);
  return digits.map((pair) => parseInt(pair, 16) / 255);
}

/** Whether the page is in its dark colours. */
function isDark() {
  return rgb(colours.panel)[0] < 0.5;
}
