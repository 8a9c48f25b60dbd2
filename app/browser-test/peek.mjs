// The lab's scene of lag compensation in a real browser, by the keyboard alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { letGo, open, pictureBecomes, pictureOf } from "./lab.mjs";

/** Turns to the scene by its key. */
async function turnToPeek(page) {
  for (let turns = 0; turns < 9; turns += 1) {
    const before = await page.evaluate(() => window.foretell.settings.scene);
    if (before === "peek") break;
    await page.keyboard.press("n");
    await page.waitForFunction((before) => window.foretell.settings.scene !== before, before);
  }
  await page.waitForFunction(() => window.foretell.frames.at(-1)?.scene === "peek");
}

/** What the chip beside a control says. */
const keyOf = (page, control) => page.locator(`.row:has(#control-${control}) kbd`).innerText();

/** Waits for a shot of the person's of which this holds, and gives it. */
async function shotOf(page, holds) {
  const found = await page.waitForFunction((holds) => {
    const shots = window.foretell.frames.flatMap(({ lanes }) => lanes?.shots ?? []);
    return shots.findLast((shot) => shot.by === 0 && holds.every(([field, part]) => String(shot[field]).includes(part)));
  }, holds, { timeout: 60_000 });
  return found.jsonValue();
}

/** Pauses the run, or lets it go on. */
async function pause(page, yes) {
  await page.keyboard.press("p");
  await page.waitForFunction((yes) => (document.getElementById("pause-label").textContent !== "Pause") === yes, yes);
}

/** The card of a shot of a run that is paused, opened. */
async function cardOf(page, { number, tick }) {
  const card = page.locator(`.shot[data-shot="${number}/${tick}"]`);
  await card.waitFor();
  if (!(await card.evaluate((card) => card.open))) await card.locator("summary").press("Enter");
  return card;
}

test("a shot by the keyboard gets a card, whose bar is made of the parts that it names", async () => {
  const page = await open();
  await turnToPeek(page);
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => !window.foretell.frames.at(-1).bot);
  assert.equal(await page.locator("#keycaps .wide").innerText(), "shoot");
  await page.keyboard.down("Space");
  const shot = await shotOf(page, [["outcome", "hit"]]);
  await page.keyboard.up("Space");
  await pause(page, true);
  const card = await cardOf(page, shot);
  const text = await card.innerText();
  assert.match(text, /You hit[\s\S]+claimed\s+\d+ ms ago[\s\S]+used\s+\d+ ms ago[\s\S]+why\s+as claimed[\s\S]+error\s+at most/);
  const { names, widths, whole, patterns } = await card.evaluate((card) => {
    const pieces = [...card.querySelectorAll(".bar-of-parts i")];
    return {
      names: [...card.querySelectorAll(".parts li")].map((part) => part.innerText),
      widths: pieces.map((piece) => piece.getBoundingClientRect().width),
      whole: card.querySelector(".bar-of-parts").getBoundingClientRect().width,
      patterns: new Set(pieces.map((piece) => `${getComputedStyle(piece).backgroundImage} ${getComputedStyle(piece).backgroundColor}`)).size,
    };
  });
  const { parts, peek_ms } = shot.receipt;
  assert.deepEqual(names, parts.map(({ name, ms }) => `${Math.round(ms)} ms ${name}`));
  assert.equal(patterns, parts.length, "each looks otherwise");
  parts.forEach(({ ms }, i) => assert(Math.abs(widths[i] - (ms / peek_ms) * whole) < 8, `${widths[i]} of ${whole} px are ${ms} of ${peek_ms} ms`));
  assert.match(text, new RegExp(`sees first by\\s+${Math.round(peek_ms)} ms`));
});

test("a card that the keyboard comes to draws its shot again, however long ago it was", async () => {
  const page = await open();
  await turnToPeek(page);
  await page.waitForFunction(() => window.foretell.frames.filter(({ lanes }) => lanes?.shots?.length).length > 4);
  await pause(page, true);
  const card = page.locator(".shot summary").last();
  const before = await pictureOf(page);
  await card.focus();
  assert(await pictureBecomes(page, before, true));
  await letGo(page);
  assert(await pictureBecomes(page, before, false));
});

test("grace is a switch with a key: who was in cover is hit without it and spared with it, and it is in the address", async () => {
  const page = await open();
  await turnToPeek(page);
  await page.locator("#control-latency_ms").fill("110");
  await page.locator("#control-other_plays").selectOption({ label: "peeks round the corner" });
  await letGo(page);
  // Bots play as long as no key is pressed that drives.
  const late = await shotOf(page, [["outcome", "hit"], ["result", "in cover"]]);
  await pause(page, true);
  assert.match(await (await cardOf(page, late)).innerText(), /Hit, though the other had been in cover for \d+ ms\./);
  const before = await page.evaluate(() => location.hash);
  await letGo(page);
  await pause(page, false);
  await page.keyboard.press(await keyOf(page, "grace"));
  await page.waitForFunction(() => window.foretell.settings.grace);
  const spared = await shotOf(page, [["outcome", "spared"]]);
  await letGo(page);
  await pause(page, true);
  const text = await (await cardOf(page, spared)).innerText();
  assert.match(text, /Your hit is taken back[\s\S]+Taken back: the other had been in cover for \d+ ms, and the grace is 100 ms\./);
  const address = await page.evaluate(() => location.href);
  assert.notEqual(new URL(address).hash, before);
  const again = await open(undefined, address);
  assert.deepEqual(await again.evaluate(() => [window.foretell.settings.scene, window.foretell.settings.grace, window.foretell.settings.other_plays]), ["peek", true, "peeks"]);
});
