// Compiles the contracts of the end-to-end tests, with solc as it is published on
// npm, into contracts.json: their code, and the selectors of their functions. With
// --check it writes nothing, and fails where what is committed differs.
//
//   npm ci && node evm/compile.mjs [--check]
import { readFileSync, writeFileSync } from "node:fs";
import solc from "solc";

const source = (name) => ({ content: readFileSync(new URL(`contracts/${name}`, import.meta.url), "utf8") });
const input = {
  language: "Solidity",
  sources: { "Tether.sol": source("Tether.sol"), "Others.sol": source("Others.sol") },
  settings: {
    evmVersion: "london", optimizer: { enabled: true }, metadata: { appendCBOR: false, bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["evm.bytecode.object", "evm.methodIdentifiers"] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
for (const { severity, formattedMessage } of output.errors ?? []) {
  if (severity === "error") throw new Error(formattedMessage);
}
const contracts = {};
for (const file of Object.values(output.contracts)) {
  for (const [name, { evm }] of Object.entries(file)) {
    contracts[name] = { code: evm.bytecode.object, functions: evm.methodIdentifiers };
  }
}
const file = new URL("contracts.json", import.meta.url);
const text = JSON.stringify(contracts, null, 1) + "\n";
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  throw new Error("evm/contracts.json is not what solc makes of the contracts");
}
console.log(`${Object.keys(contracts).length} contracts compiled by solc ${solc.version()}`);
