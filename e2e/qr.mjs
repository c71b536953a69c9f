// A wallet's side of QR codes, by libraries of others (BC-UR by @ngraveio/bc-ur).
//
//   node qr.mjs join < PARTS       prints the PSBT that the parts hold, one a line, in base64
//   node qr.mjs film FILE < BOTH   writes a film of a screen that shows the parts of a signed PSBT, as a camera
//                                  sees it: of an unsigned PSBT and the signed transaction, each on a line
import { readFileSync, writeFileSync } from "node:fs";
import { UR, UREncoder, URDecoder } from "@ngraveio/bc-ur";
import * as bitcoin from "bitcoinjs-lib";
import encodeQR from "qr";

const [action, file] = process.argv.slice(2);
const input = readFileSync(0, "utf8").trim();

function join(parts) {
  const decoder = new URDecoder();
  for (const part of parts) decoder.receivePart(part);
  if (!decoder.isSuccess() || decoder.resultUR().type !== "crypto-psbt") throw new Error("the parts make no PSBT");
  return decoder.resultUR().decodeCBOR().toString("base64");
}

// draw writes a frame of one code, black on white, in the middle of the picture.
function draw(part, width, height) {
  const code = encodeQR(part.toUpperCase(), "raw", { ecc: "low", border: 4 });
  const scale = Math.floor(height / code.length);
  const [left, top] = [width, height].map((side) => (side - scale * code.length) >> 1);
  const picture = Buffer.alloc(width * height, 235);
  for (const [y, row] of code.entries())
    for (const [x, dark] of row.entries())
      if (dark)
        for (let line = 0; line < scale; line++) {
          const from = (top + y * scale + line) * width + left + x * scale;
          picture.fill(16, from, from + scale);
        }
  return Buffer.concat([Buffer.from("FRAME\n"), picture, Buffer.alloc((width * height) / 2, 128)]);
}

// finish puts the signatures of a transaction into its PSBT. Electrum returns only the transaction.
function finish(unsigned, signed) {
  const psbt = bitcoin.Psbt.fromBase64(unsigned);
  for (const [i, { witness }] of bitcoin.Transaction.fromHex(signed).ins.entries()) {
    const items = witness.flatMap((item) => [Buffer.from([item.length]), Buffer.from(item)]);
    psbt.data.updateInput(i, { finalScriptWitness: Buffer.concat([Buffer.from([witness.length]), ...items]) });
  }
  return Buffer.from(psbt.toBuffer());
}

function film(psbt) {
  const encoder = new UREncoder(new UR(UR.fromBuffer(psbt).cbor, "crypto-psbt"), 200);
  // The first parts are lost, so that sums of several parts must stand for them.
  const parts = [...Array(3 * encoder.fragmentsLength)].map(() => encoder.nextPart()).slice(encoder.fragmentsLength >> 1);
  const frames = parts.flatMap((part) => Array(4).fill(draw(part, 640, 480)));
  return Buffer.concat([Buffer.from("YUV4MPEG2 W640 H480 F10:1 Ip A1:1 C420\n"), ...frames]);
}

if (action === "join") console.log(join(input.split(/\s+/)));
else writeFileSync(file, film(finish(...input.split(/\s+/))));
