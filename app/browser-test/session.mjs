// Drives the session in a real browser against the real program, and its links: FORETELL_BIN=path/to/foretell npm test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, SHOTS } from "./common.mjs";
import { DESKTOP, firstMove, forgive, frames, letGo, newestFrame, open, origin, program, startProgram, takeOver, turnToRemote, turnToStyles, until } from "./lab.mjs";

test("the client moves at once and the server later", async () => {
  const page = await open();
  await takeOver(page);
  const pressed = await newestFrame(page);
  await page.keyboard.down("ArrowRight");
  await until(page, pressed + 60);
  await page.keyboard.up("ArrowRight");
  const run = await frames(page);
  const held = run.find((frame) => frame.frame > pressed && frame.keys & 8).frame;
  const [local, client, server] = ["local", "client", "server"].map((role) => firstMove(run, role, held - 1));
  assert(client <= held + 2, `the key was held from frame ${held}, the client moved at ${client}`);
  assert(local <= held + 2, `the key was held from frame ${held}, the local cube moved at ${local}`);
  assert(server > client + 1, `the client moved at frame ${client}, the server at ${server}`);
});

test("the touch stick and the jump button drive, with two fingers or by one thumb", async () => {
  const page = await open(PHONE);
  const session = await page.context().newCDPSession(page);
  const [stick, jump] = await Promise.all(["#stick", "#jump"].map((id) => page.locator(id).boundingBox()));
  const right = { id: 1, x: stick.x + stick.width * 0.9, y: stick.y + stick.height / 2 };
  const up = { id: 2, x: jump.x + jump.width / 2, y: jump.y + jump.height / 2 };
  for (const [type, touchPoints, keys] of [["touchStart", [right], 8], ["touchStart", [right, up], 24], ["touchEnd", [], 0]]) {
    await session.send("Input.dispatchTouchEvent", { type, touchPoints });
    await page.waitForFunction((wanted) => !window.foretell.frames.at(-1).bot && window.foretell.frames.at(-1).keys === wanted, keys);
  }
  const from = await newestFrame(page);
  await page.touchscreen.tap(stick.x + stick.width / 2, stick.y + stick.height / 2);
  await page.waitForFunction((from) => window.foretell.frames.some(({ frame, keys }) => frame > from && keys === 16), from);
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 0);
});

test("keys are let go when the window loses its focus", async () => {
  const page = await open();
  await takeOver(page);
  await page.keyboard.down("ArrowRight");
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 8);
  await page.evaluate(() => dispatchEvent(new Event("blur")));
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 0, null, { timeout: 1000 });
});

test("keys are let go with the command key, under which macOS tells of none that is", async () => {
  const page = await open();
  await page.keyboard.down("KeyA");
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 4);
  await page.keyboard.down("Meta");
  await page.keyboard.up("Meta");
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 0, null, { timeout: 5_000 });
});

test("an impulse costs exactly one correction, and it says why", async () => {
  const page = await open();
  await takeOver(page);
  const pressed = await newestFrame(page);
  await page.getByRole("button", { name: /impulse/i }).click();
  await until(page, pressed + 120);
  const all = await page.evaluate(() => window.foretell.corrections);
  const caused = all.filter(({ frame, causes }) => frame > pressed && causes.includes("server event"));
  assert.equal(caused.length, 1, JSON.stringify(all));
  assert(caused[0].sentence.length > 10);
  await page.locator("#previous").click();
  assert.match(await page.locator("#card").innerText(), /server event/);
});

test("a click on a mark opens its card", async () => {
  const page = await open();
  await takeOver(page);
  await page.keyboard.press("1");
  await page.waitForFunction(() => window.foretell.corrections.some(({ causes }) => causes.includes("server event")));
  await page.keyboard.press("p");
  await page.waitForTimeout(100);
  const box = await page.locator("#charts").boundingBox();
  const { time_s, from_s, until_s, left, right } = await page.evaluate(() => ({
    time_s: window.foretell.corrections.findLast(({ causes }) => causes.includes("server event")).time_s,
    ...window.foretell.axis(),
  }));
  await page.mouse.click(box.x + left + ((time_s - from_s) / (until_s - from_s)) * (right - left), box.y + 9);
  assert.match(await page.locator("#card").innerText(), /server event/);
});

