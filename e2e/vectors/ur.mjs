// Writes the parts that the npm library @ngraveio/bc-ur makes of some data, for
// chain/bitcoin/signing/ur to be compared with. With --check it writes nothing, and fails where
// what is committed differs. The first parts of 256 bytes in fragments of 30 are the test vector
// that all implementations of Blockchain Commons' specification share.
//
//   npm ci && node vectors/ur.mjs [--check]
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { UR, UREncoder } from "@ngraveio/bc-ur";

const require = createRequire(import.meta.url);
const Xoshiro = require("@ngraveio/bc-ur/dist/xoshiro.js").default;

// The shared vector's data is what the generator draws after the seed "Wolf".
const data = (length) => Buffer.from(new Xoshiro(Buffer.from("Wolf")).nextData(length));

const rows = [[1, 30, 1], [50, 100, 1], [256, 30, 60], [257, 10, 80], [3000, 200, 60], [20000, 90, 250]].map(([length, fragment, count]) => {
  const encoder = new UREncoder(UR.fromBuffer(data(length)), fragment);
  return { length, fragment, parts: [...Array(count)].map(() => encoder.nextPart()) };
});
// The last of many parts stand for the others.
for (const row of rows) {
  row.from = Math.max(1, row.parts.length - 39);
  row.parts = row.parts.slice(-40);
}

const file = new URL("../../chain/bitcoin/signing/ur/testdata/parts.json", import.meta.url);
const text = `[\n${rows.map((row) => JSON.stringify(row, null, 1)).join(",\n")}\n]\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  throw new Error("chain/bitcoin/signing/ur/testdata/parts.json is not what the library makes");
}
console.log(`parts.json: ${rows.length} messages, ${rows.reduce((sum, row) => sum + row.parts.length, 0)} parts`);
