// Looks at the lab: what is seen at once, pictures of all scenes, and whether all of it can be read: FORETELL_BIN=path/to/foretell npm test;
// with PICTURES=1 there are pictures of each scene in screenshots/ afterwards.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PHONE, PICTURED, SHOTS } from "./common.mjs";
import { DESKTOP, frames, inkOf, newestFrame, noteDrawn, open, openingMs, overlap, SCENES, seenOf, takeOver, turnTo, turnToLanes, turnToPhysics, turnToRemote, turnToStyles, until } from "./lab.mjs";

for (const [name, options] of [["desktop", DESKTOP], ["phone", PHONE]]) {
  describe(name, () => {
    // By the page's own clock. What else the machine does can only make it longer: the soonest of a few openings counts.
    test("it plays within a second of opening", async () => {
      const took = [];
      while (took.length < 5 && !(took.at(-1) < 1000)) took.push(await openingMs(options));
      assert(took.at(-1) < 1000, `it took ${took.join(", ")} ms`);
    });

    test("nothing is wider than the screen", async () => {
      const page = await open(options);
      for (const turn of [() => {}, turnToStyles, () => page.locator(".lane .view canvas").nth(2).click(), () => turnToLanes(page, "qiita"), () => turnToLanes(page, "shared"), () => turnToLanes(page, "physics"), () => turnToLanes(page, "crowd")]) {
        await turn(page);
        const { wide, screen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, screen: innerWidth }));
        assert.equal(screen, options.viewport.width);
        assert(wide <= screen, `${wide} px of ${screen} px`);
      }
    });

    test("each control has a name, and an explanation that can be read", async () => {
      const page = await open(options);
      const nameless = await page.evaluate(() => [...document.querySelectorAll("#controls input, #controls select")]
        .filter((input) => !input.labels[0]?.textContent || !document.getElementById(input.getAttribute("aria-describedby"))?.textContent)
        .map((input) => input.id));
      assert.deepEqual(nameless, []);
    });

    /** What the page looks like now, in both colour schemes. */
    const picture = async (page, what, fullPage = false) => {
      for (const colorScheme of ["dark", "light"]) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        await page.screenshot({ path: `${SHOTS}${name}-${colorScheme}-${what}.png`, fullPage });
      }
    };

    test("it is pictured, with a correction's card", async () => {
      const page = await open(options);
      await takeOver(page);
      await page.keyboard.down("ArrowLeft");
      await page.keyboard.press("1");
      await page.waitForFunction(() => window.foretell.corrections.some(({ causes }) => causes.includes("server event")));
      await page.keyboard.up("ArrowLeft");
      await page.keyboard.press("[");
      assert(await page.locator("#card").isVisible());
      assert.match(await page.locator("#card").innerText(), /predicted[\s\S]+confirmed/);
      await picture(page, "card");
      await page.keyboard.press("Escape");
      assert(await page.locator("#card").isHidden());
      await picture(page, "whole", true);
    });

    test("remote players are pictured, extrapolated and held", async () => {
      const page = await open(options);
      await turnToRemote(page);
      await until(page, (await newestFrame(page)) + 120);
      await picture(page, "remote");
      await page.keyboard.press("6");
      await page.waitForFunction(() => others(window.foretell.frames.at(-1)).every(({ source }) => source === "held"));
      await picture(page, "held", true);
      await page.waitForFunction(() => window.foretell.corrections.length > 0);
      await page.keyboard.press("]");
      await picture(page, "packets");
    });

    test("architectures and strategies are pictured", PICTURED, async () => {
      const page = await open(options);
      for (const scene of ["qiita", "stepping", "shared"]) {
        await page.locator(`#scenes [data-name="${scene}"]`).click();
        await page.waitForFunction((wanted) => window.foretell.frames.at(-1)?.scene === wanted, scene);
        await until(page, (await newestFrame(page)) + 120);
        if (scene === "qiita") await page.locator('[data-event="teleport"]').click();
        await until(page, (await newestFrame(page)) + 60);
        await picture(page, scene, name === "phone");
      }
    });

    test("rigid bodies are pictured: at first, pushed, and by two over a bad link", PICTURED, async () => {
      const page = await open(options);
      const shot = (what) => picture(page, `physics-${what}`, name === "phone");
      await turnToPhysics(page);
      await shot("start");
      await page.keyboard.down("KeyW");
      await until(page, (await newestFrame(page)) + 60);
      await shot("pushed");
      await page.evaluate(() => document.querySelectorAll("#conditions button")[2].click());
      await page.evaluate(() => document.getElementById("control-second_player").click());
      await page.waitForFunction(() => document.querySelectorAll(".lane").length === 2);
      await page.keyboard.up("KeyW");
      for (const key of ["KeyD", "KeyS", "KeyA", "KeyW"]) {
        await page.keyboard.down(key);
        await until(page, (await newestFrame(page)) + 50);
        if (key === "KeyW") await shot("two");
        await page.keyboard.up(key);
      }
    });

    test("a crowd is pictured: what is near, on a small budget", PICTURED, async () => {
      const page = await open(options);
      await turnTo(page, "crowd");
      await page.locator("#control-budget_kbytes").fill("16");
      await page.locator("#control-interest").selectOption({ label: "within 20 m" });
      await until(page, (await newestFrame(page)) + 40);
      await picture(page, "crowd", name === "phone");
    });

    test("a duel is pictured, with the card of a shot", PICTURED, async () => {
      const page = await open(options);
      await turnTo(page, "peek");
      await page.waitForFunction(() => window.foretell.frames.slice(-20).some(({ lanes }) => lanes?.shots?.some(({ by, receipt }) => by === 0 && receipt)));
      await picture(page, "peek", name === "phone");
    });

    test("lanes are pictured, together and one alone", PICTURED, async () => {
      const page = await open(options);
      await turnToStyles(page);
      await until(page, (await newestFrame(page)) + 240);
      await picture(page, "styles", name === "phone");
      await page.locator(".lane .view canvas").nth(3).click();
      await until(page, (await newestFrame(page)) + 30);
      await picture(page, "lane", name === "phone");
    });
  });
}

