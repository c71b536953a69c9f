// Writes the addresses that public npm libraries derive from account keys, for
// core/wallet to be compared with: bitcoinjs-lib with bip32 for Bitcoin,
// bitcore-lib-doge for Dogecoin, ethers for Ethereum, and @bitcoinerlab/descriptors for descriptors
// and their checksums. With --check it writes nothing, and fails where what is
// committed differs. The accounts come from fixed texts; only public keys are written.
//
//   npm ci && node vectors/addresses.mjs [--check]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import * as ecc from "@bitcoinerlab/secp256k1";
import { DescriptorsFactory, checksum } from "@bitcoinerlab/descriptors";
import { BIP32Factory } from "bip32";
import * as bitcoin from "bitcoinjs-lib";
import doge from "bitcore-lib-doge";
import { HDNodeWallet } from "ethers";

bitcoin.initEccLib(ecc);
const bip32 = BIP32Factory(ecc);
const { Output } = DescriptorsFactory(ecc);

const accounts = [0, 1, 2];
const indexes = [...Array(100).keys(), 1000, 65536, 2147483647]; // 309 addresses a format
const seed = (account) => createHash("sha512").update(`Cointill test vectors, account ${account}`).digest();

const mainnet = bitcoin.networks.bitcoin;
const networks = { mainnet, testnet4: bitcoin.networks.testnet, signet: bitcoin.networks.testnet, regtest: bitcoin.networks.regtest };
const versions = {
  xpub: [0x0488b21e, 0x0488ade4], ypub: [0x049d7cb2, 0x049d7878], zpub: [0x04b24746, 0x04b2430c],
  tpub: [0x043587cf, 0x04358394], upub: [0x044a5262, 0x044a4e28], vpub: [0x045f1cf6, 0x045f18bc],
  dgub: [0x02facafd, 0x02fac398],
};
const purposes = { pkh: 44, "sh(wpkh)": 49, wpkh: 84, tr: 86 };
const payments = {
  pkh: (pubkey, network) => bitcoin.payments.p2pkh({ pubkey, network }),
  wpkh: (pubkey, network) => bitcoin.payments.p2wpkh({ pubkey, network }),
  "sh(wpkh)": (pubkey, network) => bitcoin.payments.p2sh({ redeem: bitcoin.payments.p2wpkh({ pubkey, network }), network }),
  tr: (pubkey, network) => bitcoin.payments.p2tr({ internalPubkey: pubkey.subarray(1), network }),
};

// node is an account's public node, which writes itself with a format's version bytes.
function node(account, format, path) {
  const [publicVersion, privateVersion] = versions[format];
  const network = { ...mainnet, bip32: { public: publicVersion, private: privateVersion } };
  return bip32.fromSeed(seed(account), network).derivePath(path).neutered();
}

function bitcoinAddresses(format, network, script) {
  return accounts.map((account) => {
    const key = node(account, format, `m/${purposes[script]}'/${network === "mainnet" ? 0 : 1}'/0'`);
    const branch = key.derive(0);
    const addresses = indexes.map((i) => payments[script](branch.derive(i).publicKey, networks[network]).address);
    return { chain: "bitcoin", network, script, key: key.toBase58(), addresses };
  });
}

function dogecoinAddresses(format, network) {
  const as = network === "mainnet" ? "livenet" : network;
  return accounts.map((account) => {
    const path = `m/44'/${network === "mainnet" ? 3 : 1}'/0'`;
    // The library reads its own prefix only; the key is the same under each.
    const branch = new doge.HDPublicKey(node(account, network === "mainnet" ? "xpub" : "tpub", path).toBase58()).deriveChild(0);
    const addresses = indexes.map((i) => branch.deriveChild(i).publicKey.toAddress(doge.Networks.get(as)).toString());
    return { chain: "dogecoin", network, script: "pkh", key: node(account, format, path).toBase58(), addresses };
  });
}

function ethereumAddresses(format, network) {
  return accounts.map((account) => {
    const path = "m/44'/60'/0'"; // wallets use it on every network
    // The library reads xpub only; the key is the same under each.
    const branch = HDNodeWallet.fromExtendedKey(node(account, "xpub", path).toBase58()).deriveChild(0);
    const addresses = indexes.map((i) => branch.deriveChild(i).address);
    return { chain: "ethereum", network, script: "ethereum", key: node(account, format, path).toBase58(), addresses };
  });
}

function descriptors() {
  const rows = [];
  for (const account of accounts) {
    for (const [network, format, coin] of [["mainnet", "xpub", 0], ["regtest", "tpub", 1]]) {
      for (const [script, purpose] of Object.entries(purposes)) {
        const root = bip32.fromSeed(seed(account));
        const origin = Buffer.from(root.fingerprint).toString("hex");
        const close = script === "sh(wpkh)" ? "))" : ")";
        const open = script.replace(")", "").replace(/([a-z])$/, "$1(");
        const key = node(account, format, `m/${purpose}'/${coin}'/0'`).toBase58();
        for (const [mark, path] of [["'", "/0/*"], ["h", "/<0;1>/*"], ["'", "/1/2/3/*"], ["h", "/*"]]) {
          const text = `${open}[${origin}/${purpose}${mark}/${coin}${mark}/0${mark}]${key}${path}${close}`;
          const change = path.includes("<") ? { change: 0 } : {};
          const addresses = indexes.slice(0, 20).map((index) =>
            new Output({ descriptor: text, index, network: networks[network], ...change }).getAddress());
          rows.push({ chain: "bitcoin", network, script, key: `${text}#${checksum(text)}`, addresses });
        }
      }
    }
  }
  return rows;
}

// write puts one account on a line, so that a change shows as a change of that line.
function write(name, rows, used) {
  const file = new URL(`../../core/wallet/testdata/${name}`, import.meta.url);
  const text = `{"indexes":${JSON.stringify(used)},"accounts":[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]}\n`;
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    throw new Error(`core/wallet/testdata/${name} is not what the libraries derive`);
  }
  console.log(`${name}: ${rows.length} keys, ${rows.length * used.length} addresses`);
}

write("addresses.json", [
  ["xpub", "mainnet", "pkh"], ["xpub", "mainnet", "sh(wpkh)"], ["xpub", "mainnet", "wpkh"], ["xpub", "mainnet", "tr"],
  ["ypub", "mainnet", "sh(wpkh)"], ["zpub", "mainnet", "wpkh"],
  ["tpub", "testnet4", "wpkh"], ["upub", "testnet4", "sh(wpkh)"], ["vpub", "signet", "wpkh"], ["tpub", "signet", "tr"],
  ["tpub", "regtest", "pkh"], ["upub", "regtest", "sh(wpkh)"], ["vpub", "regtest", "wpkh"], ["tpub", "regtest", "tr"],
].flatMap((format) => bitcoinAddresses(...format)).concat([
  ["dgub", "mainnet"], ["xpub", "mainnet"], ["tpub", "testnet"], ["tpub", "regtest"],
].flatMap((format) => dogecoinAddresses(...format))).concat([
  ["xpub", "mainnet"], ["xpub", "sepolia"], ["tpub", "sepolia"],
].flatMap((format) => ethereumAddresses(...format))), indexes);
write("descriptors.json", descriptors(), indexes.slice(0, 20));
