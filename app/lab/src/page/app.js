// The lab's page: it joins the parts, and holds what they share.

import { Address } from "./address.js";
import { Arena } from "./arena.js";
import { Card } from "./card.js";
import { ALL_CAUSES, causeIcon } from "./causes.js";
import { Changes } from "./changes.js";
import { Charts } from "./charts.js";
import { Conditions } from "./conditions.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Events } from "./events.js";
import { Headline } from "./headline.js";
import { History } from "./history.js";
import { Input, OF_SECOND } from "./input.js";
import { Lanes } from "./lanes.js";
import { copyText, linkOf } from "./link.js";
import { Log } from "./log.js";
import { Loop } from "./loop.js";
import { Note } from "./note.js";
import { point } from "./pointer.js";
import { Prediction } from "./prediction.js";
import { Readout } from "./readout.js";
import { SETS } from "./questions.js";
import { Legend } from "./roles.js";
import { Shortcuts } from "./shortcuts.js";
import { Scripts } from "./scripts.js";
import { Status } from "./status.js";
import { Tabs } from "./tabs.js";
import { onCleared, onTheme } from "./theme.js";
import { Toolbar } from "./toolbar.js";
import { Tour } from "./tour.js";

const SCENE_KEY = "n";
const SET_KEY = "v";
/** What the charts ask in a scene until something else is chosen. */
const SET_OF = { prediction: "Prediction", remote: "Playout" };
const KEPT_FRAMES = 1200;
const $ = (id) => document.getElementById(id);

const history = new History();
/** What the page offers to tests and the console: the last 1200 frames, and the corrections and marks that are kept. */
const foretell = { frames: [], corrections: history.corrections, marks: history.marks, settings: {}, seed: null, axis: () => charts.axis };
window.foretell = foretell;

let dirty = true;
/** What is set, as the controls show it. */
let chosen = null;

const address = new Address();
const note = new Note($("note"));
const status = new Status($("status"), $("clock"));
const shortcuts = new Shortcuts({ "?": () => help(!shortcuts.open), escape, enter: () => document.activeElement === document.body && prediction.toggle() });
const legend = new Legend($("legend"), () => { dirty = true; });
const arena = new Arena($("arena"), legend);
const headline = new Headline($("headline"));
const readout = new Readout($("now"), $("meaning"));
const card = new Card($("card"), () => select(null));
const log = new Log($("log").querySelector("ol"), select);
const charts = new Charts($("charts"), history, { open: select, moved: () => { dirty = true; } });
const input = new Input({
  caps: $("keycaps"), second: $("second"), stick: $("stick"), knob: $("knob"), jump: $("jump"),
});
const controls = new Controls({
  root: $("controls"), help: $("help"), shortcuts,
  on: {
    set: change,
    preset: (name) => {
      tour.leave("preset");
      connection.send({ type: "preset", name });
    },
  },
});
const happen = (name) => connection.send({ type: "event", name });
const prediction = new Prediction($("prediction"), (on) => change("prediction", on));
const tour = new Tour({
  told: $("told"), bar: $("tour"),
  on: {
    start: (settings) => {
      pause(false);
      begin(null, settings);
    },
    beginning: () => address.settings,
    resume: (beginning) => {
      pause(false);
      resume(beginning);
    },
    happen,
    left: () => address.writeSettings(),
  },
});

const scenes = new Tabs($("scenes"), (name) => change("scene", name));
const sets = new Tabs($("sets"), ask);
const watch = (button, of) => controls.watch(button, of);
const events = new Events($("events"), { shortcuts, watch, run: happen });
const lanes = new Lanes($("lanes"), { legend, watch: (card, lane) => watch(card, () => lane), changed: askOfLanes });
const conditions = new Conditions($("conditions"), $("conditions").querySelector(".buttons"), { watch, set: change });
const scripts = new Scripts($("scripts"), {
  shortcuts,
  watch: (button, script) => watch(button, () => script),
  run: happen,
});