/** The link of the run of a page, as it is copied. */
async function copied(page) {
  await page.getByRole("button", { name: /copy link/i }).click();
  await page.waitForFunction(() => document.getElementById("copy-label").textContent === "Copied");
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The frames of a run, each of which its link has played again, bit for bit; at least `least` of them. */
async function playedAgain(page, least) {
  const copiedAt = await newestFrame(page);
  const link = await copied(page);
  assert(link.startsWith(`${origin}/#`), link);
  const run = await frames(page);
  const again = await open(DESKTOP, link);
  await again.waitForFunction((last) => window.foretell.frames.some(({ frame }) => frame >= last), copiedAt + 1);
  const replay = new Map((await frames(again)).map((frame) => [frame.frame, frame]));
  const shared = run.filter(({ frame }) => frame <= copiedAt && replay.get(frame)?.replaying);
  assert(shared.length > least, `only ${shared.length} frames are shared`);
  for (const { replaying, ...played } of shared) {
    const { replaying: again, ...replayed } = replay.get(played.frame);
    assert.deepEqual(replayed, played);
  }
  return shared;
}

test("a copied link plays the same run, bit for bit", async () => {
  const page = await open();
  await page.keyboard.down("ArrowRight");
  await until(page, (await newestFrame(page)) + 40);
  await page.keyboard.press("1");
  await page.keyboard.down("ArrowUp");
  await until(page, (await newestFrame(page)) + 30);
  await page.keyboard.up("ArrowRight");
  await page.keyboard.press("2");
  await page.keyboard.press("Space", { delay: 100 });
  await until(page, (await newestFrame(page)) + 60);
  await page.keyboard.up("ArrowUp");
  await playedAgain(page, 100);
});

for (const [way, turn] of [
  ["its key", (page) => page.keyboard.press("n")],
  ["a click", (page) => page.locator('#scenes [data-name="remote"]').click()],
]) {
  test(`${way} turns to the remote players, who move, and back`, async () => {
    const page = await open();
    const before = await newestFrame(page);
    await turn(page);
    await page.waitForFunction(() => others(window.foretell.frames.at(-1)).length === 3);
    const then = await newestFrame(page);
    await until(page, then + 120);
    const moved = await page.evaluate((from) => {
      const [first, last] = [window.foretell.frames.find(({ frame }) => frame === from), window.foretell.frames.at(-1)];
      return others(first).map(({ id, position }) => {
        const now = others(last).find((cube) => cube.id === id);
        return Math.hypot(...position.map((part, i) => now.position[i] - part));
      });
    }, then + 60);
    assert(moved.length === 3 && moved.every((way) => way > 0.1), JSON.stringify(moved));
    assert.match(await page.locator("#now").innerText(), /playout delay[\s\S]+extrapolated[\s\S]+frozen[\s\S]+largest jump/);
    assert.match(await page.locator("#legend").innerText(), /extrapolated[\s\S]+held/);
    assert(await page.locator("#control-bots").isVisible() && await page.locator("#control-other_player").isHidden());
    await page.locator('#scenes [data-name="prediction"]').click();
    await page.waitForFunction(() => window.foretell.settings.scene === "prediction" && others(window.foretell.frames.at(-1)).length === 1);
    assert(await page.locator("#control-bots").isHidden() && await page.locator("#control-other_player").isVisible());
    assert((await newestFrame(page)) > before, "the run goes on");
  });
}

test("a replayed run turns its scene and its controls by itself", async () => {
  const page = await open();
  // So long that a busy machine sees the beginning of its replay.
  await until(page, (await newestFrame(page)) + 240);
  await page.locator("#prediction").click();
  await until(page, (await newestFrame(page)) + 60);
  await turnToStyles(page);
  await until(page, (await newestFrame(page)) + 60);
  const again = await open(DESKTOP, await copied(page));
  assert(await again.locator("#arena").isVisible());
  assert.equal(await again.locator("#prediction").getAttribute("aria-checked"), "true");
  await again.waitForFunction(() => window.foretell.frames.at(-1).replaying && document.getElementById("prediction").getAttribute("aria-checked") === "false");
  await again.waitForFunction(() => window.foretell.frames.at(-1).replaying && window.foretell.frames.at(-1).lanes);
  assert.equal(await again.locator(".lane:visible").count(), 4);
  assert(await again.locator("#control-curves").isVisible());
});

test("bots come and go with their slider, and the person drives on", async () => {
  const page = await open();
  await turnToRemote(page);
  for (const bots of [7, 1]) {
    await page.locator("#control-bots").fill(String(bots));
    await page.waitForFunction((wanted) => others(window.foretell.frames.at(-1)).length === wanted, bots);
  }
  await letGo(page);
  await page.keyboard.down("KeyA");
  await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 4);
});

