// The page of a dedicated server: asks to join, then in each animation frame hands the keys to the player of the wasm module
// and draws what that shows. Everything of the game and of the network is in the module, of which there is one for each game.

import { Input } from "./input.js";
import { toneOf } from "./tone.js";

const $ = (id) => document.getElementById(id);
/** How often the words and figures beside the room are renewed. */
const TOLD_MS = 250;
/** A tab that is not seen has no frames; the player stands there meanwhile, and keeps the place. */
const UNSEEN_MS = 250;

/** What draws a game, and what is seen there. */
const GAMES = {
  arena: { drawn: () => import("./arena.js"), seen: "the room with all cubes" },
  pile: { drawn: () => import("./pile.js"), seen: "the room with the pile, and all players' cubes in it" },
};

const input = new Input({ caps: $("keycaps"), stick: $("stick"), knob: $("knob"), jump: $("jump") });
/** For the tests and the curious: what was drawn last. */
const shown = { frame: 0, at: 0, cubes: [], figures: {} };
window.foretell = shown;

let game = null;
/** What is played, once the server has said so: its picture, and how many numbers there are for each cube. */
let played = null;
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

/** Fetches what belongs to the game of this name, and turns the page to it. */
async function load(name) {
  if (!Object.hasOwn(GAMES, name)) throw new Error(`this page does not know the ${name}: build it again`);
  const { drawn, seen } = GAMES[name];
  document.title = `foretell ${name}`;
  $("game").textContent = name;
  $("room").setAttribute("aria-label", seen);
  for (const figure of document.querySelectorAll("[data-only]")) figure.hidden = figure.dataset.only !== name;
  const [{ Picture }, module] = await Promise.all([drawn(), import(`./foretell_${name}.js`)]);
  await module.default({ module_or_path: `foretell_${name}_bg.wasm` });
  played = { picture: new Picture($("room")), fields: module.Game.fields() };
  return module.Game;
}

async function join() {
  say("joining", "Joining.");
  const { url, token, game: name } = await invitation();
  const Game = await load(name);
  game = await Game.join(url, token ?? (await askForToken()));
  requestAnimationFrame(frame);
}

/** The cubes of a frame, from the numbers of the module. */
function read(numbers) {
  const { fields } = played;
  return Array.from({ length: numbers.length / fields }, (_, i) => {
    const [number, own, x, y, z, beyondMs, ...rotation] = numbers.subarray(i * fields, (i + 1) * fields);
    return { number, own: own === 1, position: [x, y, z], beyondMs, rotation };
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
  played.picture.draw(shown.cubes, state === "over" || state === "rejoining");
  input.show(keys);
  if (now - told.at >= TOLD_MS || state !== document.body.dataset.state) tell(now, state);
  requestAnimationFrame(frame);
}

/** Words and figures. */
function tell(now, state) {
  say(state, game.sentence());
  const [rtt, lead, delay, corrections, resyncs, received, sent, agreed, compared] = game.figures();
  const seconds = (now - told.at) / 1000;
  const rate = (bytes, before) => `${((bytes - before) / seconds / 1000).toFixed(1)} kB/s`;
  const [receivedBefore, sentBefore] = told.bytes ?? [received, sent];
  shown.figures = { rtt, lead, delay, corrections, resyncs, received, sent, agreed, compared };
  const texts = {
    rtt: `${rtt.toFixed(0)} ms`,
    lead: `${lead.toFixed(0)} ms`,
    delay: `\u2212${delay.toFixed(0)} ms`,
    corrections: String(corrections),
    agreed: compared ? `${(Math.floor((agreed / compared) * 1000) / 10).toFixed(1)} %` : "\u2013",
    down: rate(received, receivedBefore),
    up: rate(sent, sentBefore),
  };
  for (const cell of document.querySelectorAll("[data-figure]")) cell.textContent = texts[cell.dataset.figure];
  told = { at: now, bytes: [received, sent] };
  list();
}

/** Who is here. */
function list() {
  const players = shown.cubes.filter(({ number }) => number > 0).sort((a, b) => a.number - b.number);
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
