// Drives the scenes of lanes in a real browser against the real program: FORETELL_BIN=path/to/foretell npm test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frames, inkOf, lanesOf, letGo, newestFrame, noteDrawn, open, pictureBecomes, pictureOf, truthOf, turnTo, turnToLanes, turnToPhysics, turnToStyles, until, waysOf } from "./lab.mjs";

test("who holds the cube stands on it, and changes with the frame in which it is handed over", async () => {
  const page = await open();
  await turnTo(page, "shared");
  await noteDrawn(page);
  const word = (text) => page.waitForFunction((text) => window.drawn.some((drawn) => drawn.text === text), text);
  await word("a script holds it");
  await page.keyboard.press("KeyD");
  await word("you hold it");
  await page.locator('[data-event="hand_over"]').click();
  await word("player 2 holds it");
  const { handed, mine, theirs, client, other } = await page.evaluate(() => ({
    handed: window.foretell.frames.find(({ lanes }) => lanes?.holder === 1).frame,
    mine: window.drawn.find(({ text }) => text === "you hold it"),
    theirs: window.drawn.find(({ text }) => text === "player 2 holds it"),
    ...Object.fromEntries(["client", "other"].map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()])),
  }));
  assert(theirs.frame - handed <= 4, `handed over in frame ${handed}, drawn in ${theirs.frame}`);
  assert.deepEqual([mine.colour, theirs.colour], [client, other]);
  await page.locator('[data-event="hand_over"]').click();
  await page.waitForFunction(() => window.foretell.frames.at(-1).lanes.holder === 0);
});

test("the scene of styles shows a lane for each curve, with its picture, its figures and a curve in the charts", async () => {
  const page = await open();
  await turnToStyles(page);
  assert.equal(await page.locator(".lane:visible").count(), 4);
  while (await page.locator(".rest button").count()) await page.locator(".rest button").first().click();
  await until(page, (await newestFrame(page)) + 240);
  const names = await page.evaluate(() => window.foretell.frames.at(-1).lanes.lanes.map(({ name }) => name));
  assert.deepEqual(await page.locator(".lane h3").allInnerTexts(), names);
  assert(names.length === 8 && names.includes("Hermite, later") && names.includes("PUN transform"), names.join());
  for (let i = 1; i <= names.length; i += 1) {
    const canvas = `.lane:nth-child(${i}) .view canvas`;
    const first = await inkOf(page, canvas);
    await until(page, (await newestFrame(page)) + 10);
    const second = await inkOf(page, canvas);
    assert(first.ink > 2000 && first.sum !== second.sum, JSON.stringify({ name: names[i - 1], first, second }));
    assert.match(await page.locator(`.lane:nth-child(${i})`).innerText(), /RMS now ↓\s+[\d.]+ cm\s+delay ↓\s+(\d+|–) ms\s+RMS then/);
  }
  assert(await page.locator(".lane .best").count() > 5, "the best figures are marked");
  for (const colour of ["client", "late", "local", "event", "text", "ghost"]) {
    const { ink } = await inkOf(page, "#charts", colour);
    assert(ink > 40, `${ink} pixels of ${colour}`);
  }
  assert(await page.locator("#arena").isHidden() && await page.locator("#now").isHidden() && await page.locator("#control-curves").isVisible());
  assert(await page.locator("#control-tick_rate").isHidden() && await page.locator("#control-latency_ms").isVisible());
});

test("the arrow keys move the owner, after the bot, and a preset lies over the lanes", async () => {
  const page = await open();
  await turnToStyles(page);
  await page.waitForFunction(() => window.foretell.frames.at(-1).bot && window.foretell.frames.at(-1).keys);
  await page.keyboard.press("KeyS");
  await until(page, (await newestFrame(page)) + 90);
  const before = await truthOf(page);
  await page.keyboard.down("ArrowLeft");
  await page.keyboard.down("ArrowUp");
  await until(page, (await newestFrame(page)) + 30);
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.up("ArrowUp");
  const after = await truthOf(page);
  assert(after[0] < before[0] - 0.3 && after[2] > before[2] + 0.3, JSON.stringify({ before, after }));
  await page.locator("#control-motion").selectOption({ label: "in a circle" });
  const delay = () => page.evaluate(() => window.foretell.frames.at(-1).lanes.lanes[0].figures.find(({ label }) => label === "delay").value);
  await page.locator("#preset").selectOption("terrible");
  await until(page, (await newestFrame(page)) + 330);
  const [bad] = [await delay()];
  await page.locator("#preset").selectOption("perfect");
  await until(page, (await newestFrame(page)) + 330);
  assert(bad > (await delay()) + 30, `${bad} and ${await delay()} ms`);
});

