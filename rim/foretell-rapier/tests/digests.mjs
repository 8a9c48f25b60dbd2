// The golden digests of the physics, asked for on wasm32: node digests.mjs digests.wasm. Exits with 1 when a run differs.

import { readFileSync } from "node:fs";

const [, , module] = process.argv;
const vectors = new URL("../../../vectors/physics.json", import.meta.url);
const { runs } = JSON.parse(readFileSync(vectors, "utf8"));
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});

let failed = 0;
for (const { crates, seed, ticks, rebuild, fingerprint } of runs) {
  const bits = BigInt.asUintN(64, instance.exports.fingerprint(crates, seed, ticks, rebuild));
  const got = bits.toString(16).padStart(16, "0");
  const same = got === fingerprint;
  failed += same ? 0 : 1;
  console.log(`${same ? "same" : "DIFFERS"} ${crates} crates, seed ${seed}, ${ticks} ticks, rebuilt every ${rebuild}: ${got}`);
}
process.exit(failed > 0 || runs.length === 0 ? 1 : 0);