test("each set of charts is drawn, and its curves move", async () => {
  const page = await open();
  await turnToRemote(page);
  const picture = () => page.evaluate(() => {
    const charts = document.getElementById("charts");
    const copy = new OffscreenCanvas(charts.width, charts.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(charts, 0, 0);
    const { data } = copy.getImageData(0, 0, charts.width, charts.height);
    let [ink, sum] = [0, 0];
    for (let i = 3; i < data.length; i += 4) if (data[i]) [ink, sum] = [ink + 1, (sum * 31 + data[i - 1] + i) % 1e9];
    return { ink, sum };
  });
  const seen = new Set();
  for (const set of ["Playout", "Prediction", "Pacing"]) {
    assert.equal(await page.locator('#sets [aria-pressed="true"]').innerText(), set);
    await until(page, (await newestFrame(page)) + 5);
    const first = await picture();
    await until(page, (await newestFrame(page)) + 20);
    const second = await picture();
    assert(first.ink > 2000 && first.sum !== second.sum, JSON.stringify({ set, first, second }));
    seen.add(second.sum);
    await page.keyboard.press("v");
  }
  assert.equal(seen.size, 3);
});

test("a preset changes the network while the run goes on, in both scenes", async () => {
  const page = await open();
  for (const preset of ["terrible", "lan"]) {
    await page.keyboard.press("e");
    const before = await newestFrame(page);
    await page.locator("#preset").selectOption(preset);
    await letGo(page);
    await page.waitForFunction((name) => window.foretell.marks.at(-1)?.caption === `preset ${name}`, preset);
    const [after, seen] = [await newestFrame(page), await frames(page)];
    assert(after >= before && seen.some(({ frame }) => frame === before), "frames are counted on");
    assert.equal(seen.at(-1).state, "playing");
    await turnToRemote(page);
  }
  assert.equal(await page.locator("#preset").inputValue(), "lan");
});

test("every script has a key and marks what it does on the time axis", async () => {
  const page = await open();
  const scripts = await page.locator("#scripts button").evaluateAll((buttons) => buttons.map((button) => button.dataset.script));
  assert.deepEqual(scripts, ["spike", "blackout", "bursts", "server", "sleep", "hiccup", "slow_link"]);
  const captions = ["latency 30 ms", "total loss", "10 % in bursts of 8", "server stalls", "your tab sleeps"];
  for (const [i, caption] of captions.entries()) {
    await page.keyboard.press(String(5 + i));
    await page.waitForFunction((wanted) => window.foretell.marks.some((mark) => mark.kind === "script" && mark.caption === wanted), caption);
  }
  assert.match(await page.locator("#status").innerText(), /In \d\.\d s: /);
});

test("a card shows the datagrams that did not bring an input, and the snapshot that told", async () => {
  const page = await open();
  await page.keyboard.down("ArrowRight");
  await page.locator('[data-script="blackout"]').click();
  await page.waitForFunction(() => window.foretell.corrections.some(({ packets }) => packets.lost > 10));
  await page.keyboard.up("ArrowRight");
  const index = await page.evaluate(() => window.foretell.corrections.findIndex(({ packets }) => packets.lost > 10));
  for (let i = 0; i <= index; i += 1) await page.keyboard.press("]");
  const text = await page.locator("#card").innerText();
  assert.match(text, /Packets/);
  assert.match(text, /were in \d+ datagrams, \d+ lost/);
  assert.match(text, /never\s+lost/);
  assert.match(text, /The snapshot of tick [\d,]+ told it: sent at [\d.]+ s, it came \d+ ms later/);
  const lines = await page.locator("#card .passages g.lost").count();
  assert(lines > 0 && (await page.locator("#card .passages g.snapshot").count()) === 1);
  await page.keyboard.press("Escape");
  assert(await page.locator("#card").isHidden());
});

test("a link of remote players with scripts and presets plays the same run, bit for bit", async () => {
  const page = await open();
  await turnToRemote(page);
  await page.keyboard.press("8");
  await page.keyboard.down("ArrowUp");
  await page.locator("#preset").selectOption("4g");
  await letGo(page);
  await until(page, (await newestFrame(page)) + 240);
  await page.keyboard.press("6");
  await until(page, (await newestFrame(page)) + 60);
  const shared = await playedAgain(page, 250);
  assert(shared.some(({ marks }) => marks.some(({ caption }) => caption === "server stalls")));
});

const FAULTS = "faults=0:p0:latency:both:40,0:p1:latency:both:90,2500-1500:p1:loss:up:100,4200:s:event:3&seed=9&players=4&ms=6000";

test("a link of faults opens with its players, and marks each fault on the time axis", async () => {
  const page = await open(DESKTOP, `${origin}/#${FAULTS}`);
  await page.waitForFunction(() => others(window.foretell.frames.at(-1)).length === 3);
  assert.deepEqual(await page.evaluate(() => [window.foretell.settings.scene, window.foretell.seed, window.foretell.settings.latency_ms]), ["remote", 9, 0]);
  assert(page.url().endsWith(`#${FAULTS}`), page.url());
  await page.waitForFunction(() => window.foretell.marks.some(({ caption }) => caption === "end of the scenario"));
  const marks = await page.evaluate(() => window.foretell.marks.map(({ kind, caption, time_s }) => [kind, caption, time_s]));
  const at = (caption) => marks.find((mark) => mark[0] === "script" && mark[1] === caption)?.[2];
  assert.deepEqual(["you (p0): latency 40 ms", "p1: latency 90 ms", "p1: loss up 100 %", "p1: loss ends", "server: pushes your cube"].map(at), [0, 0, 2.5, 4, 4.2]);
  await page.screenshot({ path: `${SHOTS}desktop-faults.png` });
  await playedAgain(page, 250);
});

test("a slider goes back to what is set when its choice is refused", async () => {
  const page = await open(DESKTOP, `${origin}/#${FAULTS}`);
  const bots = page.locator("#control-bots");
  const before = await bots.inputValue();
  assert.notEqual(before, "7");
  await bots.fill("7");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("up to the faults"));
  assert.equal(await bots.inputValue(), before);
});