test("a lane is shown alone, switched off and back, and its curve with it; a choice brings other lanes", async () => {
  const page = await open();
  await turnToStyles(page);
  await until(page, (await newestFrame(page)) + 60);
  const shown = () => page.locator(".lane:visible h3").allInnerTexts();
  const all = await shown();
  const others = (await page.locator(".lane").count()) - all.length;
  assert.deepEqual([all.length, others], [4, 4]);
  await page.locator(".lane:nth-child(4) .view canvas").click();
  assert.deepEqual(await shown(), [all[3]]);
  assert.match(await page.locator(".lane.alone").innerText(), /corrected[\s\S]+D18[\s\S]+unsteady/);
  assert.equal(await page.locator(".rest button").count(), all.length + others - 1);
  await page.locator(".lane.alone .view canvas").click();
  assert.deepEqual(await shown(), all);
  await page.locator(".lane:nth-child(3) .off").click();
  await page.mouse.move(5, 5);
  assert.deepEqual(await shown(), all.filter((_, i) => i !== 2));
  await until(page, (await newestFrame(page)) + 3);
  assert.equal((await inkOf(page, "#charts", "local")).ink, 0);
  await page.locator(".rest button").first().click();
  await page.mouse.move(5, 5);
  assert.deepEqual(await shown(), all);
  await page.locator("#control-curves").selectOption({ label: "PUN's views" });
  await page.waitForFunction(() => document.querySelector(".lane h3")?.textContent === "PUN transform");
  await page.locator('#scenes [data-name="prediction"]').click();
  await page.waitForFunction(() => document.getElementById("lanes").hidden);
  assert(await page.locator("#arena").isVisible() && await page.locator("#now").isVisible());
});

test("three architectures answer to one key: two at once, the one in which the server decides later", async () => {
  const page = await open();
  await turnToLanes(page, "qiita");
  assert.deepEqual(await page.locator(".lane h3").allInnerTexts(), ["client decides", "server decides", "prediction"]);
  await page.locator("#preset").selectOption("terrible");
  await until(page, (await newestFrame(page)) + 120);
  const pressed = await newestFrame(page);
  await page.keyboard.down("ArrowRight");
  await until(page, pressed + 60);
  await page.keyboard.up("ArrowRight");
  const moved = await page.evaluate((from) => {
    const run = window.foretell.frames.filter(({ frame }) => frame >= from);
    const held = run.find(({ keys }) => keys & 8).frame;
    return [0, 1, 2].map((lane) => {
      const x = (frame) => frame.lanes.lanes[lane].cubes.find(({ role }) => role === "client").position[0];
      return run.find((frame) => x(frame) > x(run[0]) + 1e-3).frame - held;
    });
  }, pressed);
  assert(moved[0] === 0 && moved[1] > 6 && moved[2] === 0, `after ${moved.join(", ")} frames`);
  for (let i = 1; i <= 3; i += 1) assert((await inkOf(page, `.lane:nth-child(${i}) .view canvas`)).ink > 2000);
  const lanes = await lanesOf(page);
  assert(lanes[0]["input lag"] === 0 && lanes[1]["input lag"] > 100 && lanes[2]["input lag"] === 0, JSON.stringify(lanes));
});

