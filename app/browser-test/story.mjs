// Opens the lab as somebody does who has never seen it: FORETELL_BIN=path/to/foretell npm test;
// with PICTURES=1 there are pictures of it in screenshots/ afterwards.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PHONE, PICTURED, SHOTS } from "./common.mjs";
import { inkOf, newestFrame, openAnew, origin, until } from "./lab.mjs";

const DESKTOP = { viewport: { width: 1440, height: 900 } };
const STEPS = ["Without prediction", "With prediction", "A lost input", "A push by the server", "The others", "Physics"];

const open = (options = DESKTOP, address = origin) => openAnew(options, address);
const newest = (page) => page.evaluate(() => window.foretell.frames.at(-1));
const settings = (page) => page.evaluate(() => window.foretell.settings);
const waitFor = (page, seconds) => page.waitForFunction((s) => window.foretell.frames.at(-1)?.time_s >= s, seconds);
/** After how many frames the own cube answers to the right arrow, held when it rests. */
async function answer(page) {
  await page.keyboard.press("KeyD");
  await page.waitForFunction(() => {
    const run = window.foretell.frames.slice(-60).map((frame) => frame.bot || frame.keys || frame.cubes.find(({ role }) => role === "client")?.position[0]);
    return run.length === 60 && run.every((x) => typeof x === "number" && Math.abs(x - run[0]) < 1e-3);
  });
  const from = (await newest(page)).frame;
  await page.keyboard.down("ArrowRight");
  await page.waitForFunction((from) => {
    const run = window.foretell.frames.filter(({ frame }) => frame >= from);
    const x = (frame) => frame.cubes.find(({ role }) => role === "client").position[0];
    return x(run.at(-1)) > x(run[0]) + 0.01;
  }, from);
  await page.keyboard.up("ArrowRight");
  return page.evaluate((from) => {
    const run = window.foretell.frames.filter(({ frame }) => frame >= from);
    const x = (frame) => frame.cubes.find(({ role }) => role === "client").position[0];
    return run.findIndex((frame) => x(frame) > x(run[0]) + 0.005) - run.findIndex(({ keys }) => keys);
  }, from);
}

test("it opens on a bad network that a script drives over, and says what it is and how to take over", async () => {
  const page = await open();
  const { latency_ms, jitter_ms, loss_percent } = await settings(page);
  assert(latency_ms === 150 && jitter_ms > 0 && loss_percent > 0);
  const first = await newest(page);
  assert(first.bot && first.state === "playing");
  assert.match(await page.locator("#told").innerText(), /^Foretell is netcode for games in Rust. Drive a cube over a bad network/);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("press an arrow key to take over"));
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => !window.foretell.frames.at(-1).bot && !document.getElementById("status").textContent.includes("take over"));
});

test("without prediction the own cube answers as late as the switch says, and with it at once", async () => {
  const page = await open();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.foretell.settings.prediction === false);
  const late = await answer(page);
  const [told] = /\d+/.exec(await page.locator("#answer").innerText());
  assert(Math.abs(late * 1000 / 60 - told) < 120 && told > 300, `${late} frames, and ${told} ms are told`);
  await page.locator("#prediction").click();
  await page.waitForFunction(() => document.getElementById("answer").textContent === "answers at once");
  const soon = await answer(page);
  assert(soon <= 2, `${soon} frames`);
});

