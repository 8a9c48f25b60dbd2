// 4 × 4 matrices of a camera and of a light: column by column, as WebGL takes them; right-handed, y up.

/** What is in view of a camera with this angle from bottom to top, in radians. */
export function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

/** A box of parallel light, so far to each side. */
export function orthographic(half, near, far) {
  return [1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1];
}

/** From the world to somebody at `eye` who looks at `at`. */
export function lookingAt(eye, at) {
  const back = unit(eye.map((lane, i) => lane - at[i]));
  const right = unit(cross([0, 1, 0], back));
  const up = cross(back, right);
  const axes = [right, up, back];
  return [
    ...[0, 1, 2].flatMap((lane) => [...axes.map((axis) => axis[lane]), 0]),
    ...axes.map((axis) => -dot(axis, eye)), 1,
  ];
}

/** First `b`, then `a`. */
export function product(a, b) {
  const out = new Array(16).fill(0);
  for (let column = 0; column < 4; column += 1) {
    for (let row = 0; row < 4; row += 1) {
      for (let k = 0; k < 4; k += 1) out[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
    }
  }
  return out;
}

/** Where a point is seen: x and y from -1 to 1, and its depth. */
export function seen(matrix, [x, y, z]) {
  const lane = (row) => matrix[row] * x + matrix[4 + row] * y + matrix[8 + row] * z + matrix[12 + row];
  return [lane(0) / lane(3), lane(1) / lane(3), lane(2) / lane(3)];
}

export function unit(v) {
  const length = Math.hypot(...v);
  return v.map((lane) => lane / length);
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