test("a cheat is seen by others where the server believes everything, and only there", async () => {
  const page = await open();
  await turnToLanes(page, "qiita");
  await page.locator("#preset").selectOption("perfect");
  for (const [believes, fast] of [["everything", true], ["nothing", false]]) {
    await page.locator("#control-server_believes").selectOption({ index: fast ? 1 : 0 });
    await letGo(page);
    await page.keyboard.down("ArrowLeft");
    await until(page, (await newestFrame(page)) + 240);
    await page.keyboard.up("ArrowLeft");
    await page.locator('[data-event="triple_direction"]').click();
    await page.keyboard.down("ArrowRight");
    const from = await newestFrame(page);
    await until(page, from + 60);
    await page.keyboard.up("ArrowRight");
    await until(page, from + 75);
    const seen = await page.evaluate((from) => {
      const run = window.foretell.frames.filter(({ frame }) => frame > from);
      return [0, 2].map((lane) => Math.max(...run.map(({ lanes }) => lanes.lanes[lane].chart[2])));
    }, from);
    assert(seen.every((speed) => (fast ? speed > 9 : speed < 6)), `${seen} m/s where the server believes ${believes}`);
    const lanes = await lanesOf(page);
    assert([0, 2].every((lane) => (lanes[lane].refused > 0) === !fast), JSON.stringify(lanes));
    await until(page, from + 320);
  }
});

test("each step of a resync is listed with its time", async () => {
  const page = await open();
  await turnToLanes(page, "qiita");
  await page.keyboard.press("2");
  await page.waitForFunction(() => document.querySelectorAll(".steps li").length === 5);
  const steps = await page.locator(".steps li").allInnerTexts();
  const expected = [/client: .*RequestResync/, /server: RequestResync has come/, /server: .*sends Resync/, /client: Resync has come.*FinishResync/, /server: FinishResync has come/];
  steps.forEach((step, i) => {
    assert.match(step, /^\d+\.\d\d s /);
    assert.match(step, expected[i]);
  });
  assert.equal((await lanesOf(page))[2].resyncs, 1);
  await page.locator("#control-resync_found_by").selectOption({ label: "the server" });
  await until(page, (await newestFrame(page)) + 60);
  await page.keyboard.press("2");
  await page.waitForFunction(() => /server: the position that came with the inputs is another[^]+server: FinishResync/.test(document.querySelector(".steps").textContent));
});

test("both systems answer a key at once, and only the server that is stepped by arriving inputs waits for them", async () => {
  const page = await open();
  await turnToLanes(page, "stepping");
  assert.deepEqual(await page.locator(".lane h3").allInnerTexts(), ["the article", "Foretell"]);
  await page.locator("#preset").selectOption("terrible");
  await letGo(page);
  await until(page, (await newestFrame(page)) + 120);
  const pressed = await newestFrame(page);
  await page.keyboard.down("ArrowRight");
  await until(page, pressed + 45);
  await page.keyboard.up("ArrowRight");
  const moved = await page.evaluate((from) => {
    const run = window.foretell.frames.filter(({ frame }) => frame >= from);
    const held = run.find(({ keys }) => keys & 8).frame;
    const first = (lane, role) => {
      const x = (frame) => frame.lanes.lanes[lane].cubes.find((cube) => cube.role === role).position[0];
      return run.find((frame) => x(frame) > x(run[0]) + 1e-2).frame - held;
    };
    return [0, 1].map((lane) => ["client", "server"].map((role) => first(lane, role)));
  }, pressed);
  assert(moved.every(([client, server]) => client <= 2 && server > 6), `after ${moved.join(", ")} frames`);
  const lanes = await lanesOf(page);
  assert(lanes[0].waits > 30 && lanes[1].waits === 0 && lanes.every(({ apart }) => apart > 100), JSON.stringify(lanes));
  for (let i = 1; i <= 2; i += 1) assert((await inkOf(page, `.lane:nth-child(${i}) .view canvas`)).ink > 2000);
  assert(await page.locator("#conditions").isVisible() && await page.locator("#control-reconciliation").isVisible());
});

