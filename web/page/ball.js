// The ball: a disc with spots that turn as it rolls.

import { colours } from "./theme.js";

export const RADIUS_M = 0.6;
/** Where the spots are, on a ball of radius 1. */
const SPOTS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
/** The share of the radius that a spot has for its own. */
const SPOT = 0.3;
const SPOT_COLOUR = "#5a4308";
/** Who is further off than this in one frame was not rolled there. */
const JUMP_M = 2;

export class Ball {
  constructor() {
    this.spots = SPOTS;
    this.at = null;
  }

  /** Draws it by `view` on `c` where it stands. */
  draw(c, view, [x, y, z], faded) {
    this.roll(x, z);
    const middle = [x, y + RADIUS_M, z];
    const [px, py] = view.point(middle);
    const radius = (view.scale * RADIUS_M) / view.depth(middle);
    const [sx, sy] = view.point([x, 0, z]);
    c.globalAlpha = 0.12;
    c.beginPath();
    c.ellipse(sx, sy, radius, radius * view.sin, 0, 0, 2 * Math.PI);
    c.fillStyle = "#000";
    c.fill();
    c.globalAlpha = faded ? 0.35 : 1;
    c.beginPath();
    c.arc(px, py, radius, 0, 2 * Math.PI);
    c.fillStyle = colours.other;
    c.fill();
    c.save();
    c.clip();
    c.fillStyle = SPOT_COLOUR;
    for (const [sx, sy, sz] of this.spots) {
      const towards = sy * view.sin - sz * view.cos;
      if (towards <= 0) continue;
      const up = sy * view.cos + sz * view.sin;
      c.beginPath();
      c.ellipse(px + sx * radius, py - up * radius, radius * SPOT, radius * SPOT * Math.max(0.25, towards), Math.atan2(-up, sx) + Math.PI / 2, 0, 2 * Math.PI);
      c.fill();
    }
    c.restore();
    c.beginPath();
    c.arc(px, py, radius, 0, 2 * Math.PI);
    c.lineWidth = 1.5;
    c.strokeStyle = SPOT_COLOUR;
    c.stroke();
    c.globalAlpha = 1;
  }

  /** Turns the spots by the way to [x, z]. */
  roll(x, z) {
    const [dx, dz] = this.at ? [x - this.at[0], z - this.at[1]] : [0, 0];
    this.at = [x, z];
    const way = Math.hypot(dx, dz);
    if (way === 0 || way > JUMP_M) return;
    const [ux, uz] = [dx / way, dz / way];
    const [sin, cos] = [Math.sin(way / RADIUS_M), Math.cos(way / RADIUS_M)];
    this.spots = this.spots.map(([sx, sy, sz]) => {
      const along = sx * ux + sz * uz;
      const [ahead, up] = [along * cos + sy * sin, sy * cos - along * sin];
      return [sx + (ahead - along) * ux, up, sz + (ahead - along) * uz];
    });
  }
}
