// The picture of a crowd, seen from above: each entity where the client shows it, in the colour of its age, with a line to where it
// is by now; a tint on what is in interest; and of the rest, what the server alone knows, an outline.

import { AGES, coloursOfAges, DART, stepOf } from "./ages.js";
import { colours, fitCanvas } from "./theme.js";

/** Numbers in a row: x and z where it is shown, the same where it is, heading and age. */
const ROW = 6;
const PER_M = 100;
const PER_RAD = 10_000;
/** So many metres to each side of the own entity are in the picture at least. */
const HALF_M = 20;
const GRID_M = 5;
/** Half the length of a dart, and how far the tint goes around it. */
const DART_M = { crowd: 0.62, own: 1 };
const TINT_M = 1.15;
/** No line is drawn to where an entity is that is nearer than this. */
const NEAR_M = 0.3;

function walkersOf(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const numbers = new Int16Array(bytes.buffer);
  const walkers = [];
  for (let i = 0; i < numbers.length; i += ROW) {
    const [x, z, trueX, trueZ] = [0, 1, 2, 3].map((nth) => numbers[i + nth] / PER_M);
    walkers.push({ x, z, trueX, trueZ, heading: numbers[i + 4] / PER_RAD, age_ms: numbers[i + 5] });
  }
  return walkers;
}

/** A crowd as the program tells it: {own, others}, each with x and z in metres, and age_ms, which is negative for what is not told. */
export const crowdOf = ({ own, rows }) => ({ own: walkersOf(own)[0] ?? null, others: walkersOf(rows) });

export class CrowdPicture {
  /** `legend` says which roles are drawn. */
  constructor(canvas, legend) {
    Object.assign(this, { canvas, legend, middle: { x: 0, z: 0 } });
    this.context = canvas.getContext("2d");
    this.fit();
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  fit() {
    this.size = fitCanvas(this.canvas);
    this.scale = Math.min(this.size.width, this.size.height) / (2 * HALF_M);
  }

  /** Draws the lane `name` of `frames[at]`. */
  draw(frames, at, name) {
    const lane = frames[at].lanes.lanes.find((lane) => lane.name === name);
    if (!lane?.crowd || !this.scale) return;
    const { own, others } = crowdOf(lane.crowd);
    if (own) this.middle = own;
    const c = this.context;
    c.clearRect(0, 0, this.size.width, this.size.height);
    this.floor();
    const seen = others.filter((walker) => this.isIn(walker));
    const told = seen.filter(({ age_ms }) => age_ms >= 0);
    if (own && lane.crowd.radius_m) this.reach(own, lane.crowd.radius_m);
    this.tint(told);
    this.untold(seen.filter(({ age_ms }) => age_ms < 0));
    if (this.legend.draws("server")) this.lines(told);
    this.darts(told);
    if (own) this.self(own);
  }

  /** Where a place is on the canvas: seen from above, z comes towards the one who looks. */
  point(x, z) {
    return [this.size.width / 2 + (x - this.middle.x) * this.scale, this.size.height / 2 + (z - this.middle.z) * this.scale];
  }

  isIn({ x, z }) {
    const [across, down] = this.point(x, z);
    const beyond = 2 * this.scale;
    return across > -beyond && down > -beyond && across < this.size.width + beyond && down < this.size.height + beyond;
  }

  floor() {
    const c = this.context;
    const { width, height } = this.size;
    c.fillStyle = colours.floor;
    c.fillRect(0, 0, width, height);
    c.strokeStyle = colours.grid;
    c.lineWidth = 1;
    c.beginPath();
    const [left, top] = [this.middle.x - width / 2 / this.scale, this.middle.z - height / 2 / this.scale];
    for (let m = Math.ceil(left / GRID_M) * GRID_M; this.point(m, 0)[0] < width; m += GRID_M) {
      const x = Math.round(this.point(m, 0)[0]) + 0.5;
      c.moveTo(x, 0);
      c.lineTo(x, height);
    }
    for (let m = Math.ceil(top / GRID_M) * GRID_M; this.point(0, m)[1] < height; m += GRID_M) {
      const y = Math.round(this.point(0, m)[1]) + 0.5;
      c.moveTo(0, y);
      c.lineTo(width, y);
    }
    c.stroke();
  }

  /** How far the interest reaches. */
  reach({ x, z }, radius_m) {
    const c = this.context;
    c.strokeStyle = colours.local;
    c.setLineDash([5, 4]);
    c.beginPath();
    c.arc(...this.point(x, z), radius_m * this.scale, 0, 2 * Math.PI);
    c.stroke();
    c.setLineDash([]);
  }

  /** A tint around all that is in interest, as one area. */
  tint(walkers) {
    const c = this.context;
    const radius = TINT_M * this.scale;
    c.fillStyle = colours.local;
    c.globalAlpha = 0.2;
    c.beginPath();
    for (const { x, z } of walkers) {
      const [across, down] = this.point(x, z);
      c.moveTo(across + radius, down);
      c.arc(across, down, radius, 0, 2 * Math.PI);
    }
    c.fill();
    c.globalAlpha = 1;
  }

  untold(walkers) {
    const c = this.context;
    c.beginPath();
    for (const walker of walkers) this.dart(walker, DART_M.crowd);
    c.strokeStyle = colours.muted;
    c.globalAlpha = 0.55;
    c.lineWidth = 1;
    c.stroke();
    c.globalAlpha = 1;
  }

  /** From where each is shown to where it is. */
  lines(walkers) {
    const c = this.context;
    c.beginPath();
    for (const { x, z, trueX, trueZ } of walkers) {
      if (Math.hypot(trueX - x, trueZ - z) < NEAR_M) continue;
      c.moveTo(...this.point(x, z));
      c.lineTo(...this.point(trueX, trueZ));
    }
    c.strokeStyle = colours.server;
    c.globalAlpha = 0.55;
    c.lineWidth = 1;
    c.stroke();
    c.globalAlpha = 1;
  }

  /** All of an age together: there are hundreds. */
  darts(walkers) {
    const c = this.context;
    coloursOfAges().forEach((colour, step) => {
      c.beginPath();
      for (const walker of walkers) if (stepOf(walker.age_ms) === step) this.dart(walker, DART_M.crowd);
      this.paint(colour, step);
    });
  }

  paint(colour, step) {
    const c = this.context;
    c.fillStyle = colour;
    c.strokeStyle = colour;
    c.globalAlpha = AGES[step].fill;
    c.fill();
    c.globalAlpha = 1;
    c.lineWidth = step < 2 ? 1 : 1.7;
    c.stroke();
  }

  dart({ x, z, heading }, half_m) {
    const [across, down] = this.point(x, z);
    const [cos, sin] = [Math.cos(heading) * half_m * this.scale, Math.sin(heading) * half_m * this.scale];
    const c = this.context;
    DART.forEach(([along, beside], i) => {
      const at = [across + along * cos - beside * sin, down + along * sin + beside * cos];
      if (i === 0) c.moveTo(...at);
      else c.lineTo(...at);
    });
    c.closePath();
  }

  self(own) {
    const c = this.context;
    c.beginPath();
    this.dart(own, DART_M.own);
    c.fillStyle = colours.text;
    c.fill();
    c.font = "600 12px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "bottom";
    const [x, y] = this.point(own.x, own.z);
    const above = y - DART_M.own * this.scale - 3;
    c.lineWidth = 3;
    c.strokeStyle = colours.floor;
    c.strokeText("you", x, above);
    c.fillStyle = colours.text;
    c.fillText("you", x, above);
  }
}