test("a push by the server is seen by each way of reconciliation, and never by none", async () => {
  const page = await open();
  await turnToLanes(page, "stepping");
  await page.locator("#control-stepping_lanes").selectOption({ label: "reconciliation" });
  await letGo(page);
  await page.waitForFunction(() => document.querySelectorAll(".lane").length === 4);
  assert.deepEqual(await page.locator(".lane h3").allInnerTexts(), ["replays", "always replays", "snaps", "never corrects"]);
  await until(page, (await newestFrame(page)) + 60);
  await page.keyboard.press("1");
  await until(page, (await newestFrame(page)) + 150);
  const lanes = await lanesOf(page);
  const apart = lanes.map(({ client, server }) => Math.hypot(...client.map((lane, i) => lane - server[i])));
  assert(apart.slice(0, 3).every((metres) => metres < 0.01) && apart[3] > 0.3, JSON.stringify(apart));
  assert(lanes[1]["run again"] > 20 * lanes[0]["run again"] && lanes[0].corrections > 0 && lanes[3].corrections === 0, JSON.stringify(lanes));
  assert.match(await page.locator(".lane .said").first().innerText(), /corrected by \d+ cm over \d+ ticks/);
});

test("a fast clock moves a player faster where inputs step the server, and only there", async () => {
  const page = await open();
  await turnToLanes(page, "stepping");
  await page.keyboard.down("ArrowLeft");
  await until(page, (await newestFrame(page)) + 200);
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.press("9");
  await page.keyboard.down("ArrowRight");
  const from = await newestFrame(page);
  await until(page, from + 75);
  await page.keyboard.up("ArrowRight");
  const [article, ours] = await page.evaluate((from) => {
    const x = (frame, lane) => frame.lanes.lanes[lane].cubes.find(({ role }) => role === "server").position[0];
    const run = window.foretell.frames.filter(({ frame }) => frame >= from && frame <= from + 75);
    return [0, 1].map((lane) => x(run.at(-1), lane) - x(run[0], lane));
  }, from);
  assert(article > 1.5 * ours && ours > 2, `${article} and ${ours} m`);
});

test("an owner that moves in frames is captured unevenly, by the other strategies evenly", async () => {
  const page = await open();
  await turnToLanes(page, "shared");
  for (const frames of ["30 Hz", "144 Hz"]) {
    await page.locator("#control-owner_frames").selectOption({ label: frames });
    await letGo(page);
    await page.keyboard.down(frames === "30 Hz" ? "ArrowLeft" : "ArrowRight");
    await until(page, (await newestFrame(page)) + 110);
    const lanes = await lanesOf(page);
    await page.keyboard.up("ArrowLeft");
    await page.keyboard.up("ArrowRight");
    assert(lanes[0]["uneven by"] > 2, `${lanes[0]["uneven by"]} cm at ${frames}`);
    assert(frames !== "30 Hz" || lanes.slice(1).every((lane) => lane["uneven by"] < 0.01), JSON.stringify(lanes));
    assert(lanes.every(({ client, other }) => Math.abs(client[0] - other[0]) > 0.1), "others see it late");
    // The article's hybrid moves up to the frame before, by the keys of this one.
    assert(lanes[2]["own view off"] > 0.5 && Math.abs(lanes[3]["input delay"]) < 0.01, JSON.stringify(lanes));
  }
  for (let i = 1; i <= 4; i += 1) assert((await inkOf(page, `.lane:nth-child(${i}) .view canvas`)).ink > 2000);
  assert(await page.locator("#control-tick_rate").isVisible() && await page.locator("#control-server_believes").isHidden());
});

