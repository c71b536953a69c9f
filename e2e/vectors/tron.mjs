// Writes what tronweb makes of keys, addresses and transactions of Tron, for core/wallet,
// chain/tron/params and chain/tron/signing to be compared with. The 10,002 addresses of three account keys (BIP 44,
// m/44'/195'/0') are written as a digest of all, and the first ones in full. With --check it writes
// nothing, and fails where what is committed differs. The accounts come from fixed texts; only
// public keys are written.
//
//   npm ci && node vectors/tron.mjs [--check]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import * as ecc from "@bitcoinerlab/secp256k1";
import { BIP32Factory } from "bip32";
import { TronWeb, utils } from "tronweb";

const bip32 = BIP32Factory(ecc);
const digest = (text) => createHash("sha256").update(text).digest();
const perAccount = 3334;
const shown = 40;

function account(number) {
  const seed = createHash("sha512").update(`Cointill test vectors, account ${number}`).digest();
  const key = bip32.fromSeed(seed).derivePath("m/44'/195'/0'");
  const branch = key.derive(0);
  const lines = [];
  for (let i = 0; i < perAccount; i++) {
    const child = branch.derive(i);
    const point = ecc.pointCompress(child.publicKey, false);
    const hex = Buffer.from(utils.crypto.computeAddress([...point])).toString("hex");
    const text = TronWeb.address.fromHex(hex);
    const fromKey = TronWeb.address.fromPrivateKey(Buffer.from(child.privateKey).toString("hex"));
    if (TronWeb.address.toHex(text) !== hex || fromKey !== text || !TronWeb.isAddress(text)) {
      throw new Error(`tronweb contradicts itself about address ${i} of account ${number}`);
    }
    lines.push(`${text} ${hex}`);
  }
  return { key: key.neutered().toBase58(), count: perAccount,
    digest: createHash("sha256").update(lines.join("\n")).digest("hex"), first: lines.slice(0, shown) };
}

// Texts that tronweb takes for addresses of Tron, or doesn't.
function judged() {
  const good = TronWeb.address.fromHex("41" + digest("judged").toString("hex").slice(0, 40));
  const texts = [good, TronWeb.address.toHex(good), good.slice(0, -1), good + "1", good.toLowerCase(),
    good.slice(0, 10) + (good[10] === "x" ? "y" : "x") + good.slice(11), "T" + "0".repeat(33), "",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "DBXu2kgc3xtvCUWFcxFE3r9hEYgmuaaCyD", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh",
    "a0" + digest("judged").toString("hex").slice(0, 40), "41" + digest("judged").toString("hex").slice(0, 38)];
  return texts.map((text) => ({ text, valid: TronWeb.isAddress(text) }));
}

function transactions() {
  return Array.from({ length: 60 }, (_, i) => {
    const part = (name, bytes) => digest(`${name} ${i}`).toString("hex").slice(0, 2 * bytes);
    const owner = "41" + part("owner", 20);
    const [type, value] = i % 3 === 0
      ? ["TransferContract", { owner_address: owner, to_address: "41" + part("to", 20), amount: 1 + i * 999983 }]
      : ["TriggerSmartContract", { owner_address: owner, contract_address: "41a614f803b6fd780986a42c78ec9c7f77e6ded13c",
        data: "a9059cbb" + part("to", 20).padStart(64, "0") + (1 + i * 999983).toString(16).padStart(64, "0") }];
    const pb = utils.transaction.txJsonToPb({ visible: false, raw_data: {
      contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
      ref_block_bytes: part("block", 2), ref_block_hash: part("hash", 8), expiration: 1795000000000 + i,
      timestamp: 1794999940000 + i, ...(type === "TriggerSmartContract" ? { fee_limit: 100000000 } : {}) } });
    return { raw: utils.transaction.txPbToRawDataHex(pb).toLowerCase(),
      id: utils.transaction.txPbToTxID(pb).replace(/^0x/, "").toLowerCase() };
  });
}

// Transactions that send USDT, as tronweb's builder writes them, signed by tronweb. The keys are hashes of fixed texts
// and are not written.
function signedPayments() {
  return Array.from({ length: 40 }, (_, i) => {
    const part = (name, bytes) => digest(`${name} ${i}`).toString("hex").slice(0, 2 * bytes);
    const key = digest(`signer ${i}`).toString("hex");
    const from = TronWeb.address.fromPrivateKey(key);
    const to = TronWeb.address.fromHex("41" + part("payee", 20));
    const token = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
    const amount = (1 + i * 999983).toString();
    const value = { owner_address: TronWeb.address.toHex(from), contract_address: TronWeb.address.toHex(token),
      data: "a9059cbb" + utils.abi.encodeParams(["address", "uint256"], [to, amount]).replace(/^0x/, "") };
    const unsigned = { visible: false, raw_data: {
      contract: [{ parameter: { value, type_url: "type.googleapis.com/protocol.TriggerSmartContract" },
        type: "TriggerSmartContract" }],
      ref_block_bytes: part("block", 2), ref_block_hash: part("hash", 8), expiration: 1795000000000 + i,
      timestamp: 1794999940000 + i, fee_limit: 1_000_000 + i * 777_777 } };
    const pb = utils.transaction.txJsonToPb(unsigned);
    const id = utils.transaction.txPbToTxID(pb).replace(/^0x/, "").toLowerCase();
    const signed = utils.crypto.signTransaction(key, { ...unsigned, txID: id,
      raw_data_hex: utils.transaction.txPbToRawDataHex(pb).toLowerCase() });
    return { from, to, token, amount, signed };
  });
}

const files = {
  "../core/wallet/testdata/tron.json": { source: "tronweb 6.5.1, e2e/vectors/tron.mjs", accounts: [0, 1, 2].map(account) },
  "../chain/tron/params/testdata/tronweb.json": { source: "tronweb 6.5.1, e2e/vectors/tron.mjs", judged: judged(),
    transactions: transactions() },
  "../chain/tron/signing/testdata/signed.json": { source: "tronweb 6.5.1, e2e/vectors/tron.mjs",
    payments: signedPayments() },
};
for (const [name, content] of Object.entries(files)) {
  const path = new URL("../" + name, import.meta.url);
  const text = JSON.stringify(content, null, 1) + "\n";
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} differs from what tronweb makes: node vectors/tron.mjs writes it`);
    process.exitCode = 1;
  }
}
