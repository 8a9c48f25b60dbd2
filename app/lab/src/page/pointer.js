// What a step of the tour points at in the arena: a bracket from one cube to another, or a ring about one, with a few words.

import { middle } from "./room.js";
import { colours } from "./theme.js";

/** Cubes that are nearer to each other than this have a ring about them, in metres. */
const NEAR_M = 0.5;
const RING_M = 1.05;
const PAD = 6;

/** Draws `pointer` = {from, to, text} over the arena: two cubes of a frame, or one as both. */
export function point(arena, pointer) {
  if (!arena.view || !pointer?.from) return;
  const { from, to = from, text } = pointer;
  const [a, b] = [from, to].map(({ position }) => arena.view.point(middle(position)));
  const apart = Math.hypot(...from.position.map((lane, i) => lane - to.position[i]));
  const c = arena.context;
  c.save();
  c.strokeStyle = colours.late;
  c.lineWidth = 3;
  c.lineCap = "round";
  const anchor = apart < NEAR_M ? ring(arena, from, a) : bracket(c, a, b);
  if (text) bubble(arena, anchor, text);
  c.restore();
}

/** Where its words belong: below it. */
function ring(arena, { position }, [x, y]) {
  const radius = (RING_M * arena.view.scale) / arena.view.depth(position);
  const c = arena.context;
  c.beginPath();
  c.arc(x, y, radius, 0, 2 * Math.PI);
  c.stroke();
  return [x, y + radius];
}

function bracket(c, [ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [nx, ny] = [(-(by - ay) / length) * 7, ((bx - ax) / length) * 7];
  c.beginPath();
  for (const [x, y] of [[ax, ay], [bx, by]]) {
    c.moveTo(x - nx, y - ny);
    c.lineTo(x + nx, y + ny);
  }
  c.moveTo(ax, ay);
  c.lineTo(bx, by);
  c.stroke();
  return [(ax + bx) / 2, Math.max(ay, by) + 26];
}

/** The words in a box, inside of the canvas. */
function bubble({ context: c, size }, [x, y], text) {
  c.font = "600 13px system-ui, sans-serif";
  const wide = c.measureText(text).width + 2 * PAD;
  const left = Math.min(Math.max(x - wide / 2, 4), size.width - wide - 4);
  const top = Math.min(y + 8, size.height - 30);
  c.fillStyle = colours.late;
  c.beginPath();
  c.roundRect(left, top, wide, 22, 5);
  c.fill();
  c.fillStyle = "#18201c";
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillText(text, left + PAD, top + 11.5);
}