test("in 3D a key moves the own cube at once, and it pushes what is in its way", async () => {
  const page = await open();
  await turnToPhysics(page);
  for (const [key, bit, sense] of [["KeyD", 8, (from, to) => to[1] - from[1]], ["KeyW", 1, (from, to) => to[2] - from[2]]]) {
    const from = (await waysOf(page))[1].at(-1);
    const pressed = await newestFrame(page);
    await page.keyboard.down(key);
    await until(page, pressed + 16);
    await page.keyboard.up(key);
    const held = (await frames(page)).find(({ frame, keys }) => frame > pressed && keys & bit).frame;
    const [frame] = (await waysOf(page))[1].find((to) => to[0] > pressed && sense(from, to) > 1);
    assert(frame <= held + 2, `${key} was held from frame ${held}, the cube moved at ${frame}`);
    await page.waitForFunction(() => window.foretell.frames.slice(-20).every(({ lanes }) => !lanes.lanes[0].bodies.client.length));
  }
  const first = await newestFrame(page);
  await page.keyboard.down("KeyW");
  await until(page, first + 120);
  await page.keyboard.up("KeyW");
  const pushed = Object.entries(await waysOf(page)).filter(([number, way]) => number >= 256 && way.at(-1)[0] > first);
  assert(pushed.length >= 5, `${pushed.length} cubes were pushed`);
  assert.equal(await page.evaluate(() => window.foretell.frames.at(-1).lanes.lanes[0].figures.find(({ label }) => label === "digests agreed").value), 100);
});

test("in 3D what is drawn follows the legend and the controls", async () => {
  const page = await open();
  await turnToPhysics(page);
  await page.locator("#conditions button").nth(2).click();
  await page.waitForFunction(() => window.foretell.settings.latency_ms === 250 && window.foretell.settings.loss_percent === 10);
  await page.locator("#control-second_player").click();
  await page.waitForFunction(() => document.querySelectorAll(".lane").length === 2 && document.querySelectorAll(".who:not([hidden])").length === 4);
  await page.keyboard.press("1");
  await page.waitForFunction(() => window.foretell.frames.some(({ lanes }) => lanes?.lanes[0].bodies?.corrected.length));
  await page.waitForFunction(() => /corrected by \d+ cm/.test(document.querySelector(".said").textContent));
  await page.keyboard.press("p");
  await page.waitForTimeout(800);
  const whole = await pictureOf(page);
  for (const role of ["client", "server", "ghost"]) {
    await page.locator(`.legend .${role}`).click();
    assert(await pictureBecomes(page, whole, true), `without ${role}`);
    await page.locator(`.legend .${role}`).click();
    assert(await pictureBecomes(page, whole, false), `with ${role} again`);
  }
  await page.keyboard.press("p");
  await page.locator("#control-field").selectOption({ index: 0 });
  await page.locator("#control-second_player").click();
  await page.waitForFunction(() => document.querySelectorAll(".lane").length === 1 && window.foretell.frames.at(-1).lanes.lanes.length === 1);
});

test("in 3D a second person takes over from the bot with keys of their own", async () => {
  const page = await open();
  await turnToPhysics(page);
  assert(await page.locator("#second").isHidden());
  await page.locator("#control-second_player").click();
  await page.waitForFunction(() => window.foretell.frames.at(-1).lanes.lanes.length === 2 && !document.getElementById("second").hidden);
  await letGo(page);
  assert.equal(await page.evaluate(() => window.foretell.frames.at(-1).lanes.second), undefined, "the bot plays");
  await page.keyboard.press("KeyI");
  await page.waitForFunction(() => window.foretell.frames.at(-1).lanes.second === 0);
  for (const [key, bit, sense] of [["KeyL", 8, (from, to) => to[1] - from[1]], ["KeyJ", 4, (from, to) => from[1] - to[1]]]) {
    await page.waitForFunction(() => window.foretell.frames.slice(-20).every(({ lanes }) => lanes.lanes[1] && !lanes.lanes[1].bodies.server.length));
    const from = (await waysOf(page))[2].at(-1);
    const pressed = await newestFrame(page);
    await page.keyboard.down(key);
    await page.waitForFunction((bit) => document.querySelector(`#second [data-bit="${bit}"]`).classList.contains("on"), bit);
    await until(page, pressed + 60);
    await page.keyboard.up(key);
    const since = (await frames(page)).filter(({ frame }) => frame > pressed);
    assert(since.every(({ keys }) => keys === 0) && since.some(({ lanes }) => lanes.second === bit), key);
    assert((await waysOf(page))[2].some((to) => to[0] > pressed && sense(from, to) > 300), `${key}: ${JSON.stringify(from)}`);
  }
  await page.locator("#control-second_player").click();
  await page.waitForFunction(() => document.getElementById("second").hidden);
});

