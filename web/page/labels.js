// Names over what they name: pushed apart where they would lie on each other, left out where there is no room.

/** As far up as a name goes to find room, in its own heights. */
const STEPS = 3;
const APART_PX = 2;

/**
 * Where names are written: `labels` = [{text, x, y, width, height}], the most important first, x their middle and y their
 * foot. Those that find room, as [{...label, left, top}] within the picture of this size, beside the boxes that are `taken`.
 * What is outside of the picture has no name in it.
 */
export function placed(labels, { width, height }, taken) {
  const there = [];
  for (const label of labels) {
    const isSeen = label.x >= 0 && label.x <= width && label.y >= -label.height && label.y <= height + label.height;
    if (!isSeen) continue;
    const left = clamp(label.x - label.width / 2, 0, width - label.width);
    for (let step = 0; step < STEPS; step += 1) {
      const top = clamp(label.y - label.height - step * (label.height + APART_PX), 0, height - label.height);
      const box = { ...label, left, top };
      if ([...taken, ...there].some((other) => overlap(box, other))) continue;
      there.push(box);
      break;
    }
  }
  return there;
}

function clamp(value, least, most) {
  return Math.max(least, Math.min(value, most));
}

function overlap(a, b) {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}
