// The page of a dedicated server: asks to join, then in each animation frame hands the keys to the player of the wasm module
// and draws what that shows. Everything of the game and of the network is in the module, of which there is one for each game.
// A server that was started again may have other certificates and keys: then the page asks to join once more.

import { Hint } from "./hint.js";
import { Input } from "./input.js";
import { Marks } from "./marks.js";
import { Network } from "./network.js";
import { Retry } from "./retry.js";
import { Roster } from "./roster.js";
import { Thumb } from "./thumb.js";

const $ = (id) => document.getElementById(id);
/** Addresses that lead to the machine that asks. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** How often the words and figures beside the room are renewed. */
const TOLD_MS = 250;
/** How often it is looked whether another server is there, while nothing is heard of the own one; and how long for an answer. */
const LOOK_MS = 1000;
const ANSWER_MS = 3000;
/** A tab that is not seen has no frames; the player stands there meanwhile, and keeps the place. */
const UNSEEN_MS = 250;

/** What draws a game, and what is seen there. */
const GAMES = {
  arena: { drawn: () => import("./arena.js"), seen: "the room with all cubes" },
  pile: { drawn: () => import("./pile.js"), seen: "the room with the pile, and all players' cubes in it" },
};

const hint = new Hint($("hint"), $("keycaps"));
const network = new Network();
const input = new Input({ caps: $("keycaps"), stick: $("stick"), knob: $("knob"), jump: $("jump"), onFirst });
new Thumb($("room"), input);
const marks = new Marks();
const roster = new Roster($("players"));
/** For the tests and the curious: what was drawn last, and for each reason how many cubes were corrected until now. */
const shown = { frame: 0, at: 0, cubes: [], confirmed: null, marks: [], taken: [], figures: {}, reasons: {}, picture: null };
window.foretell = shown;

let game = null;
/** What is played, once the server has said so: the module's class, its picture, and how many numbers there are for each cube. */
let played = null;
/** The invitation by which this page plays. */
let invited = null;
let told = { at: 0, bytes: null };
/** The mark whose reason is shown, or none. */
let explained = null;

async function ask(path, options) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(ANSWER_MS), ...options });
  if (!answer.ok) {
    const waitMs = 1000 * Number(answer.headers.get("retry-after")) || 0;
    throw Object.assign(new Error((await answer.text()).trim()), { waitMs });
  }
  return answer.json();
}

/** Something was pressed for the first time. */
function onFirst() {
  hint.use();
  network.suggest();
}

/** What the server tells whoever may join: its address, and a token if it gives them to guests. */
const invitation = () => ask("join", { method: "POST" });

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
  played = { Game: module.Game, picture: (shown.picture = new Picture($("room"))), fields: module.Game.fields() };
}

async function join() {
  say("joining", "Joining.");
  invited = await invitation();
  await load(invited.game);
  game = await played.Game.join(invited.url, invited.token ?? (await askForToken()));
  network.attach(game);
  requestAnimationFrame(frame);
}

/** The hashes of the certificates in an address; an empty one where an authority has signed them. */
const hashesOf = (url) => new URL(url).hash.slice(1).split(".");
/** Whether a server at `url` can be none that this page knows: it has none of the certificates. An authority's is any of its own. */
const isStrange = (url) => !hashesOf(url).some((hash) => hashesOf(invited.url).includes(hash));

/** Whether the server that is there now is to be joined anew, by the state of the game. Else its ticket leads there. */
const NEEDS = {
  trouble: (there) => isStrange(there.url),
  rejoining: (there) => isStrange(there.url),
  gone: () => true,
  outdated: (there) => there.page !== invited.page,
};

let looking = false;
const retry = new Retry();
/** Whether nobody was there when it was looked last. Chromium makes a WebTransport wait the longer the more have failed before it, so
 * none is tried meanwhile. */
let isDeserted = false;
const { WebTransport } = globalThis;
if (WebTransport) {
  globalThis.WebTransport = class extends WebTransport {
    constructor(...of) {
      if (isDeserted) throw new Error("nobody is there");
      super(...of);
    }
  };
}