/** The figures of the crowd's frames from a number on, each the mean of all of them, and the largest of the oldest ages. */
const crowdSince = (page, from) => page.evaluate((from) => {
  const run = window.foretell.frames.filter(({ frame, lanes }) => frame >= from && lanes).map(({ lanes }) => lanes.lanes[0]);
  const mean = (label) => run.reduce((sum, { figures }) => sum + figures.find((figure) => figure.label === label).value, 0) / run.length;
  return { median: mean("age, median"), sent: mean("sent to you"), told: mean("you are told of"), oldest: Math.max(...run.map(({ chart }) => chart[3])) };
}, from);

/** The median time in ms from one picture of the page to the next, of the next 61: what else the machine does lengthens some. */
const betweenPictures = (page) => page.evaluate(() => new Promise((done) => {
  const times = [];
  const median = () => times.slice(1).map((now, i) => now - times[i]).sort((a, b) => a - b)[30];
  const note = (now) => (times.push(now) < 61 ? requestAnimationFrame(note) : done(median()));
  requestAnimationFrame(note);
}));

test("in a crowd half the budget, by keyboard alone, makes what is seen older; it is drawn as often as the screen is", async () => {
  const page = await open();
  await turnToLanes(page, "crowd");
  const slider = page.locator("#control-budget_kbytes");
  await page.keyboard.press(await slider.getAttribute("aria-keyshortcuts"));
  const seen = [];
  for (const budget of [16, 8]) {
    await page.keyboard.press("Home");
    for (let step = 6; step < budget; step += 1) await page.keyboard.press("ArrowRight");
    await page.waitForFunction((budget) => window.foretell.settings.budget_kbytes === budget, budget);
    const from = (await newestFrame(page)) + 60;
    const drawn = betweenPictures(page);
    await until(page, from + 40);
    seen.push({ ...(await crowdSince(page, from)), ms: await drawn });
  }
  const [whole, half] = seen;
  assert(half.median > 1.5 * whole.median && half.median > 40, JSON.stringify(seen));
  assert(whole.sent < 17 && half.sent < 8.5 && half.sent > 6, JSON.stringify(seen));
  assert(whole.told > 299 && half.told > 299, JSON.stringify(seen));
  assert(seen.every(({ ms }) => ms < 25), JSON.stringify(seen));
});

test("in a crowd a slow link makes what is seen old, and is over soon after it; you walk and choose meanwhile", async () => {
  const page = await open();
  await turnToLanes(page, "crowd");
  await page.waitForFunction(() => window.foretell.frames.at(-1).lanes.lanes[0].figures[0].value === 300);
  await page.locator('[data-script="slow_link"]').click();
  const began = await newestFrame(page);
  await page.keyboard.down("ArrowUp");
  await until(page, began + 55);
  await page.keyboard.up("ArrowUp");
  const places = await page.evaluate(() => window.foretell.frames.slice(-40).map(({ lanes }) => lanes.lanes[0].crowd.own));
  assert(new Set(places).size > 30, "you walk");
  await until(page, began + 340);
  await page.keyboard.press("p");
  const picture = await pictureOf(page);
  await page.locator(".legend .server").click();
  assert(await pictureBecomes(page, picture, true), "without lines to where they are");
  await page.locator(".legend .server").click();
  assert((await inkOf(page, ".lane .view canvas", "late")).ink > 30, "what is old is orange");
  await page.keyboard.press("p");
  await until(page, began + 490);
  const [slow, fast] = [await crowdSince(page, began + 240), await crowdSince(page, began + 460)];
  const sent = await page.evaluate((frame) => window.foretell.frames.find((one) => one.frame === frame).lanes.lanes[0].chart[0], began + 340);
  assert(slow.oldest > 400 && sent < 20 && fast.oldest < 300 && fast.sent > 40, JSON.stringify({ slow, sent, fast }));
  await page.locator("#control-interest").selectOption({ label: "within 10 m" });
  await until(page, (await newestFrame(page)) + 30);
  const { told } = await crowdSince(page, (await newestFrame(page)) - 2);
  assert(told > 3 && told < 90, `${told}`);
});