for (const colorScheme of ["light", "dark"]) {
  test(`on a phone no text is small, pale or covered in any scene, and the keys have a place of their own, ${colorScheme}`, async () => {
    const page = await open({ ...PHONE, colorScheme });
    await noteDrawn(page);
    for (const scene of SCENES) {
      await turnTo(page, scene);
      await page.evaluate(() => scrollTo(0, 0));
      const boxes = await page.evaluate(() => Object.fromEntries(["headline", "legend", "status"].map((id) => [id, document.getElementById(id)]).concat([["pad", document.querySelector(".pad")], ["picture", document.querySelector("#arena:not([hidden]), .lane .view")]])
        .map(([name, box]) => [name, box.getBoundingClientRect().toJSON()])));
      for (const [a, b] of [["headline", "legend"], ["headline", "status"], ["legend", "status"], ["headline", "picture"], ["legend", "picture"], ["headline", "pad"], ["legend", "pad"], ["status", "pad"]]) {
        assert(!overlap(boxes[a], boxes[b]), `${scene}: ${a} and ${b}: ${JSON.stringify([boxes[a], boxes[b]])}`);
      }
      assert(boxes.pad.bottom >= 843 && boxes.pad.left <= 0 && boxes.pad.right >= 389, JSON.stringify(boxes.pad));
      const texts = await seenOf(page);
      assert(texts.length > 40, `${texts.length} texts`);
      const wrong = [];
      for (const { text, px, contrast, disabled } of texts.filter(({ button }) => !button)) {
        if (px < 12) wrong.push(`${px} px: ${text}`);
        if (contrast < 4.5 && !disabled) wrong.push(`contrast ${contrast.toFixed(2)}: ${text}`);
      }
      const still = texts.filter(({ pad, within }) => !pad && !within);
      still.forEach((a, i) => still.slice(i + 1).forEach((b) => a.text !== b.text && overlap(a, b) && wrong.push(`"${a.text}" lies over "${b.text}"`)));
      assert.deepEqual(wrong, [], scene);
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const last = Math.max(...(await seenOf(page)).filter(({ pad }) => !pad).map(({ bottom }) => bottom));
      assert(last <= boxes.pad.top, `${scene}: the page ends at ${last} px, the keys begin at ${boxes.pad.top} px`);
    }
    const drawn = await page.evaluate(() => {
      const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      const light = (colour) => {
        const [r, g, b] = colour.slice(1).match(/../g).map((pair) => parseInt(pair, 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
      };
      const panel = light(of("panel"));
      const contrast = (colour) => Math.max(light(colour), panel) / Math.min(light(colour), panel);
      const pale = ({ colour, alpha }) => alpha === 1 && colour !== of("panel") && contrast(colour) < 4.5;
      const small = ({ font }) => parseFloat(font.match(/([\d.]+)px/)[1]) < 12;
      return [...new Set(window.drawn.filter((text) => small(text) || pale(text)).map(({ text, font, colour }) => `${text}: ${font}, ${colour}`))];
    });
    assert.deepEqual(drawn, [], "on canvases");
  });
}

test("every scene has a title and a sentence of its own over its picture", async () => {
  const page = await open();
  const told = [];
  for (const scene of SCENES) {
    await turnTo(page, scene);
    const [title, look] = [await page.locator("#headline h2").innerText(), await page.locator("#headline p").innerText()];
    assert(title.length > 10 && look.length > 40 && look.endsWith("."), `${scene}: ${title}: ${look}`);
    told.push(title, look);
    const [head, picture] = await Promise.all(["#headline", ".picture"].map((box) => page.locator(box).boundingBox()));
    assert(head.y + head.height <= picture.y + 1, "it covers nothing");
  }
  assert.equal(new Set(told).size, told.length);
});

test("after a change of scene the charts begin where its data begin, grow, are dragged back, and followed again", async () => {
  const page = await open();
  const inkAtLeft = async () => {
    const { left, right } = await page.evaluate(() => window.foretell.axis());
    return page.evaluate(([from, until]) => {
      const charts = document.getElementById("charts");
      const ratio = charts.width / charts.getBoundingClientRect().width;
      const copy = new OffscreenCanvas(charts.width, charts.height).getContext("2d", { willReadFrequently: true });
      copy.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--client").trim();
      copy.fillRect(0, 0, 1, 1);
      const wanted = [...copy.getImageData(0, 0, 1, 1).data.slice(0, 3)];
      copy.clearRect(0, 0, 1, 1);
      copy.drawImage(charts, 0, 0);
      const { data } = copy.getImageData(from * ratio, 0, (until - from) * ratio, charts.height);
      let ink = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] && wanted.every((part, k) => Math.abs(part - data[i + k]) < 40)) ink += 1;
      return ink;
    }, [left, left + (right - left) / 4]);
  };
  for (const scene of SCENES.slice(1).concat("prediction")) {
    await turnTo(page, scene, 80);
    const { from_s, until_s, first_s } = await page.evaluate((scene) => {
      const { frames } = window.foretell;
      const first = frames.findLastIndex((frame) => frame.scene !== scene) + 1;
      return { ...window.foretell.axis(), first_s: frames[first].time_s };
    }, scene);
    assert(Math.abs(from_s - first_s) < 0.05 && until_s - from_s < 7, JSON.stringify({ scene, from_s, until_s, first_s }));
    assert((await inkAtLeft()) > 30, `${scene}: ${await inkAtLeft()} pixels of a curve at the left`);
  }
  const before = await page.evaluate(() => window.foretell.axis());
  const box = await page.locator("#charts").boundingBox();
  await page.mouse.move(box.x + 400, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 100, { steps: 4 });
  await page.mouse.up();
  const back = await page.evaluate(() => window.foretell.axis());
  assert(back.from_s < before.from_s - 0.2, JSON.stringify({ before, back }));
  await page.locator("#live:enabled").click();
  await page.waitForFunction((until_s) => document.getElementById("live").disabled && window.foretell.axis().until_s > until_s, before.until_s);
});

