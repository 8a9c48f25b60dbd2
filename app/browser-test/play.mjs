// Plays the arena and the pile in a real browser on a real server: FORETELL_BIN=path/to/foretell node --test play.mjs, after cargo xtask web.
// CHROMIUM names another browser binary than Debian's.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { PHONE, PROGRAM, SHOTS, freePort, launch } from "./common.mjs";
import { startRelay } from "./relay.mjs";

const DESKTOP = { viewport: { width: 1100, height: 700 } };

let browser;
/** Draws nothing in 3D: without a graphics card that takes longer than a frame, and what is played would stall. */
let blind;
let folder;
const servers = [];
const contexts = [];

/**
 * A dedicated server that lets guests in and forgets the lost soon; `log` is what it has said so far. What it keeps for another
 * that is started after it is `kept`: certificates and keys.
 */
async function startServer({ ports, settings = [], flags = [], kept = true } = {}) {
  const [port, pagePort] = ports ?? [await freePort(), await freePort()];
  const all = [
    "access.guests=true", `page.listen=127.0.0.1:${pagePort}`, "metrics.listen=", ...(kept ? [`server.state_dir=${folder}`] : []),
    "server.idle_timeout_s=3", "session.keep_lost_s=2", "log.filter=debug", ...settings,
  ];
  const args = ["serve", ...flags, "--listen", `127.0.0.1:${port}`, ...all.flatMap((setting) => ["--set", setting])];
  const program = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "pipe"] });
  const server = { program, port, origin: `http://127.0.0.1:${pagePort}`, ports: [port, pagePort], log: "" };
  for (const stream of [program.stdout, program.stderr]) stream.on("data", (piece) => { server.log += piece; });
  servers.push(server);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await fetch(server.origin).then(() => true, () => false)) return server;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${PROGRAM} does not answer at ${server.origin}: ${server.log}`);
}

/** Waits until somebody has joined. */
async function admits(server, timeout) {
  for (const until = Date.now() + timeout; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (server.log.includes("joined account=")) return;
  }
  throw new Error(`nobody has joined within ${timeout} ms: ${server.log}`);
}

/** Waits until it has ended by itself. */
async function ended({ program }) {
  if (program.exitCode === null && !program.signalCode) await once(program, "exit");
}

async function stop(server) {
  server.program.kill("SIGKILL");
  await ended(server);
}

/** A tab of its own browser profile in which `prepare` has been done to the page before it is loaded. */
async function tab(server, { options = DESKTOP, within = browser, prepare = async () => {} } = {}) {
  const context = await within.newContext(options);
  contexts.push(context);
  const page = await context.newPage();
  page.sockets = 0;
  page.on("websocket", () => { page.sockets += 1; });
  page.on("pageerror", (error) => assert.fail(`the page fails: ${error}`));
  await prepare(page);
  await page.goto(server.origin);
  return page;
}

async function play(server, how) {
  const page = await tab(server, how);
  await page.waitForFunction(() => window.foretell?.cubes.some(({ own }) => own), null, { timeout: 15_000 });
  return page;
}

const statusOf = (page) => page.locator("#status").textContent();
const numberOf = (page) => page.evaluate(() => window.foretell.cubes.find(({ own }) => own).number);
const placeOf = (page, number) => page.evaluate(
  (wanted) => window.foretell.cubes.find((cube) => cube.number === wanted)?.position, number);
const sees = (page, number) => page.waitForFunction(
  (wanted) => window.foretell.cubes.some((cube) => cube.number === wanted), number, { timeout: 10_000 });
const missesSoon = (page, number, timeout = 3_000) => page.waitForFunction(
  (gone) => !window.foretell.cubes.some((cube) => cube.number === gone), number, { timeout });

/** Holds a key for a while; how far `number` moves by it on another page. */
async function push(page, key, seenBy, number) {
  const before = await placeOf(seenBy, number);
  await page.bringToFront();
  await page.keyboard.down(key);
  await page.waitForTimeout(400);
  await page.keyboard.up(key);
  await page.waitForTimeout(600);
  await seenBy.bringToFront();
  await seenBy.waitForTimeout(300);
  const after = await placeOf(seenBy, number);
  return after.map((place, axis) => place - before[axis]);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "foretell-play-"));
  [browser, blind] = [await launch(), await launch("--disable-3d-apis")];
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  for (const server of servers.splice(0)) await stop(server);
});
after(async () => {
  await browser?.close();
  await blind?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("two tabs", () => {
  test("join by WebTransport, each sees the other move, and one that is closed is gone for the other", async () => {
    const server = await startServer();
    const [one, two] = [await play(server), await play(server)];
    const [first, second] = [await numberOf(one), await numberOf(two)];
    assert.notEqual(first, second);
    await sees(one, second);
    await sees(two, first);
    const right = await push(one, "ArrowRight", two, first);
    assert(right[0] > 0.5 && Math.abs(right[2]) < 0.01, `the second tab sees the first go right: ${right}`);
    const up = await push(two, "KeyW", one, second);
    assert(up[2] > 0.5 && Math.abs(up[0]) < 0.01, `the first tab sees the second go up: ${up}`);
    assert.match(await statusOf(one), new RegExp(`You are player ${first}\\.`));
    await one.screenshot({ path: `${SHOTS}play.png` });
    assert.equal(one.sockets + two.sockets, 0, "no WebSocket was opened");
    await two.close({ runBeforeUnload: false });
    await missesSoon(one, second, 1_000);
  });

  test("of which one crashes: it is gone for the other when the server has waited for it", async () => {
    const server = await startServer();
    const [one, two] = [await play(server), await play(server)];
    const second = await numberOf(two);
    await sees(one, second);
    await two.goto("chrome://crash").catch(() => {});
    await missesSoon(one, second, 9_000);
  });
});

describe("a tab", () => {
  test("moves its own cube in the frame after the key, however long the round trip is", async () => {
    const server = await startServer();
    const relay = await startRelay(server.port, 100);
    const prepare = (page) => page.route("**/join", async (route) => {
      const answer = await route.fetch();
      const invitation = await answer.json();
      invitation.url = invitation.url.replace(`:${server.port}/`, `:${relay.port}/`);
      await route.fulfill({ json: invitation });
    });
    // The page may talk to its own server alone; the relay is none.
    const page = await play(server, { options: { ...DESKTOP, bypassCSP: true }, prepare });
    await page.waitForTimeout(3_000);
    await page.evaluate(() => {
      window.presses = [];
      const own = () => window.foretell.cubes.find((cube) => cube.own).position[0];
      addEventListener("keydown", (event) => {
        const [frame, x] = [window.foretell.frame, own()];
        const press = [];
        // The page's own callback of this frame was asked for earlier, and has run.
        const look = () => press.push({ frames: window.foretell.frame - frame, metres: own() - x }) < 2 && requestAnimationFrame(look);
        if (event.repeat) return;
        window.presses.push(press);
        requestAnimationFrame(look);
      });
    });
    for (const key of ["ArrowRight", "ArrowLeft", "ArrowRight", "ArrowLeft", "ArrowRight", "ArrowLeft"]) {
      await page.keyboard.down(key);
      await page.waitForTimeout(120);
      await page.keyboard.up(key);
      await page.waitForTimeout(1_800);
    }
    const presses = await page.evaluate(() => window.presses);
    const rtt = await page.evaluate(() => window.foretell.figures.rtt);
    relay.end();
    assert(rtt > 190, `the round trip is visible: ${rtt} ms`);
    assert.equal(presses.length, 6);
    assert(presses.flat().every(({ frames }, at) => frames === 1 + (at % 2)), "every frame was looked at");
    /** How many of the presses have moved the cube their way by this frame, by more than what it still creeps. */
    const moved = (frame) => presses.filter((press, at) => press[frame].metres * (at % 2 ? -1 : 1) > 0.00005).length;
    // On a screen of 60 Hz some frames have no tick of 1/60 s in them, and others two.
    assert(moved(0) >= 4 && moved(1) === 6, JSON.stringify(presses));
  });

  test("without WebTransport plays over a WebSocket", async () => {
    const server = await startServer();
    const prepare = (page) => page.addInitScript(() => { delete window.WebTransport; });
    // A browser's WebSocket knows no hashes, so in earnest this takes a certificate of an authority (`certificates.chain`).
    // The test has none, so its browser overlooks that the server's is self-signed.
    const one = await play(server, { options: { ...DESKTOP, ignoreHTTPSErrors: true }, prepare });
    const two = await play(server);
    const [first, second] = [await numberOf(one), await numberOf(two)];
    assert.deepEqual([one.sockets, two.sockets], [1, 0]);
    await sees(one, second);
    const left = await push(one, "KeyA", two, first);
    assert(left[0] < -0.5, `it is seen to go left: ${left}`);
    await one.close({ runBeforeUnload: false });
    await missesSoon(two, first, 1_000);
  });

  test("says that its server was killed, and comes back by ticket when it is there again", async () => {
    const server = await startServer();
    let asked = 0;
    const page = await play(server, { prepare: (page) => page.on("request", (request) => { asked += request.url().endsWith("/join") ? 1 : 0; }) });
    const moved = await push(page, "KeyD", page, await numberOf(page));
    assert(moved[0] > 0.5);
    await stop(server);
    await page.waitForFunction(() => document.body.dataset.state === "rejoining", null, { timeout: 20_000 });
    assert.match(await statusOf(page), /Connection lost\. Trying to come back\./);
    await page.screenshot({ path: `${SHOTS}play-lost.png` });
    const again = await startServer({ ports: server.ports });
    await page.waitForFunction(() => document.body.dataset.state === "playing", null, { timeout: 20_000 });
    assert.match(await statusOf(page), /You are player \d+\./);
    const accountOf = ({ log }) => log.match(/joined account="(guest-[0-9a-f]{16})"/)[1];
    assert.equal(accountOf(again), accountOf(server));
    assert.equal(asked, 1, "it was the ticket: no other token was asked for");
    const right = await push(page, "ArrowRight", page, await numberOf(page));
    assert(right[0] > 0.5, `it plays on: ${right}`);
  });

  const back = (page, timeout) => page.waitForFunction(() => document.body.dataset.state === "playing", null, { timeout });

  test("comes back to a server that was started again with other certificates and keys, as soon as that is there", async () => {
    let server = await startServer({ flags: ["--insecure"], kept: false });
    const page = await play(server);
    await page.evaluate(() => { window.sameTab = true; });
    for (const [pause, key] of [[0, "KeyD"], [6_000, "KeyA"]]) {
      await stop(server);
      await page.waitForTimeout(pause);
      server = await startServer({ ports: server.ports, flags: ["--insecure"], kept: false });
      await admits(server, 3_000);
      await back(page, 3_000);
      assert.match(await statusOf(page), /You are player 1\./);
      const right = await push(page, key, page, 1);
      assert(Math.abs(right[0]) > 0.5, `it plays on: ${right}`);
    }
    assert(await page.evaluate(() => window.sameTab), "without loading the page again");
    await page.screenshot({ path: `${SHOTS}play-restarted.png` });
  });

  test("loads itself anew when the server that was started again has other files for it", async () => {
    const server = await startServer({ kept: false });
    const page = await play(server);
    await page.evaluate(() => { window.sameTab = true; });
    await stop(server);
    const newer = join(folder, "web");
    cpSync(join(dirname(PROGRAM), "..", "web"), newer, { recursive: true });
    appendFileSync(join(newer, "play.css"), "/* newer */");
    await startServer({ ports: server.ports, kept: false, settings: [`page.folder=${newer}`] });
    await page.waitForFunction(() => !window.sameTab && document.body.dataset.state === "playing", null, { timeout: 6_000 });
  });

  test("is told that the server ends, and then that it has ended, and joins the next one", async () => {
    const server = await startServer({ settings: ["server.drain_s=4"] });
    const page = await play(server);
    server.program.kill("SIGTERM");
    await page.waitForFunction(() => /ends in \d s/.test(document.getElementById("status").textContent), null, { timeout: 3_000 });
    await page.waitForFunction(() => document.body.dataset.state === "gone", null, { timeout: 8_000 });
    assert.match(await statusOf(page), /The server has ended\. This page joins again when it is back\./);
    await ended(server);
    await startServer({ ports: server.ports });
    await back(page, 3_000);
  });

  test("fits a phone, and is driven by touch", async () => {
    const server = await startServer();
    const page = await play(server, { options: PHONE });
    const number = await numberOf(page);
    const before = await placeOf(page, number);
    const box = await page.locator("#stick").boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
    await page.mouse.down();
    await page.waitForTimeout(400);
    await page.mouse.up();
    assert((await placeOf(page, number))[0] > before[0] + 0.3, "the stick drives");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await page.screenshot({ path: `${SHOTS}play-phone.png` });
  });
});

/** Where the small cubes of the pile are, in the order of their names. */
const pileOf = (page) => page.evaluate(() => window.foretell.cubes.filter(({ number }) => number === 0).map(({ position }) => position));
const distance = (a, b) => Math.hypot(...a.map((place, axis) => place - b[axis]));
/** How many of the pile are elsewhere than they were. */
const movedOf = (before, after) => before.filter((place, nth) => distance(place, after[nth]) > 0.1).length;

/** Holds these keys one after the other. */
async function drive(page, keys, ms) {
  for (const key of keys) {
    await page.keyboard.down(key);
    await page.waitForTimeout(ms);
    await page.keyboard.up(key);
  }
}

describe("the pile", () => {
  const settings = ["session.game=pile"];

  test("is pushed by two tabs: what one drives into moves for the other, and both see it lie in the same places", async () => {
    const server = await startServer({ settings });
    const [one, two] = [await play(server, { within: blind }), await play(server, { within: blind })];
    const [first, second] = [await numberOf(one), await numberOf(two)];
    await sees(one, second);
    await sees(two, first);
    assert.deepEqual([await two.title(), await two.locator("h1").textContent()], ["foretell pile", "foretell pile"]);
    const before = await pileOf(two);
    assert.equal(before.length, 100);
    await one.bringToFront();
    await drive(one, ["KeyW", "KeyD"], 1_200);
    await two.bringToFront();
    await drive(two, ["KeyS"], 1_000);
    // Until all have come to rest, in both.
    await two.waitForTimeout(2_000);
    const there = await pileOf(two);
    await one.bringToFront();
    await one.waitForTimeout(1_000);
    assert(movedOf(before, there) >= 8, `${movedOf(before, there)} of the small cubes have moved`);
    assert.equal(movedOf(await pileOf(one), there), 0, "both tabs show them in the same places");
    assert.equal(one.sockets + two.sockets, 0, "no WebSocket was opened");
    const drawn = await play(server);
    await drawn.waitForTimeout(2_000);
    await drawn.screenshot({ path: `${SHOTS}play-pile.png` });
  });

  test("is predicted to the bit by a tab that is alone in it: wasm32 there, another processor here, and no correction", async () => {
    const server = await startServer({ settings });
    const page = await play(server, { within: blind });
    // Its first steps take long, until the browser has compiled the module for speed.
    await page.waitForTimeout(3_000);
    const [start, before] = [await page.evaluate(() => window.foretell.figures), await pileOf(page)];
    await drive(page, ["KeyW", "KeyA", "Space", "KeyS", "KeyD", "KeyW"], 900);
    await page.waitForTimeout(500);
    const end = await page.evaluate(() => window.foretell.figures);
    const grown = (name) => end[name] - start[name];
    assert(movedOf(before, await pileOf(page)) >= 8, "it has pushed");
    assert.deepEqual([grown("corrections"), grown("resyncs")], [0, 0], JSON.stringify([start, end]));
    assert(grown("compared") > 200 && grown("agreed") === grown("compared"), JSON.stringify([start, end]));
  });

  test("fits a phone", async () => {
    const page = await play(await startServer({ settings }), { options: PHONE });
    await page.waitForTimeout(2_000);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await page.screenshot({ path: `${SHOTS}play-pile-phone.png` });
  });
});

describe("the server of the page", () => {
  test("says that the page is not built, and serves programs", async () => {
    const server = await startServer({ settings: [`page.folder=${join(folder, "none")}`], flags: ["--insecure"] });
    const page = await tab(server);
    assert.match(await page.locator("body").textContent(), /cargo xtask web/);
    await page.screenshot({ path: `${SHOTS}play-not-built.png` });
    const [url] = server.log.match(/https:\/\/127\.0\.0\.1:\d+\/#[0-9a-f.]{129}/);
    const bots = spawn(PROGRAM, ["bots", "1", url, "--seconds", "1"], { stdio: "ignore" });
    await once(bots, "exit");
    assert.match(server.log, /joined account="bot/);
  });

  test("hands out tokens to its own page alone, and keeps them to itself", async () => {
    const server = await startServer();
    const ask = (headers) => fetch(`${server.origin}/join`, { method: "POST", headers });
    const answer = await ask({ origin: server.origin });
    assert.deepEqual([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
    const { url, token, game } = await answer.json();
    assert.equal(game, "arena");
    assert.match(url, /^https:\/\/127\.0\.0\.1:\d+\/#[0-9a-f]{64}\.[0-9a-f]{64}$/);
    assert(token.length > 100);
    assert.equal((await ask({ origin: "https://elsewhere.example" })).status, 403);
    assert.notEqual((await fetch(`${server.origin}/join`)).status, 200);
    const asked = await Promise.all(Array.from({ length: 40 }, () => ask({ origin: server.origin })));
    assert.equal(asked.filter(({ status }) => status === 429).length, 11);
    const page = await play(await startServer());
    await page.waitForTimeout(200);
    assert(servers.every(({ log }) => log.includes("serve") && !log.includes(token)));
  });
});