/** What the server says that is there now. */
async function askWhoIsThere() {
  try {
    const there = await ask("server");
    isDeserted = false;
    return there;
  } catch (error) {
    isDeserted = true;
    throw error;
  }
}

/** While nothing is heard of the server: whether there is another one, and if so joins that. */
async function look() {
  const needs = game && NEEDS[game.state()];
  if (!needs || looking || !retry.isDue(performance.now())) return;
  looking = true;
  try {
    if (needs(await askWhoIsThere())) {
      retry.begin(performance.now());
      await comeBack();
      retry.succeed();
    }
  } catch (error) {
    // Nobody is there yet, or takes anybody: it is looked again.
    retry.putOff(performance.now(), error.waitMs ?? 0);
  } finally {
    looking = false;
  }
}

async function comeBack() {
  const next = await invitation();
  // Another page comes with it.
  if (next.page !== invited.page || next.game !== invited.game) return location.reload();
  const former = game;
  game = await played.Game.join(next.url, next.token ?? (await askForToken()));
  [invited, told] = [next, { at: 0, bytes: null }];
  network.attach(game);
  former.leave();
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

/** What was corrected in the last frame. */
function corrected() {
  const own = shown.cubes.find((cube) => cube.own)?.number;
  return game.corrections().map((made) => {
    const { number, x, z, metres, why } = made;
    made.free();
    return { number, own: number === own, x, z, metres, why };
  });
}

/** Where the server has had the own cube, if that is to be seen. */
function confirmed() {
  const place = $("ghost").checked ? game.confirmed() : [];
  return place.length ? [...place] : null;
}

function frame(now) {
  if (!game) return;
  const keys = input.keys.keys;
  shown.cubes = advance(keys);
  shown.frame += 1;
  shown.at = now;
  hint.show(shown.cubes.find(({ own }) => own));
  const corrections = corrected();
  for (const { why } of corrections) shown.reasons[why] = (shown.reasons[why] ?? 0) + 1;
  marks.add(corrections, now);
  if (explained && !marks.has(explained)) hideReason();
  [shown.confirmed, shown.marks, shown.taken] = [confirmed(), marks.seen(now), [roster.box]];
  const state = game.state();
  played.picture.draw(shown.cubes, !["joining", "playing", "trouble"].includes(state), shown);
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
    // The way here, and the wait that makes them move smoothly.
    delay: `${(rtt / 2 + delay).toFixed(0)} ms late`,
    corrections: String(corrections),
    agreed: compared ? `${(Math.floor((agreed / compared) * 1000) / 10).toFixed(1)} %` : "\u2013",
    down: rate(received, receivedBefore),
    up: rate(sent, sentBefore),
  };
  for (const cell of document.querySelectorAll("[data-figure]")) cell.textContent = texts[cell.dataset.figure];
  told = { at: now, bytes: [received, sent] };
  roster.show(shown.cubes);
}

/** Says why there was a correction where `event` points at, if one was. */
function explain(event) {
  const box = $("room").getBoundingClientRect();
  const place = (mark) => played.picture.placeOf?.(mark) ?? [NaN, NaN];
  const found = played && marks.reason([event.clientX - box.left, event.clientY - box.top], place);
  if (!found) return hideReason();
  explained = found.mark;
  $("reason").hidden = false;
  $("reason").textContent = found.text;
  $("reason").style.setProperty("--x", `${found.at[0]}px`);
  $("reason").style.setProperty("--y", `${found.at[1]}px`);
}

function hideReason() {
  explained = null;
  $("reason").hidden = true;
}

for (const name of ["pointermove", "pointerdown"]) $("room").addEventListener(name, explain);
// A finger leaves when it is lifted, and then it is read.
$("room").addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && hideReason());
// What was pressed by mouse or finger gives the keys back to the cube.
addEventListener("pointerup", ({ target }) => target.matches?.("input[type=range]") && target.blur());
addEventListener("click", ({ detail, target }) => detail > 0 && target.closest?.("button, a, summary, [type=checkbox]") && document.activeElement.blur());
if (!LOOPBACK.test(location.hostname)) {
  $("own-address").textContent = location.href;
  $("address").hidden = false;
}
setInterval(look, LOOK_MS);
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
