// The smallest page that plays: cubes on a canvas, and the numbers below it.
const KEYS = { ArrowUp: 1, KeyW: 1, ArrowDown: 2, KeyS: 2, ArrowLeft: 4, KeyA: 4, ArrowRight: 8, KeyD: 8, Space: 16 };
const COLOURS = { local: "green", client: "royalblue", server: "crimson", ghost: "lightskyblue", other: "orange" };
const lab = (window.foretell = { frames: [], corrections: [], settings: {}, seed: null });
const held = new Set();
const canvas = document.getElementById("arena");
const socket = new WebSocket(`ws://${location.host}/ws`);
let waiting = false;

addEventListener("keydown", (event) => {
  if (KEYS[event.code]) { held.add(KEYS[event.code]); event.preventDefault(); }
});
addEventListener("keyup", (event) => held.delete(KEYS[event.code]));
addEventListener("blur", () => held.clear());

function draw(frame) {
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, 640, 640);
  for (const { role, position: [x, y, z] } of frame.cubes) {
    context.strokeStyle = COLOURS[role];
    context.strokeRect((x + 10.5) * 30, (10.5 - z - y) * 30, 30, 30);
  }
  document.getElementById("now").textContent = JSON.stringify({ state: frame.state, tick: frame.tick, ...frame.now }, null, 1);
}

socket.addEventListener("open", () => {
  socket.send(JSON.stringify({ type: "start", seed: 42, settings: null, link: location.hash.slice(1) || null }));
});
socket.addEventListener("message", ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "ready") Object.assign(lab, { frames: [], corrections: [], settings: message.settings, seed: message.seed });
  if (message.type === "frames") {
    waiting = false;
    lab.frames = lab.frames.concat(message.frames).slice(-1200);
    for (const frame of message.frames) lab.corrections.push(...frame.corrections);
    draw(message.frames.at(-1));
  }
});
function tick() {
  requestAnimationFrame(tick);
  if (waiting || socket.readyState !== WebSocket.OPEN) return;
  waiting = true;
  socket.send(JSON.stringify({ type: "frames", count: 1, keys: [...held].reduce((a, b) => a | b, 0) }));
}
tick();
