// Writes texts that wallets' own libraries sign, for core/wallet/keyproof to be compared with: ethers for networks of
// Ethereum's kind (EIP-191), tronweb for Tron (TIP-191, signMessageV2). Each also has signatures that are changed or
// no signatures at all, with the address that the library recovers, or "" where it refuses. With --check it writes
// nothing, and fails where what is committed differs. The keys come from fixed texts; only addresses and signatures
// are written.
//
//   npm ci && node vectors/messages.mjs [--check]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Wallet, verifyMessage } from "ethers";
import { TronWeb, utils } from "tronweb";

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const key = (text) => createHash("sha256").update(`Cointill test vectors, ${text}`).digest("hex");
const texts = ["", "a", "I hold the key of 0x8ba1f109551bD432803012645Ac136ddd64DBA72.", "Zażółć gęślą jaźń 💶",
  "two\nlines", "two\r\nlines", " space around ", "0x1234", "x".repeat(9), "x".repeat(10), "x".repeat(999), "x".repeat(1000)];

const libraries = {
  ethereum: { address: (secret) => new Wallet("0x" + secret).address, sign: (text, secret) => new Wallet("0x" + secret).signMessage(text),
    recover: verifyMessage },
  tron: { address: (secret) => TronWeb.address.fromPrivateKey(secret), sign: (text, secret) => utils.message.signMessage(text, secret),
    recover: utils.message.verifyMessage },
};

// change makes other texts of a signature. The compact form of 64 bytes (EIP-2098) is not among them: it can't be told
// from a seed, so it is refused as one.
function change(signature) {
  const r = signature.slice(2, 66), s = signature.slice(66, 130), v = parseInt(signature.slice(130), 16);
  const hex = (n, digits) => n.toString(16).padStart(digits, "0");
  const write = (r, s, v) => "0x" + r + s + hex(v, 2);
  return [write(r, s, v - 27), write(r, s, 55 - v), write(r, hex(order - BigInt("0x" + s), 64), 55 - v), write(r, s, 29),
    write(r, s, 2), write("0".repeat(64), s, v), write(r, "0".repeat(64), v), write(r, hex(order, 64), v),
    write(hex(order, 64), s, v), write("f".repeat(64), s, v), write(s, r, v), signature.slice(0, -4), signature + "00"];
}

const vectors = [];
for (const [chain, library] of Object.entries(libraries)) {
  for (const [i, message] of texts.entries()) {
    const secret = key(`${chain} ${i}`);
    const address = library.address(secret);
    const signature = await library.sign(message, secret);
    const judged = [signature, ...change(signature)].map((signature) => {
      let signer = "";
      try {
        signer = library.recover(message, signature);
      } catch {
        // refused
      }
      return { signature, signer };
    });
    if (judged[0].signer !== address) throw new Error(`${chain} contradicts itself about ${JSON.stringify(message)}`);
    vectors.push({ chain, message, address, judged });
  }
}

const path = new URL("../../core/wallet/keyproof/testdata/signatures.json", import.meta.url);
const text = JSON.stringify({ source: "ethers 6.17.0, tronweb 6.5.1, e2e/vectors/messages.mjs", vectors }, null, 1) + "\n";
if (!process.argv.includes("--check")) {
  writeFileSync(path, text);
} else if (readFileSync(path, "utf8") !== text) {
  console.error("signatures.json differs from what ethers and tronweb make: node vectors/messages.mjs writes it");
  process.exitCode = 1;
}