test("in 3D what was there before the first kept frame is there when it is looked back on", async () => {
  const page = await open();
  const seen = await page.evaluate(async () => {
    const { Bodies } = await import("/bodies.js");
    const told = (...rows) => btoa(String.fromCharCode(...new Uint8Array(new Int16Array(rows.flat()).buffer)));
    // Body 300 stands in the first frame alone, and body 1 moves in each.
    const frame = (nth) => ({ lanes: { lanes: [{ name: "lane", bodies: { own: 1, whole: nth === 0, corrected: "", server: "", ghost: "",
      client: told([1, nth, 0, 0, 0, 0, 0, 0], ...(nth ? [] : [[300, 7, 0, 0, 0, 0, 0, 0]])) } }] } });
    const [bodies, frames] = [new Bodies(), []];
    for (let nth = 0; nth < 150; nth += 1) {
      frames.push(frame(nth));
      bodies.take(frames.at(-1));
      if (frames.length > 100) bodies.follow(frames.shift(), frames[0]);
    }
    return [0, 3, 40].map((at) => [...bodies.at(frames, at, "lane").client].map(([number, row]) => [number, row[1]]));
  });
  assert.deepEqual(seen, [50, 53, 90].map((nth) => [[1, nth], [300, 7]]));
});

test("corrections and marks are kept as long as the curves are, and the latest corrections with their numbers for longer", async () => {
  const page = await open();
  const kept = await page.evaluate(async () => {
    const { History } = await import("/history.js");
    const history = new History();
    const add = (frame, corrections, marks) => history.add({ frame, time_s: frame / 60, chart: {}, now: {}, corrections, marks });
    const told = () => [history.total, history.corrections.length, history.correction(history.total - 1)?.nth, history.correction(0)?.nth ?? null, history.marks.length];
    for (let frame = 0; frame < 36_000; frame += 1) add(frame, ...(frame % 10 ? [[], []] : [[{ nth: frame }], [{ kind: "event", caption: "impulse" }]]));
    const all = [told()];
    for (let frame = 36_000; frame < 36_100; frame += 1) add(frame, [], []);
    all.push(told());
    for (let frame = 36_100; frame < 72_100; frame += 1) add(frame, [], []);
    return [...all, told()];
  });
  assert.deepEqual(kept, [[3600, 3600, 35_990, 0, 3600], [3600, 3590, 35_990, null, 3590], [3600, 24, 35_990, null, 0]]);
});

