// The colours of style.css as canvas drawing needs them, read again when the colour scheme changes.

const NAMES = [
  "page", "panel", "line", "grid", "text", "muted", "floor", "wall",
  "local", "client", "server", "ghost", "other",
  "late", "event", "tolerance", "existence", "resync", "relayed", "others", "off", "unexplained",
];

export const colours = {};
const listeners = [];
const clearedListeners = [];

function read() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
  for (const listener of listeners) listener();
}

/** Calls `listener` after each change of the colours. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** Calls `listener` after a canvas got another size, by which it became empty. */
export function onCleared(listener) {
  clearedListeners.push(listener);
}

/** Sizes the canvas to its box at the screen's own resolution; its context then draws in CSS pixels. */
export function fitCanvas(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const { width, height } = canvas.getBoundingClientRect();
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    for (const listener of clearedListeners) listener();
  }
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  return { width, height };
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);
read();