const toolbar = new Toolbar(document, {
  shortcuts,
  on: {
    help: () => help(!shortcuts.open),
    pause: () => pause(!loop.paused),
    step: () => {
      if (!loop.paused) pause(true);
      loop.step();
    },
    live: () => charts.lookAt(Infinity),
    previous: () => selectBeside(-1),
    next: () => selectBeside(1),
    copy: () => connection.send({ type: "link" }),
    restart: (seed) => {
      tour.leave();
      begin(seed, foretell.settings, true);
    },
  },
});

const connection = new Connection({
  greeted: (message) => (address.fragment ? follow(address.fragment) : ready(message)),
  lost: (retryMs) => status.lost(retryMs),
  ready,
  settings: (message) => {
    address.opened = false;
    if (message.restarted) clear();
    takeSettings(message);
  },
  frames: ({ frames, chosen: turned }) => {
    // A run that is replayed turns its controls by itself.
    if (turned) takeSettings(turned);
    frames.forEach(take);
  },
  link: giveLink,
  error: ({ message }) => {
    status.error(message);
    if (chosen) controls.update(chosen, true);
    if (connection.waiting) startAfresh();
  },
});
const changes = new Changes((key, value) => connection.send({ type: "set", key, value }));
const loop = new Loop({ draw, request });

function request(count) {
  if (!connection.idle) return false;
  changes.flush();
  const asked = connection.frames(count, input.keys);
  if (asked) input.sent();
  return asked;
}

/** A control gets another value, by whoever looks. */
function change(key, value) {
  tour.leave(key);
  changes.put(key, value);
}

/** Opens what the address says: a step of the tour, or a link. */
function follow(wanted) {
  const step = Tour.of(wanted);
  if (step) return tour.open(step);
  tour.leave();
  address.open(wanted);
  connection.start(null, null, wanted || null);
}

/** Begins a run of these settings; with the faults of the one before, if asked to. */
function begin(seed, settings, faults = false) {
  address.opened = false;
  connection.start(seed, settings, null, faults);
}

/** Begins a run as one did: with its seed, settings and faults. */
function resume(beginning) {
  address.opened = false;
  connection.start(null, null, beginning || null);
}

/** The opened link was refused: a plain run is better than an empty page. */
function startAfresh() {
  if (address.forget()) connection.start(null, null, null);
}

/** Forgets the run that was: another one begins. */
function clear() {
  history.clear();
  card.close();
  charts.end = null;
  note.clear();
  foretell.frames.length = 0;
  foretell.corrections = history.corrections;
  foretell.marks = history.marks;
  lanes.clear();
}

function ready(message) {
  status.ready();
  clear();
  foretell.seed = message.seed;
  toolbar.showSeed(message.seed);
  scenes.build(message.controls.find(({ key }) => key === "scene").choices.map(({ value, label }) => ({ name: value, label })), SCENE_KEY);
  scripts.ready(message.scripts);
  headline.ready(message.headlines);
  prediction.ready(message.controls);
  controls.ready(message);
  takeSettings(message);
  message.frames.forEach(take);
  dirty = true;
}

/** Turns the page to a scene. */
function turnTo(scene) {
  if (scene === scenes.pressed) return;
  scenes.press(scene);
  document.body.dataset.scene = scene;
  history.turn();
  charts.end = null;
  legend.show(scene);
  input.nameAction(scene === "peek" ? "shoot" : "jump");
  events.show(scene);
  conditions.show(scene);
  const ofLanes = lanes.turnTo(scene);
  document.body.classList.toggle("of-lanes", ofLanes);
  $("log").hidden = ofLanes;
  scripts.show(ofLanes);
  if (ofLanes) {
    card.close();
    note.clear();
  } else {
    readout.ask(scene);
    ask(SET_OF[scene]);
  }
  dirty = true;
}

/** The keys of a second player count where there is one. */
function offerSecond() {
  input.offerSecond(OF_SECOND.scenes.includes(foretell.settings.scene) && foretell.settings.second_player);
}

/** The charts ask what the scene of lanes asks, of those that are shown. */
function askOfLanes() {
  if (!lanes.cards.length) return;
  charts.foremost = lanes.foremost;
  charts.ask(lanes.rows());
}

/** The charts ask the questions of this set. */
function ask(name) {
  sets.press(name);
  charts.ask(SETS.find((set) => set.name === name).rows);
}

