// What all tests in a browser have: the program, a browser, free ports, a place for pictures.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const PROGRAM = process.env.FORETELL_BIN;
assert(PROGRAM, "FORETELL_BIN is the program to test");
export const SHOTS = fileURLToPath(new URL("./screenshots/", import.meta.url));
/** Of tests that check little and make pictures for somebody to look at: only with PICTURES=1, as each plays for seconds. */
export const PICTURED = { skip: process.env.PICTURES ? false : "PICTURES=1 makes them" };
/** With fewer pixels than a real one has: here they are drawn without a graphics card. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

mkdirSync(SHOTS, { recursive: true });

/** A port that nobody listens on, below those that the system gives to connections: a server that ends finds it again. */
export async function freePort() {
  for (;;) {
    const server = createServer();
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const free = await new Promise((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** A browser, with more arguments than it needs anyway. */
export const launch = (...args) =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...args] });
