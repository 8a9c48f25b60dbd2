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
    const accountOf = async (server) => {
      // What the server has said may take its time.
      for (let attempt = 0; ; attempt += 1) {
        const [, account] = /joined account="(guest-[0-9a-f]{16})"/.exec(server.log) ?? [];
        if (account || attempt === 50) return account;
        await page.waitForTimeout(50);
      }
    };
    assert.equal(await accountOf(again), await accountOf(server));
    assert(await accountOf(again));
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
      await admits(server, 15_000);
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
    await page.waitForFunction(() => document.body.dataset.state === "gone", null, { timeout: 20_000 });
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

/** A page that complains about nothing, to be looked at as a newcomer does. */
async function newcomer(server, { options = DESKTOP, scheme = "light" } = {}) {
  const errors = [];
  const prepare = (page) => page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const page = await play(server, { options: { ...options, colorScheme: scheme }, prepare });
  return Object.assign(page, { errors });
}

/** Makes the network so bad: milliseconds and percent, each way. */
async function impair(page, { delay = 0, loss = 0 }) {
  await page.locator("#delay").fill(String(delay));
  await page.locator("#loss").fill(String(loss));
}

const ballOf = (page) => page.evaluate(() => window.foretell.cubes.find(({ number }) => number === 0).position);
const trips = (page, least, most) => page.waitForFunction(
  ([least, most]) => window.foretell.figures.rtt >= least && window.foretell.figures.rtt <= most, [least, most], { timeout: 15_000 });

/** Where the ball has come to rest. */
async function atRest(page) {
  for (let before = null, until = Date.now() + 20_000; Date.now() < until; await page.waitForTimeout(500)) {
    const now = await ballOf(page);
    if (before && distance(before, now) < 0.001) return now;
    before = now;
  }
  throw new Error(`the ball rolls on: ${await ballOf(page)}`);
}

/** Which of these lie over each other, by the boxes on the page. */
const overlapping = (page, selectors) => page.evaluate((selectors) => {
  const boxes = selectors.flatMap((selector) => [...document.querySelectorAll(selector)].map((element) => [selector, element]))
    .map(([selector, element]) => [selector, element.getBoundingClientRect(), element])
    .filter(([, box]) => box.width > 0 && box.height > 0);
  const isOver = (a, b) => a.left + 0.5 < b.right && b.left + 0.5 < a.right && a.top + 0.5 < b.bottom && b.top + 0.5 < a.bottom;
  const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => [a, b]));
  return pairs.filter(([a, b]) => !a[2].contains(b[2]) && isOver(a[1], b[1])).map(([a, b]) => `${a[0]} and ${b[0]}`);
}, selectors);

