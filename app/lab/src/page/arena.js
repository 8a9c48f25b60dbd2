// The arena on a canvas: the room with the trails of its cubes, their names, and the two states of an opened correction.

import { ROLES, SOURCES } from "./roles.js";
import { HALF_M, Room, middle } from "./room.js";
import { colours } from "./theme.js";

/** One column: status and clock then lie over the upper and the lower edge of the arena. */
const COMPACT = matchMedia("(max-width: 1199px)");
const TRAIL_FRAMES = 75;
/** The height of a name, in CSS pixels. */
const NAME_PX = 15;
/** Whose ways are drawn in which scene, and how; those of all others, or the person's own. */
const TRAILS = {
  prediction: { local: [], client: [], server: [5, 4] },
  remote: { client: [], other: [], server: [5, 4] },
};

export class Arena extends Room {
  constructor(canvas, legend) {
    super(canvas, HALF_M);
    this.legend = legend;
  }

  box({ width, height }) {
    const margin = COMPACT.matches ? { side: 8, top: 30, bottom: 30 } : { side: 24, top: 14, bottom: 26 };
    return { x: margin.side, y: margin.top, width: width - 2 * margin.side, height: height - margin.top - margin.bottom };
  }

  /** Draws `frames[at]` with the trails of those before it; `opened` is a correction whose card is open, or null; `named` is
   *  whether each cube has its name beside it. */
  draw(frames, at, opened, named = true) {
    if (!this.view) return;
    this.context.clearRect(0, 0, this.size.width, this.size.height);
    this.floor();
    this.scale();
    const frame = frames[at];
    if (!frame) return;
    const cubes = this.cubesOf(frame);
    for (const { role, id } of cubes) {
      const dash = TRAILS[this.legend.scene][role];
      if (dash) this.trail(placesOf(frames, at, { role, id }), { colour: colours[role], dash });
    }
    const kindOf = (cube) => ROLES.find((kind) => kind.role === cube.role);
    const order = cubes.filter(kindOf).sort((a, b) => ROLES.indexOf(kindOf(a)) - ROLES.indexOf(kindOf(b)));
    for (const cube of order) this.shadow(cube.position);
    if (this.legend.scene === "remote") this.lateness(cubes);
    for (const cube of order) this.cube(cube.position, { ...kindOf(cube), ...(cube.role === "other" ? SOURCES[cube.source] : null) });
    const placed = [];
    if (named) for (const cube of order) this.label(cube, kindOf(cube), placed);
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

  scale() {
    const c = this.context;
    c.fillStyle = colours.muted;
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const m of [-10, -5, 0, 5, 10]) {
      const [x, y] = this.view.point([m, 0, -HALF_M]);
      c.fillText(m === 10 ? "10 m" : String(m).replace("-", "\u2212"), x, y + 4);
    }
  }

  /** The cube's name beside it, on a short line, so that names stay apart when cubes coincide; its height when it jumps.
   *  `placed` are the boxes of the names that stand already. */
  label(cube, { role, name, label: [dx, dy] }, placed) {
    const remote = this.legend.scene === "remote";
    if (remote && (role === "server" || role === "ghost")) return;
    const { position } = cube;
    const c = this.context;
    const [x, y] = this.view.point(middle(position));
    const pixels = this.view.scale / this.view.depth(position);
    const tall = position[1] > 0.05 && role === "client" ? ` ${position[1].toFixed(1)} m up` : "";
    const text = this.nameOf(cube, remote ? { other: `player ${cube.id}`, client: "you" }[role] : name) + tall;
    c.font = "600 12px system-ui, sans-serif";
    const wide = c.measureText(text).width;
    const [toX, toY] = [x + dx * pixels, y + dy * pixels];
    const left = toX - (dx > 0.1 ? 0 : dx < -0.1 ? wide : wide / 2);
    const box = this.free({ left, top: dy > 0 ? toY : toY - NAME_PX, wide }, placed);
    placed.push(box);
    c.strokeStyle = colours[role];
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x + dx * 0.45 * pixels, y + dy * 0.45 * pixels);
    c.lineTo(Math.min(Math.max(toX, box.left), box.left + wide), Math.min(Math.max(toY, box.top), box.top + NAME_PX));
    c.stroke();
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.lineWidth = 3;
    c.strokeStyle = colours.panel;
    c.strokeText(text, box.left, box.top + NAME_PX / 2);
    c.fillStyle = colours[role];
    c.fillText(text, box.left, box.top + NAME_PX / 2);
  }

  /** The place for a name nearest to `box` that is within the canvas and covers no other name. */
  free({ left, top, wide }, placed) {
    const { width, height } = this.size;
    const [least, rest] = COMPACT.matches ? [28, 20] : [2, 2];
    const inside = (at) => Math.min(Math.max(at, least), height - NAME_PX - rest);
    const box = { left: Math.min(Math.max(left, 2), width - wide - 2), top: inside(top), wide };
    const covers = (at) => placed.some((other) => at < other.top + NAME_PX && other.top < at + NAME_PX && box.left < other.left + other.wide + 4 && other.left < box.left + wide + 4);
    for (let step = 0; step <= 2 * placed.length + 1; step += 1) {
      for (const at of [box.top - step * NAME_PX, box.top + step * NAME_PX]) {
        if (at === inside(at) && !covers(at)) return { ...box, top: at };
      }
    }
    return box;
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
    c.font = "12px system-ui, sans-serif";
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

/** Where a cube was in the last frames up to `at`. */
function placesOf(frames, at, { role, id }) {
  const recent = frames.slice(Math.max(0, at - TRAIL_FRAMES), at + 1);
  return recent.map((frame) => frame.cubes.find((cube) => cube.role === role && cube.id === id)?.position).filter(Boolean);
}
