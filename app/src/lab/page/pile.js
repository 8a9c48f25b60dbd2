// The picture of a lane with rigid bodies: its screen in 3D, from a camera that follows its own cube, with the server's
// bodies and the last snapshot's as outlines where they are elsewhere, and a trail for each correction.

import { coincide, corrections, halfOf, isDriver, place, rotation } from "./bodies.js";
import { element } from "./element.js";
import { lookingAt, orthographic, perspective, product, seen, unit } from "./matrix.js";
import { Solids } from "./solids.js";
import { colours } from "./theme.js";

const ROOM_M = 10;
const WALL_M = 0.35;
const SUN = unit([-0.5, 1, 0.5]);
const ANGLE = (34 * Math.PI) / 180;
/** From what is looked at to the camera, in metres, where the picture is wide; and how far above the floor is looked. */
const BACK = [0, 7.6, 9.6];
const LOOK_M = 0.3;
/** The camera comes nearer to its place by this share per second, to the power of e; it never goes further than so, and
 *  least far to where there is only wall. */
const FOLLOW_PER_S = 3.2;
const FARTHEST_M = { x: [-6.5, 6.5], z: [-4.5, 6.5] };
/** Frames after which a trail is gone. */
const TRAIL_FRAMES = 40;
const UPRIGHT = [0, 0, 0, 1];
/** `small` is how much of it is left on small cubes, of which there are many. */
const GHOSTS = { server: { dash: 2.5, wide: 1.3, alpha: 0.95, small: 0.62 }, ghost: { dash: 5, wide: 1.0, alpha: 0.85, small: 0.45 } };

export class PilePicture {
  /** `legend` says which roles are drawn, `bodies` where they are. */
  constructor(canvas, { legend, bodies }) {
    Object.assign(this, { canvas, legend, bodies, at: [0, 0], time_s: null });
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

  /** Draws the lane `name` of `frames[at]`. */
  draw(frames, at, name) {
    if (!this.gl) return this.excuse();
    const lane = frames[at].lanes.lanes.find((lane) => lane.name === name);
    if (!this.solids || !lane?.bodies || !this.fit()) return;
    const { own } = lane.bodies;
    const lists = this.bodies.at(frames, at, name);
    this.follow(lists.client.get(own), frames[at].time_s);
    const view = this.view();
    const shown = this.legend.draws("client") ? [...lists.client.values()] : [];
    const bodies = shown.flatMap((row) => instance(row, tone(row, own)));
    const solid = [...this.walls(), ...bodies];
    const sunlight = product(orthographic(15, 1, 45), lookingAt(SUN.map((lane) => lane * 22), [0, 0, 0]));
    const light = { camera: view.camera, sunlight, sun: SUN };
    this.solids.begin({ casters: solid, sunlight, background: rgb(colours.panel) });
    this.solids.floor({ ...light, half_m: ROOM_M, ground: rgb(colours.floor), grid: rgb(colours.grid), shade: isDark() ? 0.55 : 0.34 });
    this.solids.flat("contact", { camera: view.camera, strength: isDark() ? 1.3 : 0.8 }, bodies);
    this.solids.draw("body", { ...light, eye: view.eye }, solid);
    for (const role of ["ghost", "server"]) this.ghosts(role, lists, view);
    this.trails(frames, at, name, view);
    this.name(lists, own, view);
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
  follow(row, time_s) {
    if (!row) return;
    const [x, , z] = place(row);
    const goal = [[x, FARTHEST_M.x], [z, FARTHEST_M.z]].map(([lane, [least, most]]) => Math.min(Math.max(lane * 0.85, least), most));
    const passed = this.time_s === null ? Infinity : Math.abs(time_s - this.time_s);
    const share = passed > 1 ? 1 : 1 - Math.exp(-FOLLOW_PER_S * passed);
    this.at = this.at.map((lane, i) => lane + (goal[i] - lane) * share);
    this.time_s = time_s;
  }

  view() {
    const { width, height } = this.size;
    // A narrow picture is looked at from further away.
    const far = Math.max(1, Math.min(1.9, 1.25 / (width / height)));
    const at = [this.at[0], LOOK_M, this.at[1] - 1.5];
    const eye = at.map((lane, i) => lane + BACK[i] * far);
    return { eye, camera: product(perspective(ANGLE, width / height, 1, 90), lookingAt(eye, at)) };
  }

  walls() {
    const colour = [...mixed(rgb(colours.wall), rgb(colours.floor), 0.55), 1];
    const half = WALL_M / 2;
    const [out, long] = [ROOM_M + half, ROOM_M + WALL_M];
    const wall = (x, z) => [x * out, half, z * out, ...UPRIGHT, x ? half : long, half, z ? half : long, ...colour];
    return [...wall(-1, 0), ...wall(1, 0), ...wall(0, -1), ...wall(0, 1)];
  }

  /** Outlines of those that are elsewhere than they are shown; of players' cubes always. */
  ghosts(role, lists, { camera }) {
    if (!this.legend.draws(role)) return;
    const { dash, wide, alpha, small } = GHOSTS[role];
    const colour = [...rgb(colours[role]), alpha];
    const rows = [...lists[role].entries()].filter(([number, row]) => isDriver(number) || !coincide(row, lists.client.get(number)));
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

  /** Who is who: a colour is never the only sign. */
  name(lists, own, { camera }) {
    const drivers = [...lists.client.entries()].filter(([number]) => isDriver(number) && this.legend.draws("client"));
    for (const [number, label] of this.labels) if (!drivers.some(([known]) => known === number)) label.hidden = true;
    for (const [number, row] of drivers) {
      if (!this.labels.has(number)) {
        const label = element("span", "who");
        this.labels.set(number, label);
        this.canvas.parentElement.append(label);
      }
      const label = this.labels.get(number);
      const [x, y, z] = place(row);
      const [right, up] = seen(camera, [x, y + 1.0, z]);
      label.hidden = false;
      label.textContent = number === own ? "you" : `player ${number}`;
      label.dataset.whose = number === own ? "own" : "other";
      label.style.transform = `translate(-50%, -100%) translate(${((right + 1) / 2) * this.size.width}px, ${((1 - up) / 2) * this.size.height}px)`;
    }
  }

  excuse() {
    if (this.excused) return;
    this.excused = true;
    this.canvas.parentElement.append(element("p", "excuse", "This browser has no WebGL 2: the numbers and the charts go on without the picture."));
  }
}

function instance(row, colour) {
  const half = halfOf(row[0]);
  return [...place(row), ...rotation(row), half, half, half, ...colour];
}

/** The own cube in the client's colour, another player's in the others', the rest tinted by how they come to be there. */
function tone(row, own) {
  const [number, between] = [row[0], row[7]];
  if (number === own) return [...rgb(colours.client), 1];
  if (isDriver(number)) return [...rgb(colours.other), 1];
  const grey = isDark() ? [0.62, 0.65, 0.64] : [0.93, 0.94, 0.94];
  return [...mixed(grey, rgb(colours[between ? "other" : "client"]), 0.3), 1];
}

function mixed(a, b, share) {
  return a.map((lane, i) => lane + (b[i] - lane) * share);
}

/** A colour of the style as three numbers from 0 to 1. */
function rgb(text) {
  const digits = text.length === 4 ? [...text.slice(1)].map((digit) => digit + digit) : text.slice(1).match(/../g);
  return digits.map((pair) => parseInt(pair, 16) / 255);
}

/** Whether the page is in its dark colours. */
function isDark() {
  return rgb(colours.panel)[0] < 0.5;
}
