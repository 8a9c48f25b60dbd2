// What the tests of games in Bevy have in common: a page's files, and a program beside it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** The files of a page, where the game's server expects browsers to have them from. */
export async function servePage(t, folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const name = pathname === "/" ? "index.html" : pathname.slice(1);
    const file = await readFile(join(folder, name)).catch(() => null);
    response.writeHead(file ? 200 : 404, { "content-type": TYPES[extname(name)] ?? "text/plain" }).end(file);
  });
  server.listen(8000, "localhost");
  await once(server, "listening");
  t.after(() => server.close());
}

/** A program that runs until the test is over; `hear` waits for a line that it says. */
export function run(t, program, ...said) {
  const child = spawn(program, said, { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill());
  const lines = [];
  [child.stdout, child.stderr].forEach((input) => createInterface({ input }).on("line", (line) => lines.push(line)));
  const hear = async (words, tries = 100) => {
    for (; tries > 0; tries -= 1) {
      const line = lines.find((line) => line.match(words));
      if (line) return line;
      await sleep(200);
    }
    assert.fail(`the program has not said "${words}": ${lines.join("\n")}`);
  };
  return { lines, hear };
}
