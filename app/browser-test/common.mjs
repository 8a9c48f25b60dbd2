// What all tests in a browser have: the program, a browser, free ports, a place for pictures.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const PROGRAM = process.env.FORETELL_BIN;
assert(PROGRAM, "FORETELL_BIN is the program to test");
export const SHOTS = fileURLToPath(new URL("./screenshots/", import.meta.url));
/** With fewer pixels than a real one has: here they are drawn without a graphics card. */
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

mkdirSync(SHOTS, { recursive: true });

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A browser, with more arguments than it needs anyway. */
export const launch = (...args) =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...args] });
