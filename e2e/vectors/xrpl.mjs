// Writes what the npm libraries of the XRP Ledger know, for chain/xrpl to be
// compared with: addresses of ripple-address-codec, with and without tags, for both
// kinds of networks, and texts that it refuses; and the result codes of
// ripple-binary-codec (by way of xrpl) that transactions in a ledger fail with.
// With --check it writes nothing, and fails where what is committed differs.
//
//   npm ci && node vectors/xrpl.mjs [--check]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import codec from "ripple-address-codec";
import binary from "ripple-binary-codec";

const account = (n) => createHash("sha512").update(`Cointill test vectors, account ${n}`).digest().subarray(0, 20);
const tags = [null, 0, 1, 2, 17, 255, 256, 65535, 65536, 2147483647, 2147483648, 3000000019, 4294967294, 4294967295];
const ids = [Buffer.alloc(20), Buffer.alloc(20, 0xff), Buffer.from("01".padStart(40, "0"), "hex"), ...Array.from({ length: 97 }, (_, n) => account(n))];

const addresses = ids.map((id, n) => {
  const classic = codec.encodeAccountID(id);
  const some = n < 10 ? tags : [null, 0, account(n).readUInt32LE(4)];
  const x = some.flatMap((tag) => [false, true].map((test) => {
    const text = codec.classicAddressToXAddress(classic, tag === null ? false : tag, test);
    const back = codec.decodeXAddress(text);
    if (Buffer.compare(Buffer.from(back.accountId), id) || back.tag !== (tag === null ? false : tag) || back.test !== test) {
      throw new Error(`${text} doesn't come back`);
    }
    return { tag, test, text };
  }));
  return { id: id.toString("hex"), classic, x };
});

// Texts that are nearly addresses: the library decides which of them are none.
const mutants = addresses.slice(3, 23).flatMap(({ classic, x }) => [classic, x[0].text, x[3].text]).flatMap((text) => [
  text.slice(1), text.slice(0, -1), text + "r", "r" + text, text.replace(/.$/, (c) => (c === "r" ? "p" : "r")), text.toLowerCase(), text.slice(0, 9) + text[10] + text[9] + text.slice(11),
  text.slice(0, 12) + "0" + text.slice(13), ` ${text}`, `${text}\n`, text.replace(/^X/, "T").replace(/^T/, "X").replace(/^r/, "X"),
]).concat(["", "r", "X", "T", "rrrrrrrrrrrrrrrrrrrrrhoLvTp0", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "0x00000000219ab540356cBB839Cbe05303d7705Fa"]);
const refused = [...new Set(mutants)].filter((text) => !codec.isValidClassicAddress(text) && !codec.isValidXAddress(text));

const lines = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
const codes = Object.keys(binary.DEFAULT_DEFINITIONS.transactionResult)
  .filter((name) => name.startsWith("tec")).sort();

for (const [name, text] of [
  ["params/testdata/addresses.json", lines(addresses)], ["params/testdata/refused.json", lines(refused)], ["testdata/results.json", lines(codes)],
]) {
  const file = new URL(`../../chain/xrpl/${name}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    throw new Error(`chain/xrpl/${name} is not what the libraries say`);
  }
}
console.log(`${addresses.length} accounts, ${refused.length} refused texts, ${codes.length} codes`);
