// The example of the plugin for Bevy, from one file: in a page alone, and in a page and a program on a server, which is a program too.
//   cargo xtask cube
//   cd rim/bevy_foretell && cargo build --example cube
//   CUBE_PAGE=the folder that the first has printed CUBE_BIN=the program that the second has made node --test app/browser-test/cube.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { run, servePage } from "./bevy-page.mjs";

const { CUBE_PAGE: FOLDER, CUBE_BIN: PROGRAM, SHOTS } = process.env;
assert(FOLDER, "CUBE_PAGE is the folder of the page");
assert(PROGRAM, "CUBE_BIN is the program of the example");

/** Where cubes were last said to be, by player. */
function places(lines) {
  const found = lines.flatMap((line) => [...line.matchAll(/(player \d+) is at (-?[\d.]+) m/g)]);
  return Object.fromEntries(found.map(([, player, metres]) => [player, Number(metres)]));
}

/** Looks again and again, until as many cubes as are meant have gone on. */
async function seeMoving(read, count) {
  const first = {};
  for (let tries = 0; tries < 60; tries += 1) {
    const now = places(await read());
    Object.entries(now).forEach(([player, at]) => (first[player] ??= at));
    const moved = Object.keys(now).filter((player) => now[player] > first[player] + 2);
    if (moved.length === count) return moved.sort();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.fail(`not ${count} that move: first ${JSON.stringify(first)}, last ${(await read()).join("\n")}`);
}

async function open(t, address) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (said) => said.type() === "error" && errors.push(said.text()));
  await page.goto(address);
  return { page, errors, read: async () => (await page.locator("#said").textContent()).split("\n") };
}

test("a page plays alone, and with a program on a server", async (t) => {
  await servePage(t, FOLDER);

  await t.test("alone, over a simulated network", async (t) => {
    const { page, read, errors } = await open(t, "http://localhost:8000/");
    await seeMoving(read, 1);
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/cube-alone.png` });
    assert.deepEqual(errors, []);
  });

  await t.test("on a server: page, program and server see both cubes go on", async (t) => {
    const server = run(t, PROGRAM, "server");
    const [url] = (await server.hear("^join ")).split(" ").slice(1);
    const ada = run(t, PROGRAM, url, "ada");
    const { page, read, errors } = await open(t, (await server.hear("in a browser")).split(": ")[1].replace("NAME", "bob"));
    const seen = [read, () => ada.lines, () => server.lines].map((read) => seeMoving(read, 2));
    const [here, ...others] = await Promise.all(seen);
    others.forEach((other) => assert.deepEqual(other, here));
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/cube-joined.png` });
    assert.deepEqual(errors, []);
  });

  await t.test("where nobody serves, the page says so", async (t) => {
    const { read } = await open(t, "http://localhost:8000/?bob#https://127.0.0.1:4434/");
    for (let tries = 0; !(await read()).some((line) => line.startsWith("ERROR")); tries += 1) {
      assert(tries < 60, (await read()).join("\n"));
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  });
});
