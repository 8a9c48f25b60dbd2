// The windowed game in Bevy, in a page: alone over a simulated network, and on a native server.
//   cargo xtask bevy
//   cd rim/bevy_foretell/arena && cargo build
//   BEVY_PAGE=the folder that the first has printed ARENA_BIN=the program that the second has made node --test app/browser-test/bevy.mjs
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { run, servePage } from "./bevy-page.mjs";

const { BEVY_PAGE: FOLDER, ARENA_BIN: PROGRAM, SHOTS } = process.env;
assert(FOLDER, "BEVY_PAGE is the folder of the page");
assert(PROGRAM, "ARENA_BIN is the program of the game");
const OWN_TANK = { least: [0, 110, 40], most: [130, 255, 190] };

/** Draws without a graphics card. */
const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });

/** A page in a browser of its own: one that has just lost a page that drew like this may draw nothing for a while. */
async function open(t, address) {
  const browser = await launch();
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 960, height: 720 } });
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (said) => said.type() === "error" && errors.push(said.text()));
  await page.goto(address);
  return { page, errors };
}

/** Where the own tank is in the picture, in pixels; null where there is none. */
async function ownTank(page, name) {
  const picture = await page.screenshot(SHOTS ? { path: join(SHOTS, `${name}.png`) } : {});
  return page.evaluate(
    async ([source, { least, most }]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const sum = { x: 0, y: 0, count: 0 };
      for (let at = 0; at < data.length; at += 4) {
        if ([0, 1, 2].some((color) => data[at + color] < least[color] || data[at + color] > most[color])) continue;
        if (data[at + 1] < data[at] + 60 || data[at + 1] < data[at + 2] + 20) continue;
        sum.x += (at / 4) % image.width;
        sum.y += Math.floor(at / 4 / image.width);
        sum.count += 1;
      }
      return sum.count > 100 ? { x: sum.x / sum.count, y: sum.y / sum.count } : null;
    },
    [`data:image/png;base64,${picture.toString("base64")}`, OWN_TANK],
  );
}

/** Waits until the own tank is there: a module of this size takes its time. */
async function seeOwnTank(page, name) {
  for (let tries = 0; tries < 60; tries += 1) {
    const tank = await ownTank(page, name);
    if (tank) return tank;
    await page.waitForTimeout(1000);
  }
  assert.fail("the own tank has not come within a minute");
}

/** Holds a key until the own tank has gone to the right: where a picture takes seconds to draw, that takes as long. */
async function driveRight(page, key, from, name) {
  await page.keyboard.down(key);
  for (let tries = 0; tries < 40; tries += 1) {
    const tank = await ownTank(page, name);
    if (tank && tank.x > from.x + 30) return page.keyboard.up(key);
    await page.waitForTimeout(250);
  }
  assert.fail(`the tank is where it was, at ${from.x}`);
}

test("a page plays alone over a simulated network, and on a native server", async (t) => {
  await servePage(t, FOLDER);

  await t.test("alone: the tank drives where its keys say", async (t) => {
    const { page, errors } = await open(t, "http://localhost:8000/");
    const before = await seeOwnTank(page, "bevy-alone");
    await driveRight(page, "d", before, "bevy-alone-driven");
    assert.deepEqual(errors, []);
  });

  await t.test("on a native server: joins, drives, and is seen leaving", async (t) => {
    const { lines: said, hear } = run(t, PROGRAM, "server");
    const address = (await hear("in a browser")).split(": ")[1];
    const { page, errors } = await open(t, address.replace("NAME", "alice"));
    const before = await seeOwnTank(page, "bevy-joined");
    await hear("Joined");
    await driveRight(page, "ArrowRight", before, "bevy-joined-driven");
    assert.deepEqual(errors, []);
    const gone = () => said.some((line) => /Left|Lost/.test(line));
    assert(!gone(), said.join("\n"));
    await page.close();
    for (let tries = 0; tries < 100 && !gone(); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert(gone(), "nobody has left");
  });
});
