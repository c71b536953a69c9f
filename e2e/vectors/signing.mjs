// Writes transactions that the wallets' own libraries build and sign, for the packages
// chain/ethereum/signing and chain/xrpl/signing to be compared with: ethers for Ethereum, xrpl for
// the XRP Ledger; eth-url-parser reads the links. The tests demand that our packages build the very
// objects that are signed here, and find the signed transactions equal to the payment.
// With --check it writes nothing, and fails where what is committed differs. The keys come from
// fixed texts; only addresses and signed transactions are written.
//
//   npm ci && node vectors/signing.mjs [--check]
import assert from "node:assert";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "eth-url-parser";
import { JsonRpcProvider, SigningKey, Transaction, Wallet, computeAddress, getAddress } from "ethers";
import xrpl from "xrpl";

// bytes returns fixed bytes that look random.
const bytes = (text) => createHash("sha512").update(`Cointill test vectors, ${text}`).digest();
const number = (text, digits) => BigInt(`0x${bytes(text).toString("hex").slice(0, digits)}`);

const contract = getAddress("0x" + bytes("token").toString("hex", 0, 20));
const most = 2n ** 256n - 1n;
const edges = [1n, 127n, 128n, 255n, 256n, 10n ** 18n, 2n ** 64n - 1n, 2n ** 64n];
const chains = [1, 11155111, 10, 137, 56, 42161, 8453, 31337, 4294967296];

function ethereumPayment(n) {
  const key = new SigningKey(bytes(`wallet ${n % 5}`).subarray(0, 32));
  const token = n % 2 === 0;
  const amount = edges[n >> 1] ?? (n > 40 && token ? most - number(`amount ${n}`, 9) : number(`amount ${n}`, 1 + n % 16) + 1n);
  const maxFee = [7n, 1_000_000_000n, number(`fee ${n}`, 9) + 1n, number(`fee ${n}`, 12) + 1n][n % 4];
  return { key, payment: {
    ChainID: chains[n % chains.length], From: computeAddress(key), To: getAddress("0x" + bytes(`payee ${n}`).toString("hex", 0, 20)),
    Token: token ? contract : "", Amount: String(amount), Nonce: [0, 1, 127, 128, n, 65536 + n][n % 6],
    GasLimit: 21000 + n * 1777, MaxFeePerGas: String(maxFee), MaxPriorityFeePerGas: String(n % 3 === 0 ? 0n : maxFee / BigInt(n % 7 + 1)),
  } };
}

// digits writes an amount of the parser without an exponent.
function digits(text) {
  const [, whole, part = "", exponent] = /^(\d+)\.?(\d*)e\+(\d+)$/.exec(text) ?? [];
  return exponent ? (whole + part).padEnd(whole.length + Number(exponent), "0") : text;
}

async function ethereumRow(n) {
  const { key, payment: p } = ethereumPayment(n);
  const transfer = "0xa9059cbb" + p.To.slice(2).toLowerCase().padStart(64, "0") + BigInt(p.Amount).toString(16).padStart(64, "0");
  const object = {
    type: 2, chainId: String(p.ChainID), nonce: String(p.Nonce), to: p.Token || p.To, value: p.Token ? "0" : p.Amount, data: p.Token ? transfer : "0x",
    gasLimit: String(p.GasLimit), maxFeePerGas: p.MaxFeePerGas, maxPriorityFeePerGas: p.MaxPriorityFeePerGas, accessList: [],
  };
  const json = JSON.stringify(object);
  const wallet = new Wallet(key);
  const signed = await wallet.signTransaction(JSON.parse(json));
  const { maxFeePerGas, maxPriorityFeePerGas, accessList, ...rest } = object;
  const legacy = Transaction.from(await wallet.signTransaction({ ...rest, type: 0, gasPrice: maxFeePerGas }));

  // The library's own form of eth_sendTransaction, which needs no server.
  const request = JsonRpcProvider.prototype.getRpcTransaction.call(null, { ...object, accessList: undefined, from: p.From });
  const uri = p.Token ? `ethereum:${p.Token}@${p.ChainID}/transfer?address=${p.To}&uint256=${p.Amount}` : `ethereum:${p.To}@${p.ChainID}?value=${p.Amount}`;
  const link = parse(uri);
  const { address, uint256, value } = link.parameters;
  assert.deepEqual([link.scheme, link.target_address, link.chain_id, link.function_name, address, digits(uint256 ?? value)],
    ["ethereum", p.Token || p.To, String(p.ChainID), p.Token ? "transfer" : undefined, p.Token ? p.To : undefined, p.Amount]);
  return { payment: p, json, unsigned: Transaction.from(JSON.parse(json)).unsignedSerialized, signed, hash: Transaction.from(signed).hash,
    legacy: legacy.serialized, legacyHash: legacy.hash, request, uri };
}

function ledgerRow(n) {
  const wallet = (m) => xrpl.Wallet.fromEntropy(bytes(`ledger wallet ${m}`).subarray(0, 16), { algorithm: n % 2 ? xrpl.ECDSA.ed25519 : xrpl.ECDSA.secp256k1 });
  const regular = n % 5 === 4; // the account's regular key signs
  const tag = [undefined, 0, 1, 4294967295, 3000000019][n % 5];
  const network = [0, 1, 1024, 1025, 21337][n % 5];
  const p = {
    TransactionType: "Payment", Account: wallet(n % 7).classicAddress, Destination: wallet(`payee ${n}`).classicAddress,
    ...(tag === undefined ? {} : { DestinationTag: tag }), Amount: String([1n, 99999999999999999n, 100000000000000000n][n] ?? number(`drops ${n}`, 1 + n % 14) + 1n),
    Fee: String([10, 12, 5000, 2000000][n % 4]), Sequence: [1, 4294967295, n, 90000000 + n][n % 4], LastLedgerSequence: 95000000 + n * 7919,
    InvoiceID: bytes(`send ${n}`).toString("hex", 0, 32).toUpperCase(), ...(network > 1024 ? { NetworkID: network } : {}),
  };
  const json = JSON.stringify(p);
  const { tx_blob: signed, hash } = wallet(regular ? "regular key" : n % 7).sign(JSON.parse(json));
  return { network, json, signed, hash, regular };
}

const lines = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
const count = 60;
const ethereum = await Promise.all([...Array(count).keys()].map(ethereumRow));
const ledger = [...Array(count).keys()].map(ledgerRow);

for (const [name, text] of [["ethereum/signing/testdata/signed.json", lines(ethereum)], ["xrpl/signing/testdata/signed.json", lines(ledger)]]) {
  const file = new URL(`../../chain/${name}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    throw new Error(`chain/${name} is not what the libraries say`);
  }
}
console.log(`${ethereum.length} payments on Ethereum, ${ledger.length} on the XRP Ledger`);
