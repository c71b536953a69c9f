// A wallet of Tron for tests: prints its address, in base58check and in hexadecimal, or signs the transaction that it
// reads from standard input, as wallets in the browser do by trx.sign.
//
//   node tron_wallet.mjs address | sign < unsigned.json
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { TronWeb } from "tronweb";

const privateKey = createHash("sha256").update("Cointill tests: a wallet of Tron").digest("hex");
const wallet = new TronWeb({ fullHost: "http://127.0.0.1:1", privateKey }); // signing asks no node
const { base58, hex } = wallet.defaultAddress;
console.log(JSON.stringify(process.argv[2] === "address" ? { base58, hex }
  : await wallet.trx.sign(JSON.parse(readFileSync(0, "utf8")))));