test("faults that can't be read are named with the accepted form, and the lab runs without them", async () => {
  const page = await open(DESKTOP, `${origin}/#faults=0:p0:latency:both:40,300:p0:rain&seed=1&players=2&ms=3000`);
  await page.waitForFunction(() => document.getElementById("status").classList.contains("grave"));
  assert.match(await page.locator("#status").innerText(), /`300:p0:rain` is no fault; one is at\[-length\]:who:what.+without/);
  await until(page, (await newestFrame(page)) + 30);
  assert.equal(await page.evaluate(() => window.foretell.marks.length), 0);
});

test("others are predicted from relayed inputs when asked to, by key and in the link, and each correction has its cause", async () => {
  const page = await open();
  await turnToRemote(page);
  await page.locator("#preset").selectOption("4g");
  const key = await page.locator("#control-others").getAttribute("aria-keyshortcuts");
  await letGo(page);
  await page.keyboard.press(key);
  await letGo(page);
  await page.waitForFunction(() => others(window.foretell.frames.at(-1)).every(({ source }) => source === "predicted"));
  await page.waitForFunction(() => window.foretell.corrections.some(({ own, causes }) => !own && causes.includes("relayed input differed")));
  assert.deepEqual(await page.evaluate(() => window.foretell.corrections.filter(({ causes }) => !causes.length)), []);
  assert.match(await page.locator("#legend").innerText(), /predicted/);
  assert.match(await page.locator("#causes").innerText(), /relayed input[\s\S]+other player/);
  const index = await page.evaluate(() => window.foretell.corrections.findIndex(({ causes }) => causes.includes("relayed input differed")));
  for (let i = 0; i <= index; i += 1) await page.keyboard.press("]");
  assert.match(await page.locator("#card").innerText(), /not the one that was guessed/);
  await page.screenshot({ path: `${SHOTS}desktop-predicted.png` });
  const again = await open(DESKTOP, page.url());
  assert.equal(await again.evaluate(() => window.foretell.settings.others), "predicted");
});