test("a tour of six steps shows what each is about, stands in the address, and is left for what was set", async () => {
  const page = await open();
  const before = await settings(page);
  await page.locator("#pause").click();
  await page.getByRole("button", { name: /take the tour/i }).click();
  for (const [i, title] of STEPS.entries()) {
    await page.waitForFunction((nth) => location.hash === `#tour=${nth}`, i + 1);
    assert.match(await page.locator("#told").innerText(), new RegExp(`^${i + 1} of 6: ${title}`));
    await page.waitForFunction(() => document.querySelectorAll(".pointed").length === 1 && document.querySelector(".pointed").checkVisibility());
    const { prediction, scene } = await settings(page);
    assert.equal(prediction, i !== 0);
    assert.equal(scene, ["prediction", "prediction", "prediction", "prediction", "remote", "physics"][i]);
    // What it points at in the arena, it writes in a box of this colour.
    for (let attempt = 0; i < 5 && (await inkOf(page, "#arena", "late")).ink < 500; attempt += 1) {
      assert(attempt < 100, `${title}: nothing is marked in the picture`);
      await page.waitForTimeout(50);
    }
    if (title === "A lost input") {
      await page.waitForFunction(() => !document.getElementById("card").hidden, null, { timeout: 20_000 });
      assert.match(await page.locator("#card").innerText(), /own input late or substituted[\s\S]+lost/);
    }
    if (title === "A push by the server") await page.waitForFunction(() => /server event/.test(document.getElementById("card").innerText));
    if (title === "A push by the server") await page.waitForFunction(() => document.querySelector("#log li .why")?.textContent.includes("the server pushed"));
    if (title === "The others") await page.locator("#control-curve").selectOption({ index: 0 });
    if (i < 5) await page.locator("#told").getByRole("button", { name: /^next/i }).click();
  }
  await page.getByRole("button", { name: /^done/i }).click();
  await page.waitForFunction(() => !location.hash.includes("tour") && window.foretell.settings.scene === "prediction");
  await page.waitForFunction(() => document.querySelectorAll(".pointed").length === 0);
  const left = await settings(page);
  assert.deepEqual(left, before, "all is as it was before the tour");
  const again = await open(DESKTOP, page.url());
  assert.deepEqual(await settings(again), left);
});

test("the tour is left for the seed and the faults of before", async () => {
  const link = "faults=0:p0:latency:both:40&seed=42&players=3&ms=6000";
  const page = await open(DESKTOP, `${origin}/#${link}`);
  const seed = () => page.evaluate(() => window.foretell.seed);
  const three = () => page.waitForFunction(() => others(window.foretell.frames.at(-1)).length === 2);
  await three();
  assert.equal(await seed(), 42);
  await page.locator("#tour button").nth(1).click();
  await page.waitForFunction(() => window.foretell.settings.scene === "prediction" && window.foretell.frames.length > 0);
  assert.notEqual(await seed(), 42);
  await page.locator("#told").getByRole("button", { name: /^leave/i }).click();
  await page.waitForFunction(() => window.foretell.seed === 42 && window.foretell.settings.scene === "remote");
  await three();
  await page.waitForFunction(() => window.foretell.marks.some(({ caption }) => caption === "you (p0): latency 40 ms"));
});

test("the tour is taken by the keyboard alone", async () => {
  const page = await open();
  while (!(await page.evaluate(() => document.activeElement.matches("#told .go")))) await page.keyboard.press("Tab");
  for (let step = 1; step <= STEPS.length; step += 1) {
    await page.keyboard.press("Enter");
    await page.waitForFunction((nth) => location.hash === `#tour=${nth}`, step);
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !location.hash.includes("tour") && window.foretell.settings.scene === "prediction");
});

test("an address is opened though the program greets before the page's code is there", async () => {
  let [sockets, early] = [0, 0];
  const page = await openAnew(DESKTOP, `${origin}/#tour=4`, (page) => {
    page.on("websocket", () => { sockets += 1; });
    return page.route("**/app.js", (route) => setTimeout(() => { early = sockets; route.continue(); }, 1000));
  });
  assert.deepEqual([early, sockets], [1, 1], "the socket opens while the page's code loads, and no other does");
  await page.waitForFunction(() => document.getElementById("told").textContent.startsWith("4 of 6"));
  const frame = await newestFrame(page);
  await until(page, frame + 30);
});

test("a step is taken up by its address and by its number, and ends with another control", async () => {
  const page = await open(DESKTOP, `${origin}/#tour=4`);
  await page.waitForFunction(() => document.getElementById("told").textContent.startsWith("4 of 6"));
  await page.locator("#tour button").nth(1).click();
  await page.waitForFunction(() => location.hash === "#tour=2" && document.getElementById("told").textContent.startsWith("2 of 6"));
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.foretell.settings.prediction === false && location.hash === "#tour=2");
  await page.locator("#control-latency_ms").fill("40");
  await page.waitForFunction(() => window.foretell.settings.latency_ms === 40 && !location.hash.includes("tour"));
  assert.match(await page.locator("#told").innerText(), /^Foretell is netcode/);
  await page.evaluate(() => { location.hash = "#tour=6"; });
  await page.waitForFunction(() => window.foretell.settings.scene === "physics");
  const link = "#AQgEAJYBASgDRgQEAQA";
  await page.evaluate((link) => { location.hash = link; }, link);
  await page.waitForFunction(() => window.foretell.settings.scene === "prediction");
  assert.equal(await page.evaluate(() => location.hash), link, "a link stays in the address");
  const wrong = await open(DESKTOP, `${origin}/#tour=7`);
  await wrong.waitForFunction(() => document.getElementById("status").classList.contains("grave") && window.foretell.frames.length > 0);
  await wrong.waitForFunction(() => !document.getElementById("status").classList.contains("grave"), null, { timeout: 15_000 });
});

