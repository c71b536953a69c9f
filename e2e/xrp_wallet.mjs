// A wallet of the XRP Ledger for tests: prints its address, or signs the transaction that it reads from
// standard input.
//
//   node xrp_wallet.mjs address | sign < unsigned.json
import { readFileSync } from "node:fs";
import xrpl from "xrpl";

const wallet = xrpl.Wallet.fromEntropy(new Uint8Array(16).fill(7), { algorithm: xrpl.ECDSA.secp256k1 });
console.log(process.argv[2] === "address" ? wallet.classicAddress : wallet.sign(JSON.parse(readFileSync(0, "utf8"))).tx_blob);
