// What the tests of the lab have in common: the real program, a real browser, and what is asked of a page. CHROMIUM names another
// browser binary than Debian's.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, afterEach, before, beforeEach } from "node:test";
import { PROGRAM, freePort, launch } from "./common.mjs";

export const DESKTOP = { viewport: { width: 1366, height: 768 } };

export let program;
let browser;
export let origin;
/** Everything the pages of the running test complained about or asked of others. */
let complaints;
const contexts = [];

export async function startProgram(port) {
  program = spawn(PROGRAM, ["lab", "--port", String(port)], { stdio: ["ignore", "inherit", "inherit"] });
  origin = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await fetch(origin).then((answer) => answer.ok, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${PROGRAM} does not answer at ${origin}`);
}

/** Opens the lab as a newcomer does, in a context of its own, which is prepared first, and waits until it plays. */
export async function openAnew(options = DESKTOP, address = origin, prepare = () => {}) {
  const context = await browser.newContext({ ...options, permissions: ["clipboard-read", "clipboard-write"] });
  contexts.push(context);
  const page = await context.newPage();
  watch(page);
  await page.addInitScript(() => { window.others = (frame) => frame.cubes.filter(({ role }) => role === "other"); });
  await prepare(page);
  await page.goto(address);
  await page.waitForFunction(() => window.foretell?.frames.some((frame) => frame.state === "playing"));
  return page;
}

/** How long after it began to open the page saw itself play, in a context that has nothing of it yet. */
export async function openingMs(options) {
  const page = await openAnew(options, origin, (page) => page.addInitScript(() => {
    const look = () => {
      if (window.foretell?.frames.some((frame) => frame.state === "playing")) window.playedAt = performance.now();
      else requestAnimationFrame(look);
    };
    look();
  }));
  const ms = await (await page.waitForFunction(() => window.playedAt, null, { timeout: 5000 })).jsonValue();
  await page.context().close();
  return ms;
}

/** Opens the lab with its help, so that all controls are seen and their keys act; on a good network, unless an address says
 *  which. */
export async function open(options = DESKTOP, address = null) {
  const page = await openAnew(options, address ?? origin);
  await page.keyboard.press("?");
  if (!address) {
    await page.locator("#preset").selectOption("wifi");
    await page.waitForFunction(() => window.foretell.settings.latency_ms === 20);
    await letGo(page);
  }
  return page;
}

/** Gives the keys back to the cube, as Escape does, which closes the help where nothing has them. */
export const letGo = (page) => page.evaluate(() => document.activeElement.blur());

export async function turnToRemote(page) {
  if ((await page.evaluate(() => window.foretell.settings.scene)) !== "remote") await page.keyboard.press("n");
  await page.waitForFunction(() => window.foretell.settings.scene === "remote" && others(window.foretell.frames.at(-1)).length > 1);
}

export async function turnToStyles(page) {
  await page.locator('#scenes [data-name="styles"]').click();
  await page.waitForFunction(() => window.foretell.frames.at(-1)?.lanes?.lanes.length > 0);
}

/** Turns to a scene of lanes that is not *Styles*, and ends the bot's drive. */
export async function turnToLanes(page, scene) {
  await page.locator(`#scenes [data-name="${scene}"]`).click();
  await page.waitForFunction((wanted) => window.foretell.frames.at(-1)?.scene === wanted, scene);
  await page.keyboard.press("KeyS");
  await page.waitForFunction(() => !window.foretell.frames.at(-1).bot && !window.foretell.frames.at(-1).keys);
}

/** Each lane of a frame: its cubes by role, and its figures by label. */
export const lanesOf = (page) => page.evaluate(() => window.foretell.frames.at(-1).lanes.lanes.map(({ cubes, figures }) => ({
  ...Object.fromEntries(cubes.map(({ role, position }) => [role, position])),
  ...Object.fromEntries(figures.map(({ label, value }) => [label, value])),
})));

/** The ways that bodies of the first lane have made in the last frames: [number of the frame, x, z] in mm by number of the body. */
export const waysOf = (page) => page.evaluate(() => {
  const ways = {};
  for (const { frame, lanes } of window.foretell.frames) {
    const rows = lanes?.lanes[0]?.bodies?.client ?? [];
    for (let i = 0; i < rows.length; i += 8) (ways[rows[i]] ??= []).push([frame, rows[i + 1], rows[i + 3]]);
  }
  return ways;
});

/** Turns to rigid bodies, ends the bot's drive and waits until the own cube rests. */
export async function turnToPhysics(page) {
  await turnToLanes(page, "physics");
  await page.waitForFunction(() => {
    const run = window.foretell.frames.slice(-30);
    return run.length === 30 && run.every(({ lanes }) => lanes?.lanes[0]?.bodies && !lanes.lanes[0].bodies.client.length);
  });
}

/** A picture of the first lane. */
export const pictureOf = async (page) => (await page.locator(".lane .view canvas").first().screenshot()).toString("base64");

/** How many pixels of two pictures differ to the eye: a graphics card may round otherwise each time. */
export const differing = (page, ...pictures) => page.evaluate(async (pictures) => {
  const [a, b] = await Promise.all(pictures.map(async (picture) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))], { type: "image/png" }));
    const c = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    c.drawImage(bitmap, 0, 0);
    return c.getImageData(0, 0, bitmap.width, bitmap.height).data;
  }));
  let count = 0;
  for (let i = 0; i < a.length; i += 4) count += [0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 24) ? 1 : 0;
  return count;
}, pictures);

