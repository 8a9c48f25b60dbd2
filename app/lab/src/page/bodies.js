// Rigid bodies by frame: the program tells only of those that are elsewhere than before; this puts them together again, for
// the newest frame and for those that are looked back on.

import { HALF_M } from "./hall.js";

/** Numbers in a row: number, place in mm, x, y and z of the rotation, and how it comes to be there. */
const ROW = 8;
const PER_ONE = 32767;
/** How a body is that is gone. */
const GONE = -1;
/** Of so many frames one is kept whole. */
const KEY_FRAMES = 60;
const LISTS = ["client", "server", "ghost"];
/** Below it are the numbers of players. */
const FIRST_SMALL = 256;

function rowsOf(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

function apply(lists, told) {
  if (told.whole) for (const name of LISTS) lists[name].clear();
  for (const name of LISTS) {
    const rows = told[name];
    for (let i = 0; i < rows.length; i += ROW) {
      if (rows[i + 7] === GONE) lists[name].delete(rows[i]);
      else lists[name].set(rows[i], rows.subarray(i, i + ROW));
    }
  }
}

const empty = () => Object.fromEntries(LISTS.map((name) => [name, new Map()]));
const copy = (lists) => Object.fromEntries(LISTS.map((name) => [name, new Map(lists[name])]));

/** What the lanes of a run have shown; what it has read of a frame stands in the frame's lanes from then on. */
export class Bodies {
  constructor() {
    this.newest = new Map();
    this.count = 0;
  }

  /** Another run begins. */
  clear() {
    this.newest.clear();
  }

  /** Reads what a frame tells, once. */
  take({ lanes }) {
    for (const lane of lanes.lanes) {
      if (!lane.bodies) continue;
      const { own, whole, corrected } = lane.bodies;
      const told = { own, whole, corrected: rowsOf(corrected), ...Object.fromEntries(LISTS.map((name) => [name, rowsOf(lane.bodies[name])])) };
      if (!this.newest.has(lane.name)) this.newest.set(lane.name, empty());
      const lists = this.newest.get(lane.name);
      apply(lists, told);
      told.key = whole || this.count % KEY_FRAMES === 0 ? copy(lists) : null;
      lane.bodies = told;
    }
    this.count += 1;
  }

  /** `next` becomes the first frame that is kept: it takes over all of `first` that still holds. */
  follow(first, next) {
    for (const { name, bodies } of next.lanes?.lanes ?? []) {
      const key = first.lanes?.lanes.find((lane) => lane.name === name)?.bodies?.key;
      if (!key || !bodies || bodies.key) continue;
      apply(key, bodies);
      bodies.key = key;
    }
  }

  /** The bodies of a lane in `frames[at]`: a map by number for each list. */
  at(frames, at, name) {
    if (at === frames.length - 1) return this.newest.get(name) ?? empty();
    const told = (i) => frames[i]?.lanes?.lanes.find((lane) => lane.name === name)?.bodies;
    let first = at;
    while (first > 0 && told(first) && !told(first).key) first -= 1;
    const key = told(first)?.key;
    const lists = key ? copy(key) : empty();
    for (let i = first + 1; i <= at; i += 1) if (told(i)) apply(lists, told(i));
    return lists;
  }
}

/** The places of a row of a correction: from where, and to where. */
export function corrections(rows) {
  const made = [];
  for (let i = 0; i < rows.length; i += ROW) made.push([place(rows.subarray(i, i + 4)), place(rows.subarray(i + 3, i + 7))]);
  return made;
}

/** The place in a row in metres. The picture's z comes towards the one who looks, the room's goes away. */
export function place(row) {
  return [row[1] / 1000, row[2] / 1000, -row[3] / 1000];
}

/** Its rotation as a unit quaternion: mirrored as its place is. */
export function rotation(row) {
  const [x, y, z] = [-row[4] / PER_ONE, -row[5] / PER_ONE, row[6] / PER_ONE];
  return [x, y, z, Math.sqrt(Math.max(0, 1 - x * x - y * y - z * z))];
}

export function isDriver(number) {
  return number < FIRST_SMALL;
}

export function halfOf(number) {
  return isDriver(number) ? HALF_M.driver : HALF_M.small;
}

/** Whether two rows are the same to the eye: within a centimetre, and about two degrees. */
export function coincide(a, b) {
  return b !== undefined && [1, 2, 3].every((i) => Math.abs(a[i] - b[i]) < 10) && [4, 5, 6].every((i) => Math.abs(a[i] - b[i]) < 600);
}