test("the address holds the settings", async () => {
  const page = await open();
  await page.locator("#control-latency_ms").fill("200");
  await page.waitForFunction(() => window.foretell.settings.latency_ms === 200);
  const again = await open(DESKTOP, page.url());
  assert.deepEqual(await again.evaluate(() => window.foretell.settings), await page.evaluate(() => window.foretell.settings));
  assert.equal(await again.locator("#control-latency_ms").inputValue(), "200");
});

test("a link that can't be read is told, and a plain run plays", async () => {
  const page = await open(DESKTOP, `${origin}/#nonsense`);
  await page.waitForFunction(() => document.getElementById("status").classList.contains("grave"));
  assert(await page.evaluate(() => window.foretell.frames.length > 0));
});

test("a restart takes the seed and keeps the settings", async () => {
  const page = await open();
  await page.locator("#control-latency_ms").fill("150");
  await page.waitForFunction(() => window.foretell.settings.latency_ms === 150);
  await page.locator("#seed").fill("7");
  await page.locator("#seed").press("Enter");
  await page.waitForFunction(() => window.foretell.seed === 7 && window.foretell.frames.length > 0);
  assert.equal(await page.evaluate(() => window.foretell.settings.latency_ms), 150);
  assert((await newestFrame(page)) < 60);
});

test("pause holds the run and step takes one frame", async () => {
  const page = await open();
  await page.keyboard.press("p");
  await page.waitForTimeout(150);
  const held = await newestFrame(page);
  await page.waitForTimeout(150);
  assert.equal(await newestFrame(page), held);
  await page.keyboard.press(".");
  await page.waitForTimeout(150);
  assert.equal(await newestFrame(page), held + 1);
});

test("it says so when the program is gone and goes on when it is back", async () => {
  const page = await open();
  const gone = new Promise((resolve) => program.once("exit", resolve));
  program.kill();
  await gone;
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("does not answer"));
  await startProgram(Number(new URL(origin).port));
  await page.waitForFunction(() => document.getElementById("status").textContent === "The program is back: the run begins anew.");
  await until(page, 30);
  await page.waitForFunction(() => !document.getElementById("status").textContent.includes("anew"));
  // The browser itself reports each connection that was refused or cut meanwhile.
  forgive(/WebSocket connection.*failed|ERR_CONNECTION_RE(FUSED|SET)|icon\.svg/);
});
