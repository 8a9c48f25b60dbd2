// The page of a dedicated server: asks to join, then in each animation frame hands the keys to the player of the wasm module
// and draws what that shows. Everything of the game and of the network is in the module.

import start, { Game } from "./foretell_web.js";
import { Cubes, toneOf } from "./cubes.js";
import { Input } from "./input.js";

const $ = (id) => document.getElementById(id);
/** How often the words and figures beside the room are renewed. */
const TOLD_MS = 250;
/** A tab that is not seen has no frames; the player stands there meanwhile, and keeps the place. */
const UNSEEN_MS = 250;

const cubes = new Cubes($("arena"));
const input = new Input({ caps: $("keycaps"), stick: $("stick"), knob: $("knob"), jump: $("jump") });
/** For the tests and the curious: what was drawn last. */
const shown = { frame: 0, at: 0, cubes: [], figures: {} };
window.foretell = shown;

let game = null;
let told = { at: 0, bytes: null };

/** What the server tells whoever may join: its address, and a token if it gives them to guests. */
async function invitation() {
  const answer = await fetch("join", { method: "POST" });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

/** The token of a player who brings one. */
function askForToken() {
  const form = $("token-form");
  form.hidden = false;
  $("token").focus();
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      form.hidden = true;
      resolve($("token").value);
      $("token").value = "";
    }, { once: true });
  });
}

function say(state, sentence) {
  document.body.dataset.state = state;
  if ($("status").textContent !== sentence) $("status").textContent = sentence;
}

async function join() {
  say("joining", "Joining.");
  await start({ module_or_path: "foretell_web_bg.wasm" });
  const { url, token } = await invitation();
  game = await Game.join(url, token ?? (await askForToken()));
  requestAnimationFrame(frame);
}

/** The cubes of a frame, from the numbers of the module. */
function read(numbers) {
  const size = Game.fields();
  return Array.from({ length: numbers.length / size }, (_, i) => {
    const [number, own, x, y, z, beyondMs] = numbers.subarray(i * size, (i + 1) * size);
    return { number, own: own === 1, position: [x, y, z], beyondMs };
  });
}

function advance(keys) {
  const numbers = game.frame(keys);
  if (game.has_ticked()) input.sent();
  return read(numbers);
}

function frame(now) {
  if (!game) return;
  const keys = input.keys.keys;
  shown.cubes = advance(keys);
  shown.frame += 1;
  shown.at = now;
  const state = game.state();
  cubes.draw(shown.cubes, state === "over" || state === "rejoining");
  input.show(keys);
  if (now - told.at >= TOLD_MS || state !== document.body.dataset.state) tell(now, state);
  requestAnimationFrame(frame);
}

/** Words and figures. */
function tell(now, state) {
  say(state, game.sentence());
  const [rtt, lead, delay, corrections, resyncs, received, sent] = game.figures();
  const seconds = (now - told.at) / 1000;
  const rate = (bytes, before) => `${((bytes - before) / seconds / 1000).toFixed(1)} kB/s`;
  const [receivedBefore, sentBefore] = told.bytes ?? [received, sent];
  shown.figures = { rtt, lead, delay, corrections, resyncs, received, sent };
  const texts = {
    rtt: `${rtt.toFixed(0)} ms`,
    lead: `${lead.toFixed(0)} ms`,
    delay: `\u2212${delay.toFixed(0)} ms`,
    corrections: String(corrections),
    down: rate(received, receivedBefore),
    up: rate(sent, sentBefore),
  };
  for (const cell of document.querySelectorAll("[data-figure]")) cell.textContent = texts[cell.dataset.figure];
  told = { at: now, bytes: [received, sent] };
  list();
}

/** Who is here. */
function list() {
  const players = [...shown.cubes].sort((a, b) => a.number - b.number);
  const names = players.map(({ number, own }) => (own ? `player ${number}, you` : `player ${number}`));
  if ($("players").textContent === names.join("")) return;
  $("players").replaceChildren(...players.map(({ number }, i) => {
    const [row, colour] = [document.createElement("li"), document.createElement("i")];
    colour.style.background = toneOf(number);
    row.append(colour, names[i]);
    return row;
  }));
}

setInterval(() => document.hidden && game && advance(0), UNSEEN_MS);
addEventListener("pagehide", () => {
  game?.leave();
  game = null;
});
// A page that comes out of the browser's cache has said good-bye: it begins anew.
addEventListener("pageshow", (event) => event.persisted && location.reload());

join().catch((error) => {
  const insecure = window.isSecureContext ? "" : " Browsers let only pages join that come by https, or from this machine.";
  say("over", `Not joined: ${error.message ?? error}.${insecure}`.replace("..", "."));
});
