#!/usr/bin/env node
// A stand-in for `foretell lab`: serves the page and speaks its protocol over a made-up simulation, so that the page can
// be worked on without building the program. Usage: node mock.mjs lab --port 7878
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const PAGE = fileURLToPath(new URL("../src/lab/page/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const port = Number(process.argv[process.argv.indexOf("--port") + 1]) || 7878;

const slider = (group, key, label, [min, max, step], unit, value, explain, source) =>
  ({ key, label, group, kind: "slider", min, max, step, unit, value, explain, source });
const choice = (group, key, label, values, value, explain, source) =>
  ({ key, label, group, kind: "choice", choices: values.map((v) => ({ value: v, label: String(v).replaceAll("_", " ") })), value, explain, source });
const toggle = (group, key, label, value, explain, source) => ({ key, label, group, kind: "toggle", value, explain, source });
const CONTROLS = [
  slider("Network", "latency_ms", "one-way latency", [0, 1000, 5], "ms", 75, "How long a datagram is under way, in each direction.", "R9, D24"),
  slider("Network", "jitter_ms", "jitter", [0, 200, 1], "ms", 5, "How much that time varies from one datagram to the next.", "D31"),
  slider("Network", "loss_percent", "loss", [0, 100, 1], "%", 1, "How many datagrams never arrive, in each direction.", "R9"),
  slider("Network", "burst", "burst length", [1, 20, 1], "", 1, "How many datagrams in a row are lost when one is lost.", "D31"),
  slider("Network", "duplicate_percent", "duplicates", [0, 50, 1], "%", 0, "How many datagrams arrive twice.", "D31"),
  toggle("Network", "reorder", "reordering", true, "Whether a datagram may overtake another when their delays differ.", "D31"),
  choice("Rates", "tick_hz", "tick rate", [20, 32, 64, 128], 64, "Fixed steps of the simulation in a second, on both sides.", "R5"),
  choice("Rates", "send_hz", "send rate", [5, 16, 32, 64], 32, "Input datagrams in a second, from the client to the server.", "Q18"),
  choice("Rates", "snapshot_hz", "snapshot rate", [2, 5, 16, 32, 64], 16, "Snapshots in a second, from the server to the client.", "R26, D25"),
  choice("Methods", "reconcile", "reconcile", ["threshold", "always", "off"], "threshold", "When the client steps back to the confirmed tick and simulates again up to now.", "R2, D30"),
  slider("Methods", "redundancy", "redundancy", [0, 16, 1], "ticks", 8, "How many past inputs each datagram repeats.", "E18, D11"),
  choice("Methods", "gap_policy", "gap policy", ["hold", "skip", "repeat_last", "neutral"], "repeat_last", "What the server puts in the place of an input that did not come in time.", "D9"),
  choice("Methods", "correction", "correction", ["by_error", "constant", "keep", "none"], "by_error", "How the visual offset of a correction decays.", "R23, D15"),
  toggle("Methods", "other_player", "other player", true, "A second player, shown between the snapshots that came.", "Q20, D29"),
];
const PRESETS = { lan: { latency_ms: 2, jitter_ms: 0, loss_percent: 0 }, wifi: { latency_ms: 75, jitter_ms: 5, loss_percent: 1 }, mobile: { latency_ms: 120, jitter_ms: 40, loss_percent: 4 }, satellite: { latency_ms: 300, jitter_ms: 15, loss_percent: 1 } };
const presetList = Object.keys(PRESETS).map((name) => ({ name, explain: `Conditions as on ${name}.` }));
const encode = (run) => Buffer.from(JSON.stringify(run)).toString("base64url");
const decode = (text) => JSON.parse(Buffer.from(text, "base64url").toString());
const length = (v) => Math.hypot(...v);

class Run {
  constructor(start) {
    const link = start.link ? decode(start.link) : {};
    this.seed = link.seed ?? start.seed ?? 42;
    this.settings = { ...Object.fromEntries(CONTROLS.map((c) => [c.key, c.value])), ...(link.settings ?? start.settings ?? {}) };
    this.first = { ...this.settings };
    this.replay = link.log ?? [];
    this.log = [];
    this.pending = [];
    this.frame = 0;
    this.random = this.seed >>> 0;
    this.stall = 0;
    this.touched = false;
    const body = () => ({ p: [0, 0, 0], v: [0, 0, 0] });
    this.local = body();
    this.server = body();
    this.offset = [0, 0, 0];
    this.pushes = [];
    this.past = [];
  }
  rand() {
    this.random = (Math.imul(this.random, 1664525) + 1013904223) >>> 0;
    return this.random / 2 ** 32;
  }
  /** The local cube takes the client's place: what the client knows better becomes its own. */
  realign() {
    this.local.p = this.local.p.map((x, i) => x + (this.known?.[i] ?? 0));
    this.past = this.past.map(({ p }) => ({ p: p.map((x, i) => x + this.known[i]) }));
    this.shift = this.shift?.map((x, i) => x - this.known[i]);
    this.known = [0, 0, 0];
  }
  fragment() { return encode({ seed: this.seed, settings: this.settings }); }
  preset() { return Object.keys(PRESETS).find((n) => Object.entries(PRESETS[n]).every(([k, v]) => this.settings[k] === v)) ?? null; }
  move({ p, v }, keys) {
    const push = [(keys & 8 ? 1 : 0) - (keys & 4 ? 1 : 0), 0, (keys & 1 ? 1 : 0) - (keys & 2 ? 1 : 0)];
    for (const i of [0, 2]) v[i] = (v[i] + push[i] * 0.7) * 0.9;
    v[1] = p[1] <= 0 ? (keys & 16 ? 5 : 0) : v[1] - 9.81 / 60;
    for (const i of [0, 1, 2]) p[i] = Math.max(i === 1 ? 0 : -10, Math.min(10, p[i] + v[i] / 60));
  }
  step(keysHeld) {
    const frame = ++this.frame;
    const replayed = this.replay[frame - 1];
    const bot = replayed ? replayed.bot : !(this.touched ||= keysHeld !== 0);
    const keys = replayed ? replayed.keys : bot ? [8, 1, 4, 2][(frame >> 5) & 3] : keysHeld;
    const events = replayed ? replayed.events : this.pending;
    this.pending = [];
    this.log.push({ keys, bot, events });
    this.touched ||= !bot;
    const s = this.settings, lead = 2 + Math.round((s.latency_ms + s.jitter_ms) * 0.06), corrections = [], notes = [];
    for (const name of events) {
      if (name === "stall") this.stall = 120;
      else if (name === "realign") this.realign();
      else this.pushes.push({ at: frame + lead, name, v: name === "teleport" ? [6, 0, 4] : [3, 0, 2] });
    }
    this.move(this.local, keys);
    this.past.push({ p: [...this.local.p] });
    const confirmed = this.past[Math.max(0, frame - 1 - lead)].p;
    const serverShift = (this.shift ??= [0, 0, 0]);
    let resimulated = 0;
    const rtt = 2 * s.latency_ms + 12 + s.jitter_ms * (this.rand() - 0.3);
    const correct = (d, cause, sentence) => {
      const tick = Math.round(frame * 64 / 60), size = length(d), teleport = size > 2;
      const predicted = this.past[Math.max(0, frame - 1 - 2 * lead)].p.map((x, i) => x + this.known[i]);
      this.known = this.known.map((x, i) => x + d[i]);
      corrections.push({ entity: "player 1", tick: tick - 2 * lead, until: tick, field: "position", predicted, confirmed: predicted.map((x, i) => x + d[i]), size, misprediction_m: size, shown_m: size, teleport, causes: cause ? [cause] : [], sentence });
      this.offset = teleport ? [0, 0, 0] : this.offset.map((x, i) => x - d[i]);
      resimulated = 2 * lead;
    };
    this.known ??= [0, 0, 0];
    for (const push of this.pushes.filter((p) => p.at === frame)) for (const i of [0, 2]) serverShift[i] += push.v[i] * (push.name === "teleport" ? 0.7 : 0.15);
    for (const push of this.pushes.filter((p) => p.at + lead === frame)) correct(push.v.map((x) => x * (push.name === "teleport" ? 0.7 : 0.15)), "server event", `The server ${push.name === "teleport" ? "moved" : "pushed"} the cube at tick ${Math.round((push.at) * 64 / 60)}, which no client can foresee; the snapshot came ${Math.round(lead * 16.7)} ms later.`);
    if (this.rand() < (s.jitter_ms + s.loss_percent * 4) / 9000) {
      notes.push(`the server repeated the input of tick ${frame - 3}: it came 23 ms too late`);
      const d = [this.rand() * 0.1 - 0.05, 0, this.rand() * 0.1 - 0.05];
      for (const i of [0, 2]) serverShift[i] += d[i];
      correct(d, ["own input late or substituted", "tolerance", "own input late or substituted", ""][Math.floor(this.rand() * 4)], `The input for tick ${frame} arrived 23 ms too late; the server repeated that of tick ${frame - 1}.`);
    }
    if (this.stall > 0) this.stall--;
    this.offset = this.offset.map((x) => x * 0.88);
    const client = this.local.p.map((x, i) => x + this.known[i] + this.offset[i]);
    const server = confirmed.map((x, i) => x + serverShift[i]);
    const ghostAt = Math.max(0, frame - 1 - 2 * lead - (frame % Math.max(1, Math.round(60 / s.snapshot_hz))));
    const ghost = this.past[ghostAt].p.map((x, i) => x + this.known[i]);
    const other = [6 * Math.cos(frame / 90), 0, 6 * Math.sin(frame / 90)];
    const margin = this.stall ? -8 + this.rand() : 1.6 + this.rand() * (0.3 + s.jitter_ms / 12) - s.jitter_ms / 30;
    const mis = corrections.length ? corrections[0].size : 0;
    const chart = { misprediction_m: mis, correction_m: length(this.offset), rtt_ms: rtt, margin_ticks: margin, up_bytes_per_s: s.send_hz * 58 * (1 + 0.04 * this.rand()), down_bytes_per_s: this.stall ? 0 : s.snapshot_hz * 140 * (1 + 0.05 * this.rand()), resimulated_ticks: resimulated };
    const cube = (role, id, position, source) => ({ role, id, position: [...position], source });
    const cubes = [cube("local", "local", this.local.p, "predicted"), cube("client", "1", client, "predicted"), cube("server", "1", server, "predicted"), cube("ghost", "1", ghost, "interpolated")];
    if (s.other_player) cubes.push(cube("other", "2", other, this.stall ? "extrapolated" : "interpolated"));
    return { frame, time_s: frame / 60, tick: Math.round(frame * 64 / 60), state: this.stall ? "starved" : "playing", keys, bot, replaying: Boolean(replayed), cubes, now: { ...chart, misprediction_m: mis, lead_ticks: lead * 64 / 60, input_miss_rate: s.loss_percent / 4000, speed: 1 + 0.01 * (this.rand() - 0.5) }, chart, corrections, notes };
  }
}

const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html");
  try {
    const body = await readFile(join(PAGE, path));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-security-policy": CSP, "cache-control": "no-store" });
    response.end(body);
  } catch {
    response.writeHead(404).end("not found");
  }
});
new WebSocketServer({ server, path: "/ws" }).on("connection", (socket) => {
  let run = new Run({});
  const send = (message) => socket.send(JSON.stringify(message));
  const settings = () => ({ settings: run.settings, preset: run.preset(), fragment: run.fragment() });
  const ready = () =>
    send({ type: "ready", seed: run.seed, controls: CONTROLS.map((c) => ({ ...c, value: run.settings[c.key] })), presets: presetList, ...settings() });
  const answers = {
    start(message) {
      run = new Run(message);
      ready();
    },
    frames: ({ count, keys }) => send({ type: "frames", frames: Array.from({ length: count }, () => run.step(keys)) }),
    set({ key, value }) { run.settings[key] = value; send({ type: "settings", ...settings() }); },
    preset({ name }) { Object.assign(run.settings, PRESETS[name]); send({ type: "settings", ...settings() }); },
    event: ({ name }) => run.pending.push(name),
    link: () => send({ type: "link", fragment: encode({ seed: run.seed, settings: run.first, log: run.log.slice(-3600) }) }),
  };
  ready();
  socket.on("message", (text) => {
    try {
      const message = JSON.parse(text);
      answers[message.type](message);
    } catch (error) {
      send({ type: "error", message: `The program could not read that: ${error.message}.` });
    }
  });
});
server.listen(port, "127.0.0.1", () => console.log(`foretell lab (mock): http://127.0.0.1:${port}/`));
