// Signs the PSBTs of chain/bitcoin/signing/testdata/unsigned.json as a wallet does that is built on
// bitcoinjs-lib, which knows nothing of Cointill, and writes the results beside them. It reads each
// PSBT also from the parts of an animated QR code by @ngraveio/bc-ur, and writes it so. With --check
// it writes nothing, and fails where what is committed differs.
//
//   npm ci && node vectors/psbt.mjs [--check]
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import * as ecc from "@bitcoinerlab/secp256k1";
import { UR, UREncoder, URDecoder } from "@ngraveio/bc-ur";
import { BIP32Factory } from "bip32";
import * as bitcoin from "bitcoinjs-lib";

bitcoin.initEccLib(ecc);
const network = bitcoin.networks.regtest;
const root = BIP32Factory(ecc).fromSeed(createHash("sha512").update("Cointill test vectors, account 0").digest(), network);
const folder = new URL("../../chain/bitcoin/signing/testdata/", import.meta.url);

// read decodes a PSBT from the parts of an animated QR code.
function read(parts) {
  const decoder = new URDecoder();
  for (const part of parts) {
    decoder.receivePart(part.toUpperCase());
  }
  assert.ok(decoder.isSuccess(), decoder.resultError());
  assert.equal(decoder.resultUR().type, "crypto-psbt");
  return decoder.resultUR().decodeCBOR().toString("base64");
}

// write encodes a PSBT as parts, of which the first ones are lost.
function write(psbt) {
  const encoder = new UREncoder(new UR(UR.fromBuffer(psbt).cbor, "crypto-psbt"), 150);
  return [...Array(4 * encoder.fragmentsLength)].map(() => encoder.nextPart()).slice(encoder.fragmentsLength >> 1);
}

// signerOf finds the key of an input by its origin, as a wallet does.
function signerOf(input) {
  const [origin] = input.bip32Derivation ?? input.tapBip32Derivation;
  assert.ok(Buffer.from(origin.masterFingerprint).equals(Buffer.from(root.fingerprint)), "a foreign key");
  const key = root.derivePath(origin.path);
  const taproot = input.tapBip32Derivation !== undefined;
  assert.deepEqual(Buffer.from(taproot ? key.publicKey.subarray(1) : key.publicKey), Buffer.from(origin.pubkey));
  if (!taproot) {
    return key;
  }
  // Without randomness, so that each run signs the same.
  const tweaked = key.tweak(bitcoin.crypto.taggedHash("TapTweak", key.publicKey.subarray(1)));
  const signSchnorr = (hash) => ecc.signSchnorr(hash, tweaked.privateKey, new Uint8Array(32));
  return { publicKey: tweaked.publicKey, sign: tweaked.sign, signSchnorr };
}

const validate = (key, hash, signature) =>
  key.length === 32 ? ecc.verifySchnorr(hash, key, signature) : ecc.verify(hash, key, signature);

function sign({ name, psbt: text, parts }) {
  assert.equal(read(parts), text, `${name}: the UR holds another PSBT`);
  const psbt = bitcoin.Psbt.fromBase64(text, { network });
  psbt.data.inputs.forEach((input, i) => psbt.signInput(i, signerOf(input)));
  assert.ok(psbt.validateSignaturesOfAllInputs(validate));
  // The wallet knows the change as its own.
  const change = psbt.data.outputs.at(-1);
  const [origin] = change.bip32Derivation ?? change.tapBip32Derivation;
  const own = root.derivePath(origin.path).publicKey;
  assert.deepEqual(Buffer.from(change.tapBip32Derivation ? own.subarray(1) : own), Buffer.from(origin.pubkey));
  const signed = psbt.toBase64();
  psbt.finalizeAllInputs();
  return { name, psbt: signed, final: psbt.toBase64(), hex: psbt.extractTransaction().toHex(),
    parts: write(Buffer.from(signed, "base64")) };
}

const rows = JSON.parse(readFileSync(new URL("unsigned.json", folder), "utf8"))
  .filter(({ psbt, name }) => psbt && !name.includes("unknown")).map(sign);
const file = new URL("bitcoinjs.json", folder);
const text = `${JSON.stringify(rows, null, 1)}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  throw new Error("chain/bitcoin/signing/testdata/bitcoinjs.json is not what the library signs");
}
console.log(`bitcoinjs.json: ${rows.length} transactions`);
