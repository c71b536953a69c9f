// A wallet of Tron for tests: prints its address, in base58check and in hexadecimal, or signs the transaction or the
// message that it reads from standard input, as wallets in the browser do.
//
//   node tron_wallet.mjs address | sign < unsigned.json | message < text
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { TronWeb } from "tronweb";

const privateKey = createHash("sha256").update("Cointill tests: a wallet of Tron").digest("hex");
const wallet = new TronWeb({ fullHost: "http://127.0.0.1:1", privateKey }); // signing asks no node
const { base58, hex } = wallet.defaultAddress;
const acts = {
  address: () => ({ base58, hex }),
  sign: () => wallet.trx.sign(JSON.parse(readFileSync(0, "utf8"))),
  message: () => wallet.trx.signMessageV2(readFileSync(0, "utf8")),
};
console.log(JSON.stringify(await acts[process.argv[2]]()));