/** What is written smaller than 12 px, or with less contrast than 4.5 to what is behind it. */
const unreadable = (page) => page.evaluate(() => {
  const c = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    c.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      c.fillStyle = colour;
      c.fillRect(0, 0, 1, 1);
    }
    return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((lane) => lane / 255).map((lane) => (lane <= 0.04045 ? lane / 12.92 : ((lane + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const [text, element] = [walker.currentNode.textContent.trim(), walker.currentNode.parentElement];
    if (!text || !element.checkVisibility() || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const behind = [];
    for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [under, over] = [luminance(paint(behind)), luminance(paint([...behind, style.color]))];
    const contrast = (Math.max(under, over) + 0.05) / (Math.min(under, over) + 0.05);
    if (contrast < 4.5) faults.push(`${text}: contrast ${contrast.toFixed(2)}`);
    if (parseFloat(style.fontSize) < 12) faults.push(`${text}: ${style.fontSize}`);
  }
  return faults;
});

describe("a newcomer", () => {
  test("sees the keys large until one was pressed, and one sentence that says what this is", async () => {
    const page = await newcomer(await startServer());
    assert.match(await page.locator("body").innerText(), /A server decides; your cube answers at once all the same\./);
    const cap = page.locator("#keycaps button").first();
    assert((await cap.boundingBox()).height >= 40, "large");
    assert.deepEqual(await overlapping(page, ["#hint", "#players", ".side", "footer", "header"]), []);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.getElementById("hint").hidden, null, { timeout: 1_000 });
    const small = await cap.boundingBox();
    assert(small.height < 30 && (await page.locator("footer").boundingBox()).y < small.y, "small, below the room");
    const next = () => page.locator(".network h2").evaluate((title) => getComputedStyle(title).color === getComputedStyle(document.querySelector(".button")).backgroundColor);
    assert.equal(await next(), true, "what to try next stands out");
    await page.locator("#delay").fill("50");
    assert.equal(await next(), false, "until it was tried");
    assert.deepEqual(page.errors, []);
  });

  test("clicks a large key, which is held as long as the mouse is, though it goes to its small place meanwhile", async () => {
    const page = await newcomer(await startServer());
    const held = () => page.locator("#keycaps button.on").count();
    const cap = await page.locator("#keycaps button").first().boundingBox();
    await page.mouse.move(cap.x + cap.width / 2, cap.y + cap.height / 2);
    await page.mouse.down();
    await page.waitForFunction(() => document.getElementById("hint").hidden && document.querySelector("#keycaps button.on"), null, { timeout: 1_000 });
    await page.waitForTimeout(200);
    assert.equal(await held(), 1);
    await page.mouse.up();
    await page.waitForTimeout(200);
    assert.equal(await held(), 0);
    assert.deepEqual(page.errors, []);
  });

  test("makes the own network bad by a slider: the round trip follows, and the cube answers at once all the same", async () => {
    const page = await newcomer(await startServer());
    await trips(page, 0, 60);
    const text = await page.locator("[data-figure=rtt]").textContent();
    await page.locator("#delay").focus();
    for (let step = 0; step < 20; step += 1) await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("#delay-said").textContent(), "200 ms");
    await trips(page, 390, 480);
    assert.notEqual(await page.locator("[data-figure=rtt]").textContent(), text);
    const [, late] = /^(\d+) ms late$/.exec(await page.locator("[data-figure=delay]").textContent());
    assert(late >= 195, `others are shown ${late} ms late, and the way here alone takes 200`);
    const before = await placeOf(page, await numberOf(page));
    await page.keyboard.down("KeyD");
    await page.waitForTimeout(150);
    await page.keyboard.up("KeyD");
    assert((await placeOf(page, await numberOf(page)))[0] > before[0] + 0.05, "long before the server has answered");
    await impair(page, { delay: 0 });
    await trips(page, 0, 100);
    assert.deepEqual(page.errors, []);
  });

  test("sees where the server has the own cube, behind it by the round trip, until that is switched off", async () => {
    const page = await newcomer(await startServer());
    await impair(page, { delay: 150 });
    await trips(page, 290, 400);
    // Of all that is drawn in the arena the outline alone is dashed.
    await page.evaluate(() => {
      window.dashes = 0;
      const { setLineDash } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.setLineDash = function count(dash) {
        window.dashes += dash.length ? 1 : 0;
        setLineDash.call(this, dash);
      };
    });
    await page.keyboard.down("KeyD");
    await page.waitForTimeout(700);
    const [own, confirmed] = await page.evaluate(() => [window.foretell.cubes.find((cube) => cube.own).position, window.foretell.confirmed]);
    await page.keyboard.up("KeyD");
    assert(own[0] - confirmed[0] > 0.5 && Math.abs(own[2] - confirmed[2]) < 0.01, `${own} ${confirmed}`);
    assert(await page.evaluate(() => window.dashes > 0), "it is drawn");
    await page.locator("#ghost").click();
    await page.waitForTimeout(100);
    const dashes = await page.evaluate(() => window.dashes);
    await page.waitForTimeout(200);
    assert.deepEqual(await page.evaluate(() => [window.foretell.confirmed, window.dashes]), [null, dashes]);
  });

  test("opens a second tab by the link, in which another player joins, and pushes a ball that both see in one place", async () => {
    const one = await newcomer(await startServer());
    const [two] = await Promise.all([one.context().waitForEvent("page"), one.locator("#second").click()]);
    await two.waitForFunction(() => window.foretell?.cubes.some(({ own }) => own), null, { timeout: 15_000 });
    await sees(two, await numberOf(one));
    assert.notEqual(await numberOf(one), await numberOf(two));
    await one.bringToFront();
    const before = await ballOf(one);
    const keys = [];
    const hold = async (wanted) => {
      for (const key of ["KeyA", "KeyD", "KeyW", "KeyS"]) {
        const [is, shall] = [keys.includes(key), wanted.includes(key)];
        if (is !== shall) await one.keyboard[shall ? "down" : "up"](key);
      }
      keys.splice(0, keys.length, ...wanted);
    };
    for (const until = Date.now() + 10_000; distance(await ballOf(one), before) < 1 && Date.now() < until; await one.waitForTimeout(30)) {
      const [own, ball] = [await placeOf(one, await numberOf(one)), await ballOf(one)];
      const [x, z] = [ball[0] - own[0], ball[2] - own[2]];
      await hold([...(x > 0.3 ? ["KeyD"] : x < -0.3 ? ["KeyA"] : []), ...(z > 0.3 ? ["KeyW"] : z < -0.3 ? ["KeyS"] : [])]);
    }
    await hold([]);
    const rest = await atRest(one);
    assert(distance(rest, before) > 1, `it was pushed: ${before} to ${rest}`);
    await two.bringToFront();
    assert(distance(await atRest(two), rest) < 0.05, `${await ballOf(two)} in the other tab, ${rest} in this one`);
    assert.deepEqual(one.errors, []);
  });

  test("is told the address for another machine where the page is on more than this one", async () => {
    const here = await newcomer(await startServer());
    assert.equal(await here.locator("#address").isVisible(), false);
    const ports = [await freePort(), await freePort()];
    const origin = `http://play.example:${ports[1]}`;
    const server = await startServer({ ports, settings: [`page.origin=${origin}`] });
    const named = await launch("--host-resolver-rules=MAP play.example 127.0.0.1");
    try {
      const page = await tab({ ...server, origin }, { within: named });
      assert.equal(await page.locator("#address").innerText(), `On another machine: ${origin}/`);
    } finally {
      await named.close();
    }
  });

  test("reads at a mark in the room why the server knew better", async () => {
    const page = await newcomer(await startServer());
    const fresh = () => page.evaluate(() => window.foretell.marks.some(({ own, left }) => own && left > 0.5));
    // When the way becomes longer at once inputs are late, whoever plays.
    for (let nth = 0, until = Date.now() + 25_000; !(await fresh()) && Date.now() < until; nth += 1) {
      await impair(page, { delay: nth % 2 === 0 ? 150 : 0, loss: 20 });
      await drive(page, ["KeyD", "KeyA", "KeyW", "KeyS"], 250);
    }
    const place = await page.evaluate(() => window.foretell.picture.placeOf(window.foretell.marks.findLast(({ own }) => own)));
    const room = await page.locator("#room").boundingBox();
    await page.mouse.move(room.x + place[0], room.y + place[1]);
    await page.waitForSelector("#reason:not([hidden])", { timeout: 1_000 });
    assert.match(await page.locator("#reason").textContent(), /^(Your cube|The ball) was off by .*: (own|other|resync|derived).*\.$/);
  });

  test("reads why by a tap, for as long as the mark is seen", async () => {
    const page = await newcomer(await startServer(), { options: PHONE });
    await page.evaluate(async () => {
      // The one mark of the room, which stands where the finger comes down until it is taken away.
      const { Marks } = await import("/marks.js");
      let there = { number: 1, own: true, metres: 0.5, why: "own input late or substituted" };
      Marks.prototype.reason = () => (there ? { mark: there, text: "why", at: [100, 200] } : null);
      Marks.prototype.has = (mark) => mark === there;
      window.fade = () => { there = null; };
    });
    const room = await page.locator("#room").boundingBox();
    const finger = await page.context().newCDPSession(page);
    const touch = (type, ...touchPoints) => finger.send("Input.dispatchTouchEvent", { type, touchPoints });
    await touch("touchStart", { x: room.x + 100, y: room.y + 200 });
    await touch("touchEnd");
    await page.waitForTimeout(300);
    assert(await page.locator("#reason").isVisible(), "after the finger is lifted");
    await page.evaluate(() => window.fade());
    await page.waitForSelector("#reason", { state: "hidden", timeout: 1_000 });
  });

  test("finds names that lie on no others, and a list cut with a count, where many are there", async () => {
    const server = await startServer({ flags: ["--insecure"], settings: ["limits.per_address_max=100"] });
    const [url] = server.log.match(/https:\/\/127\.0\.0\.1:\d+\/#[0-9a-f.]{129}/);
    const bots = spawn(PROGRAM, ["bots", "20", url, "--seconds", "20"], { stdio: "ignore" });
    try {
      for (const options of [DESKTOP, PHONE]) {
        const page = await newcomer(server, { options });
        await page.waitForFunction(() => window.foretell.cubes.length >= 22, null, { timeout: 15_000 });
        await page.waitForFunction(() => {
          const more = document.getElementById("players").textContent.match(/and (\d+) more$/);
          const all = window.foretell.cubes.filter(({ number }) => number > 0).length;
          return more && document.querySelectorAll("#players li").length - 1 + Number(more[1]) === all;
        }, null, { timeout: 5_000 });
        const over = await page.evaluate(() => {
          const { names, size } = window.foretell.picture;
          const boxes = [...names, ...window.foretell.taken];
          const isOver = (a, b) => a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
          const outside = names.filter(({ left, top, width, height }) => left < 0 || top < 0 || left + width > size.width || top + height > size.height);
          return { named: names.length, over: boxes.filter((a, i) => boxes.slice(i + 1).some((b) => isOver(a, b))).length, outside: outside.length };
        });
        assert(over.named > 8, JSON.stringify(over));
        assert.deepEqual([over.over, over.outside], [0, 0]);
        await page.screenshot({ path: `${SHOTS}play-many-${options === PHONE ? "phone" : "desktop"}.png` });
        await page.close();
      }
    } finally {
      bots.kill();
    }
  });

  test("reaches all that can be pressed by Tab, sees where that is, and plays by the keyboard alone", async () => {
    const page = await newcomer(await startServer());
    const reached = [];
    for (let press = 0; press < 20; press += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const { id, tagName, popoverTargetElement, localName } = document.activeElement;
        const style = getComputedStyle(document.activeElement);
        return { name: id || popoverTargetElement?.id || localName, tagName, outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
      });
      if (at.tagName === "BODY" || reached.some(({ name }) => name === at.name)) break;
      reached.push(at);
    }
    const names = reached.map(({ name }) => name);
    const wanted = ["delay", "loss", "about-rtt", "ghost", "second", "summary", "about-lead", "about-others", "about-corrections", "about-down", "about-up"];
    assert.deepEqual(names, wanted);
    assert.deepEqual(reached.filter(({ outlined }) => !outlined), []);
    await page.locator("[popovertarget=about-lead]").focus();
    await page.keyboard.press("Enter");
    assert.match(await page.locator("#about-lead").innerText(), /^Lead: how far this page runs ahead/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#about-lead").isVisible(), false);
    const moved = await push(page, "KeyD", page, await numberOf(page));
    assert(moved[0] > 0.5, `the keys are the cube's all the same: ${moved}`);
    await page.locator("#delay").click();
    await page.waitForTimeout(1_500);
    const arrow = await push(page, "ArrowLeft", page, await numberOf(page));
    assert(arrow[0] < -0.5, `what was set by the mouse gives the arrow keys back: ${arrow}`);
    assert.equal(await page.locator("#delay-said").textContent(), "150 ms");
  });

  test("reads everything, on a desktop and on a phone, in light and in dark, and nothing lies over anything", async () => {
    const server = await startServer();
    const kinds = [["desktop", { viewport: { width: 1440, height: 900 } }], ["phone", PHONE]];
    const all = kinds.flatMap(([kind, options]) => ["light", "dark"].map((scheme) => ({ name: `${kind}-${scheme}`, options, scheme })));
    await Promise.all(all.map(async ({ name, options, scheme }) => {
      const page = await newcomer(server, { options, scheme });
      await page.waitForTimeout(2_000);
      await page.screenshot({ path: `${SHOTS}play-${name}-2s.png` });
      const parts = ["h1", ".what", "#status", "#stage", ".stick", ".jump", ".side section", ".network > *", ".seen > *", ".more > *", "footer dl > div"];
      assert.deepEqual(await overlapping(page, parts), [], name);
      assert.deepEqual(await overlapping(page, ["#hint", "#players"]), [], name);
      assert.deepEqual(await unreadable(page), [], name);
      await impair(page, { delay: 150, loss: 10 });
      await drive(page, ["KeyD", "KeyW", "KeyA", "KeyS", "KeyD", "KeyW"], 900);
      await page.keyboard.down("KeyA");
      await page.waitForTimeout(400);
      await page.screenshot({ path: `${SHOTS}play-${name}-10s.png` });
      await page.keyboard.up("KeyA");
      assert.deepEqual(await unreadable(page), [], name);
      assert.deepEqual(page.errors, [], name);
    }));
  });

  test("plays with one thumb on a phone, where the room fills the stage", async () => {
    const page = await newcomer(await startServer(), { options: PHONE });
    const share = await page.evaluate(() => {
      const { view, size } = window.foretell.picture;
      const corners = [[-10.5, -10.5], [10.5, -10.5], [10.5, 10.5], [-10.5, 10.5]].map(([x, z]) => view.point([x, 0, z]));
      const extent = (axis) => Math.max(...corners.map((corner) => corner[axis])) - Math.min(...corners.map((corner) => corner[axis]));
      return [extent(0) / size.width, extent(1) / size.height];
    });
    assert(share.every((part) => part >= 0.6), `of the stage's width and height: ${share}`);
    assert.match(await page.locator("#hint").innerText(), /Drag anywhere to drive, tap to jump/);
    const room = await page.locator("#room").boundingBox();
    const thumb = await page.context().newCDPSession(page);
    const touch = (type, ...points) => thumb.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x: room.x + x, y: room.y + y })) });
    const before = await placeOf(page, await numberOf(page));
    await touch("touchStart", [100, 200]);
    await touch("touchMove", [150, 200]);
    await page.waitForTimeout(400);
    await touch("touchEnd");
    const after = await placeOf(page, await numberOf(page));
    assert(after[0] > before[0] + 0.3 && Math.abs(after[2] - before[2]) < 0.01, `it goes where the thumb does: ${before} to ${after}`);
    assert.equal(await page.locator("#hint").isVisible(), false);
    await touch("touchStart", [100, 200]);
    await touch("touchEnd");
    await page.waitForFunction(() => window.foretell.cubes.find((cube) => cube.own).position[1] > 0.1, null, { timeout: 1_000 });
    assert.equal(await page.evaluate(() => scrollY), 0, "and the page stays where it is");
  });
});

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

  test("is predicted to the bit by a tab that is alone in it: wasm32 there, another processor here, and no correction but for delays", async () => {
    const server = await startServer({ settings });
    const page = await play(server, { within: blind });
    // Its first steps take long, until the browser has compiled the module for speed.
    await page.waitForTimeout(3_000);
    const before = await pileOf(page);
    // A machine that is too busy stands still or sends inputs late, which is corrected and says nothing of the bits: then it drives again.
    const isDelay = (why) => /own input late|own clock|server event/.test(why);
    let [start, after, grown] = [];
    for (let nth = 0; nth === 0 || nth < 4 && grown.some(isDelay); nth += 1) {
      start = await page.evaluate(() => window.foretell);
      await drive(page, ["KeyW", "KeyA", "Space", "KeyS", "KeyD", "KeyW"], 900);
      await page.waitForTimeout(500);
      after = await page.evaluate(() => window.foretell);
      grown = Object.keys(after.reasons).filter((why) => after.reasons[why] > (start.reasons[why] ?? 0));
    }
    assert(movedOf(before, await pileOf(page)) >= 8, "it has pushed");
    // What a delay has left within the tolerance comes out later.
    const isLate = (why) => isDelay(why) || grown.some(isDelay) && why.includes("tolerance");
    const [others, resyncs] = [grown.filter((why) => !isLate(why)), after.figures.resyncs - start.figures.resyncs];
    assert.deepEqual([others, resyncs], [[], 0], JSON.stringify([start.figures, after.figures, after.reasons]));
    assert(after.figures.agreed - start.figures.agreed > 200, JSON.stringify([start.figures, after.figures]));
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