test("what the page says follows the switch", async () => {
  const page = await open();
  const told = () => page.evaluate(() => ["headline", "log", "answer"].map((id) => document.getElementById(id).innerText).join(" "));
  assert.match(await told(), /You play ahead of the server[\s\S]+answers at once/);
  await page.locator("#prediction").click();
  await page.waitForFunction(() => /answers after \d+ ms: \d+ way, \d+ wait/.test(document.getElementById("answer").textContent));
  assert.match(await told(), /You wait for the server/);
  await page.locator("#pause").click();
  await page.locator(`#scenes [data-name="physics"]`).click();
  await page.waitForFunction(() => window.foretell.settings.scene === "physics");
  assert(await page.locator("#prediction").isHidden() && !(await page.locator("#told").innerText()).includes("switch"));
});

test("letters do nothing but drive, until the help is open", async () => {
  const page = await open();
  const before = await settings(page);
  for (const key of "bcefghijklmnopqrtuvxyz1234567890[].") await page.keyboard.press(key);
  await waitFor(page, (await newest(page)).time_s + 0.3);
  assert.deepEqual(await settings(page), before);
  assert.equal(await page.evaluate(() => window.foretell.marks.length), 0);
  assert.equal(await page.locator("kbd:visible").count(), 1, "that of the help alone");
  assert(await page.locator("#control-gap_policy").isHidden());
  await page.keyboard.press("?");
  assert(await page.locator("#keys").isVisible() && await page.locator("#control-gap_policy").isVisible());
  assert((await page.locator("kbd:visible").count()) > 20);
  await page.keyboard.press("n");
  await page.waitForFunction(() => window.foretell.settings.scene === "remote");
  await page.keyboard.press("Escape");
  assert(await page.locator("#keys").isHidden());
});

test("the whole page is reached by keyboard alone, and the arrows go on driving", async () => {
  const page = await open();
  const reached = [];
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim()));
    if (reached.at(-1) === "prediction") {
      await page.keyboard.press("Space");
      await page.waitForFunction(() => window.foretell.settings.prediction === false);
      await page.keyboard.down("ArrowLeft");
      await page.waitForFunction(() => window.foretell.frames.at(-1).keys === 4 && !window.foretell.frames.at(-1).bot);
      await page.keyboard.up("ArrowLeft");
    }
  }
  for (const wanted of ["prediction", "helper", "preset", "control-latency_ms", "control-loss_percent", "control-correction", "pause", "seed", "copy"]) {
    assert(reached.includes(wanted), `${wanted} is not among ${reached.join(", ")}`);
  }
});

/** Pictures of the first seconds and of each step, in both colour schemes. */
async function picture(name, options) {
  const shot = async (page, what) => {
    for (const colorScheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      await page.screenshot({ path: `${SHOTS}${name}-${colorScheme}-${what}.png` });
    }
  };
  const page = await open(options);
  for (const seconds of [2, 10, 30]) {
    await waitFor(page, seconds);
    await shot(page, `after-${seconds}-s`);
  }
  assert((await page.evaluate(() => window.foretell.corrections.length)) > 0, "something has been corrected");
  for (let step = 1; step <= STEPS.length; step += 1) {
    await page.locator("#tour button").nth(step - 1).click();
    await page.waitForFunction((nth) => location.hash === `#tour=${nth}`, step);
    await (step === 3 ? page.waitForFunction(() => !document.getElementById("card").hidden) : waitFor(page, 4));
    await shot(page, `tour-${step}`);
  }
  await page.locator('#scenes [data-name="styles"]').click();
  await page.waitForFunction(() => window.foretell.frames.length > 300 && window.foretell.frames.slice(-300).every(({ scene }) => scene === "styles"));
  await shot(page, "styles-at-first");
}

test("the first seconds and the tour are pictured, on a desktop and on a phone", PICTURED, async () => {
  await Promise.all([picture("desktop", DESKTOP), picture("phone", PHONE)]);
});