test("a paused picture is drawn again when it gets another size", async () => {
  const page = await open();
  await page.keyboard.press("p");
  await page.mouse.move(5, 5);
  await page.waitForTimeout(300);
  const before = await page.locator("#arena").boundingBox();
  await page.evaluate(() => { document.getElementById("headline").style.minHeight = "200px"; });
  await page.waitForTimeout(300);
  const { height } = await page.locator("#arena").boundingBox();
  assert(height < before.height - 20, `${height} px of ${before.height} px`);
  assert((await inkOf(page, "#arena")).ink > 1000);
});

test("what a figure means is read by a tap and by the keyboard", async () => {
  const page = await open(PHONE);
  await page.locator("#now div").nth(2).tap();
  assert.match(await page.locator("#meaning").innerText(), /^lead: how far the client is ahead/);
  await page.locator("#now div").nth(2).focus();
  await page.keyboard.press("Tab");
  assert.match(await page.locator("#meaning").innerText(), /^input margin: how long before/);
  await turnTo(page, "styles");
  await page.locator(".lane:visible .figures div").nth(1).tap();
  assert.match(await page.locator(".lanes .meaning").innerText(), /^delay: how long ago .+ Lower is better\.$/);
});

test("names of cubes stay within the canvas and apart from each other at the upper wall", async () => {
  const page = await open();
  await takeOver(page);
  await page.keyboard.down("ArrowUp");
  await until(page, (await newestFrame(page)) + 200);
  await page.keyboard.up("ArrowUp");
  await noteDrawn(page);
  await until(page, (await newestFrame(page)) + 5);
  const { drawn, width, height } = await page.evaluate(() => ({ drawn: window.drawn, ...document.getElementById("arena").getBoundingClientRect().toJSON() }));
  const at = drawn.findLast(({ canvas }) => canvas === "arena").frame;
  const names = new Map(drawn.filter(({ canvas, font, frame }) => canvas === "arena" && font.includes("600") && frame === at).map((name) => [name.text, name]));
  assert(names.size >= 4, [...names.keys()].join());
  const boxes = [...names.values()].map(({ text, x, y, wide }) => ({ text, left: x, right: x + wide, top: y - 7, bottom: y + 7 }));
  for (const box of boxes) assert(box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height, JSON.stringify(box));
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert(!overlap(a, b), JSON.stringify([a, b]))));
});

test("on a desktop everything is seen without scrolling", async () => {
  const page = await open(DESKTOP);
  for (const turn of [() => {}, turnToStyles, (page) => turnToLanes(page, "qiita"), (page) => turnToLanes(page, "stepping"), (page) => turnToLanes(page, "shared"), (page) => turnToLanes(page, "physics"), (page) => turnToLanes(page, "crowd"), (page) => turnToLanes(page, "peek")]) {
    await turn(page);
    const { tall, screen } = await page.evaluate(() => ({ tall: document.documentElement.scrollHeight, screen: innerHeight }));
    assert(tall <= screen, `${tall} px of ${screen} px`);
  }
});