/** Keeps the URL current; an opened link stays in it until something is changed, so that a reload plays it again. */
function takeSettings(message) {
  chosen = message;
  foretell.settings = message.settings;
  turnTo(message.settings.scene);
  controls.update(message);
  prediction.show(message.settings);
  headline.show(message.settings);
  tour.offer(prediction.isIn(message.settings.scene));
  offerSecond();
  address.keep(message.fragment, tour.fragment);
}

function take(frame) {
  foretell.frames.push(frame);
  if (lanes.take(frame)) askOfLanes();
  if (foretell.frames.length > KEPT_FRAMES) lanes.drop(foretell.frames.shift(), foretell.frames[0]);
  history.add(frame);
  tour.take(frame);
  const found = tour.finds(history);
  if (found !== null) select(found);
  note.take(frame);
  dirty = true;
}

function draw(now) {
  status.pace(loop.rate, connection.roundTripMs, now);
  if (!dirty) return;
  dirty = false;
  const frames = foretell.frames;
  const looking = loop.paused ? charts.cursorTime : null;
  const at = looking === null ? frames.length - 1 : Math.max(0, frames.findLastIndex((frame) => frame.time_s <= looking));
  tour.outline();
  if (lanes.bench) lanes.draw(frames, at);
  else {
    const pointer = frames[at] ? tour.pointer(frames[at]) : null;
    arena.draw(frames, at, card.opened, pointer === null);
    point(arena, pointer);
  }
  charts.draw();
  toolbar.showLive(charts.end === null);
  const frame = frames[at];
  if (!frame) return;
  input.show(frame.keys, frame.lanes?.second ?? 0);
  readout.show(frame, now, loop.paused);
  prediction.tell(frame, now);
  status.frame(frame, { paused: loop.paused, looking: looking !== null && at < frames.length - 1 });
  note.show(frame);
  log.show(history, foretell.settings.prediction);
  const { total } = history;
  $("count").textContent = `${total} ${total === 1 ? "correction" : "corrections"}`;
}

/** Opens the card of the correction with this number, or none. */
function select(number) {
  charts.selected = number;
  dirty = true;
  if (number === null) return;
  const correction = history.correction(number);
  card.open(correction, number);
  const right = charts.rightEdge;
  if (correction.time_s > right || correction.time_s < right - charts.span) charts.lookAt(correction.time_s + charts.span / 2);
}

function selectBeside(step) {
  const { forgotten, total } = history;
  if (!total) return;
  const from = charts.selected ?? (step < 0 ? total : -1);
  select(Math.min(Math.max(from + step, forgotten), total - 1));
}

function pause(paused) {
  loop.pause(paused);
  toolbar.showPaused(paused);
  dirty = true;
}

/** Shows which key does what, and lets them. */
function help(open) {
  shortcuts.open = open;
  document.body.classList.toggle("helping", open);
  $("helper").setAttribute("aria-expanded", String(open));
  $("keys").hidden = !open;
  controls.unfold(open);
}

/** Gives the keys back to the cube, else closes what is open. */
function escape() {
  const focused = document.activeElement;
  if (focused && focused !== document.body) focused.blur();
  else if (card.opened) card.close();
  else help(false);
}

async function giveLink({ fragment: run, whole }) {
  toolbar.showCopied(await copyText(linkOf(run), $("linkbox"), $("linktext")));
  if (whole === false) status.tell("The run is long: its link holds the last 60 s and starts there.");
}

function beginPage() {
  shortcuts.set(SCENE_KEY, () => scenes.next());
  shortcuts.set(SET_KEY, () => sets.next());
  sets.build(SETS.map(({ name }) => ({ name, label: name })), SET_KEY);
  for (const kind of ALL_CAUSES) {
    const item = document.createElement("li");
    item.append(causeIcon(kind), kind.short);
    item.title = kind.name;
    $("causes").append(item);
  }
  address.listen(follow);
  new ResizeObserver(() => { dirty = true; }).observe(document.body);
  onCleared(() => { dirty = true; });
  onTheme(() => {
    dirty = true;
    lanes.paintSamples();
  });
  connection.open();
  loop.begin();
}

beginPage();
