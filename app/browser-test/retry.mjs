// When the page of the dedicated server tries again to join: node --test retry.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// By its name alone Node would take it for a script.
const source = readFileSync(new URL("../../web/page/retry.js", import.meta.url));
const { Retry } = await import(`data:text/javascript;base64,${source.toString("base64")}`);

/** After how many milliseconds each of so many tries is due that are made as soon as they may be. */
function pauses(retry, from, count) {
  let now = from;
  return Array.from({ length: count }, () => {
    const before = now;
    retry.begin(now);
    while (!retry.isDue(now)) now += 500;
    return now - before;
  });
}

test("a page that is not let in asks after a second, less and less often, and after it was let in as soon again", () => {
  const retry = new Retry();
  assert(retry.isDue(0));
  assert.deepEqual(pauses(retry, 0, 7), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  retry.succeed();
  assert(retry.isDue(0));
  assert.deepEqual(pauses(retry, 100_000, 2), [1000, 2000]);
});

test("a page that has asked for too much asks again when the server has said, and no sooner for a shorter pause", () => {
  const retry = new Retry();
  retry.begin(0);
  retry.putOff(0, 30_000);
  retry.putOff(0, 0);
  assert(!retry.isDue(29_999));
  assert(retry.isDue(30_000));
});