/** Whether that picture comes to differ from another, or not, within a few seconds. */
export async function pictureBecomes(page, other, different) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if ((await differing(page, await pictureOf(page), other) > 40) === different) return true;
    await page.waitForTimeout(150);
  }
  return false;
}

/** How many pixels of a canvas are drawn, and a number that changes with them; `colour` counts only those of a variable of the style. */
export const inkOf = (page, selector, colour = null) => page.evaluate(([selector, colour]) => {
  const canvas = document.querySelector(selector);
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  let wanted = null;
  if (colour) {
    copy.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${colour}`).trim();
    copy.fillRect(0, 0, 1, 1);
    wanted = [...copy.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    copy.clearRect(0, 0, 1, 1);
  }
  copy.drawImage(canvas, 0, 0);
  // Of the charts the plots alone.
  const left = selector === "#charts" ? Math.ceil(window.foretell.axis().left) + 2 : 0;
  const { data } = copy.getImageData(left, 0, canvas.width - left, canvas.height);
  let [ink, sum] = [0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (!data[i + 3] || (wanted && wanted.some((part, k) => Math.abs(part - data[i + k]) > 3))) continue;
    [ink, sum] = [ink + 1, (sum * 31 + data[i + 2] + i) % 1e9];
  }
  return { ink, sum };
}, [selector, colour]);

export const truthOf = (page) => page.evaluate(() => window.foretell.frames.at(-1).lanes.lanes[0].cubes.find(({ role }) => role === "server").position);

function watch(page) {
  // Without a graphics card Chromium complains of its own way to get a 3D picture onto the screen.
  const ofBrowser = (text) => text.includes("GPU stall due to ReadPixels");
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !ofBrowser(message.text()) && complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  page.on("response", (response) => response.status() >= 400 && complaints.push(`${response.status()}: ${response.url()}`));
  page.on("request", (request) => new URL(request.url()).origin === origin || complaints.push(`to another host: ${request.url()}`));
  page.on("websocket", (socket) => new URL(socket.url()).host === new URL(origin).host || complaints.push(`to another host: ${socket.url()}`));
}

export const frames = (page) => page.evaluate(() => window.foretell.frames);
export const newestFrame = (page) => page.evaluate(() => window.foretell.frames.at(-1).frame);
export const until = (page, frame) => page.waitForFunction((wanted) => window.foretell.frames.at(-1)?.frame >= wanted, frame);
export const xOf = (frame, role) => frame.cubes.find((cube) => cube.role === role)?.position[0];

/** The number of the first frame, `from` or later, in which the cube of `role` is further right than at `from`. */
export function firstMove(run, role, from) {
  const start = xOf(run.find((frame) => frame.frame === from), role);
  return run.find((frame) => frame.frame > from && xOf(frame, role) > start + 1e-3)?.frame;
}

/** Ends the bot's drive and waits until all cubes rest. */
export async function takeOver(page) {
  await page.keyboard.press("KeyD");
  await page.waitForFunction(() => {
    const run = window.foretell.frames.slice(-30);
    return run.length === 30 && !run.some((frame) => frame.bot || frame.keys)
      && ["local", "client", "server"].every((role) => {
        const xs = run.map((frame) => frame.cubes.find((cube) => cube.role === role)?.position ?? [NaN]);
        return xs.every((position) => position.every((part, i) => Math.abs(part - xs[0][i]) < 1e-4));
      });
  });
}

before(async () => {
  await startProgram(await freePort());
  browser = await launch("--disable-gpu", "--enable-unsafe-swiftshader");
});
after(async () => {
  await browser?.close();
  program?.kill();
});
beforeEach(() => { complaints = []; });
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  assert.deepEqual(complaints, []);
});


/** Turns to a scene, and waits for that number of frames of it. */
export async function turnTo(page, scene, frames = 30) {
  await page.locator(`#scenes [data-name="${scene}"]`).click();
  await page.waitForFunction(([scene, frames]) => window.foretell.frames.length >= frames && window.foretell.frames.slice(-frames).every((frame) => frame.scene === scene), [scene, frames]);
}

export const SCENES = ["prediction", "remote", "styles", "qiita", "stepping", "shared", "physics", "crowd", "peek"];

/** Every line of text and every button that is seen: where it stands, and of a text how large it is, and its contrast with what
 *  is behind it. */
export const seenOf = (page) => page.evaluate(() => {
  const dot = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    dot.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      dot.fillStyle = colour;
      dot.fillRect(0, 0, 1, 1);
    }
    return [...dot.getImageData(0, 0, 1, 1).data];
  };
  const light = (parts) => {
    const [r, g, b] = parts.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = [];
  /** What is seen of a rectangle within a box: what boxes around it cut off is not. */
  const cut = ({ left, top, right, bottom }, of) => {
    for (let box = of; box; box = box.parentElement) {
      if (getComputedStyle(box).overflow === "visible") continue;
      const edge = box.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, edge.left), Math.max(top, edge.top), Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    return right - left < 1 || bottom - top < 1 ? null : { left, top, right, bottom };
  };
  const isSeen = (box) => box.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  for (const button of document.querySelectorAll("button, select")) {
    const rect = isSeen(button) && cut(button.getBoundingClientRect(), button.parentElement);
    if (rect) seen.push({ text: `button ${button.textContent}`, ...rect, button: true, pad: Boolean(button.closest(".pad")) });
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement;
    if (!node.data.trim() || of.closest("option, script, noscript, .skeleton") || !isSeen(of)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const behind = [];
    for (let box = of; box; box = box.parentElement) behind.unshift(getComputedStyle(box).backgroundColor);
    const [ground, ink] = [paint(behind), paint([...behind, getComputedStyle(of).color])].map((parts) => light(parts.slice(0, 3)));
    const contrast = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
    const look = { text: node.data.trim(), px: parseFloat(getComputedStyle(of).fontSize), contrast, disabled: Boolean(of.closest(":disabled")), within: Boolean(of.closest("button, select")), pad: Boolean(of.closest(".pad")) };
    for (const line of range.getClientRects()) {
      const rect = cut(line, of);
      if (rect) seen.push({ ...look, ...rect });
    }
  }
  return seen;
});

/** Notes every text that is drawn on a canvas from now on: by which font and colour, and where. */
export const noteDrawn = (page) => page.evaluate(() => {
  window.drawn = [];
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function noted(text, x, y) {
    if (window.drawn.length < 4000) window.drawn.push({ text, x, y, wide: this.measureText(text).width, font: this.font, colour: this.fillStyle, alpha: this.globalAlpha, canvas: this.canvas.id, frame: window.foretell.frames.at(-1)?.frame });
    return draw.call(this, text, x, y);
  };
});

export const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;

/** What a test has brought about itself is no complaint. */
export function forgive(pattern) {
  complaints = complaints.filter((text) => !pattern.test(text));
}
