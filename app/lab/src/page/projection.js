// A pinhole camera above the near wall: x right, z up the screen, y out of the floor. It fits the arena into the canvas
// and tilts further where the canvas is wide.

const DISTANCE_M = 56;
const STEEP = (66 * Math.PI) / 180;
const FLAT = (36 * Math.PI) / 180;

export class Projection {
  /** Fits a floor of `half` metres to each side, or of [x, z] metres, and `tall` metres of height, into `box` = {x, y, width, height}. */
  constructor(box, half, tall) {
    const [across, deep] = Array.isArray(half) ? half : [half, half];
    const wide = Math.min(1, Math.max(0, ((box.width / box.height) * (deep / across) - 1) / 1.2));
    const pitch = STEEP + (FLAT - STEEP) * wide;
    /** What it looks at: x and z of the middle of the box's floor. */
    this.at = [0, 0];
    this.sin = Math.sin(pitch);
    this.cos = Math.cos(pitch);
    Object.assign(this, { scale: 1, x: 0, y: 0 });
    const corners = [-across, across].flatMap((x) => [-deep, deep].flatMap((z) => [0, tall].map((y) => this.point([x, y, z]))));
    const [xs, ys] = [corners.map((c) => c[0]), corners.map((c) => c[1])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.scale = Math.min(box.width / (right - left), box.height / (bottom - top));
    this.x = box.x + box.width / 2 - (this.scale * (left + right)) / 2;
    this.y = box.y + box.height / 2 - (this.scale * (top + bottom)) / 2;
  }

  /** The point on the canvas where [x, y, z] in metres is seen. */
  point([x, y, z]) {
    const depth = this.depth([x, y, z]);
    const up = y * this.cos + (z - this.at[1]) * this.sin;
    return [this.x + (this.scale * (x - this.at[0])) / depth, this.y - (this.scale * up) / depth];
  }

  /** The distance from the camera along its view; larger is further away. */
  depth([, y, z]) {
    return DISTANCE_M - y * this.sin + (z - this.at[1]) * this.cos;
  }
}

/** The three faces of a cube around `centre` that a camera above x = `eye` sees, further ones first: top, side (or none), front. */
export function visibleFaces([x, y, z], edge, eye = 0) {
  const h = edge / 2;
  const corner = (i, j, k) => [x + i * h, y + j * h, z + k * h];
  const side = x - eye > h ? -1 : x - eye < -h ? 1 : 0;
  const faces = [{ name: "top", corners: [corner(-1, 1, -1), corner(1, 1, -1), corner(1, 1, 1), corner(-1, 1, 1)] }];
  if (side) {
    faces.push({ name: "side", corners: [corner(side, -1, -1), corner(side, 1, -1), corner(side, 1, 1), corner(side, -1, 1)] });
  }
  faces.push({ name: "front", corners: [corner(-1, -1, -1), corner(1, -1, -1), corner(1, 1, -1), corner(-1, 1, -1)] });
  return faces;
}
