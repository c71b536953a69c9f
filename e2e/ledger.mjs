// Judges the ledger of chain/xrpl/ledgertest by the npm library xrpl, which knows
// nothing of Cointill: connects, funds an account from the genesis account, signs
// and submits payments with a tag by both kinds of keys, and reads them back with
// tx, ledger, account_info and page by page with account_tx. Prints what it found
// as JSON for the test to look at; what it finds wrong ends it with 1.
//
//   node ledger.mjs ws://host:port
import assert from "node:assert/strict";
import xrpl from "xrpl";

const { Client, ECDSA, Wallet, decode, encode, hashes, xrpToDrops } = xrpl;

const client = new Client(process.argv[2], { timeout: 10_000 });
const ledgers = [];
client.on("ledgerClosed", (ledger) => ledgers.push(ledger.ledger_index));
await client.connect();
await client.request({ command: "subscribe", streams: ["ledger"] });
const genesis = Wallet.fromSeed("snoPBrXtMeMyMHUVTgbuqAfg1SUTb", { algorithm: ECDSA.secp256k1 });
const till = Wallet.generate(ECDSA.secp256k1);
const shopper = Wallet.generate(ECDSA.ed25519);

// pay signs and submits a payment, waits until it is validated, and checks its id.
async function pay(from, Destination, drops, more = {}) {
  const payment = { TransactionType: "Payment", Account: from.classicAddress, Destination, Amount: drops, ...more };
  const { result } = await client.submitAndWait(payment, { wallet: from });
  assert.equal(result.validated, true);
  return result;
}

for (const wallet of [till, shopper]) {
  const { meta } = await pay(genesis, wallet.classicAddress, xrpToDrops(1000));
  assert.equal(meta.TransactionResult, "tesSUCCESS");
}
const before = await client.getXrpBalance(till.classicAddress);
assert.equal(before, 1000);

// The merchant asks for tags: a payment without one fails inside a validated ledger.
const set = await client.submitAndWait({ TransactionType: "AccountSet", Account: till.classicAddress, SetFlag: 1 }, { wallet: till });
assert.equal(set.result.meta.TransactionResult, "tesSUCCESS");
const untagged = await client.submitAndWait(
  { TransactionType: "Payment", Account: shopper.classicAddress, Destination: till.classicAddress, Amount: "5000000" }, { wallet: shopper });
assert.equal(untagged.result.meta.TransactionResult, "tecDST_TAG_NEEDED");

// By an X-address, which the library takes apart into the account and the tag.
const tag = 3_000_000_019;
const paid = await pay(shopper, till.getXAddress(tag, true), "12345678",
  { Memos: [{ Memo: { MemoData: Buffer.from("for the order ".repeat(20)).toString("hex").toUpperCase() } }] });
assert.equal(paid.meta.TransactionResult, "tesSUCCESS");
assert.equal(paid.meta.delivered_amount, "12345678");
assert.equal(paid.tx_json.DestinationTag, tag);
assert.equal(paid.tx_json.Destination, till.classicAddress);
const { date, ledger_index, DeliverMax, ...signed } = paid.tx_json;
assert.equal(hashes.hashSignedTx({ ...signed, Amount: DeliverMax }), paid.hash);
assert.equal(await client.getXrpBalance(till.classicAddress), 1000 + 12.345678 - Number(set.result.tx_json.Fee) / 1e6);

// The ledger that holds it is the one that its hash names, in either version.
for (const api_version of [1, 2]) {
  const { result } = await client.request({ command: "ledger", ledger_index: paid.ledger_index, transactions: true, expand: true, api_version });
  const mine = result.ledger.transactions.find((tx) => tx.hash === paid.hash);
  const tx = api_version === 1 ? mine : mine.tx_json;
  assert.equal((api_version === 1 ? mine.metaData : mine.meta).delivered_amount, "12345678");
  assert.equal(tx.Amount, api_version === 1 ? "12345678" : undefined);
  assert.equal(tx.DeliverMax, "12345678");
  const { transactions, ...header } = result.ledger;
  assert.equal(hashes.hashLedgerHeader(header), result.ledger_hash);
}

// Many payments in one ledger, page by page, each once.
const payment = { TransactionType: "Payment", Account: shopper.classicAddress, Destination: till.classicAddress, Amount: "1" };
for (let i = 0; i < 24; i++) {
  const { result } = await client.submit({ ...payment, DestinationTag: i }, { wallet: shopper });
  assert.equal(result.engine_result, "tesSUCCESS");
}
await client.request({ command: "ledger_accept" });
const ids = [];
let marker;
do {
  const { result } = await client.request({ command: "account_tx", account: till.classicAddress, limit: 10, forward: true, marker });
  ids.push(...result.transactions.map((tx) => tx.hash));
  marker = result.marker;
} while (marker !== undefined);
assert.equal(ids.length, 28); // funded, flagged, refused, paid, and these
assert.equal(new Set(ids).size, ids.length);
assert.ok(ids.includes(paid.hash));

// What is wrong is refused as servers do.
const once = shopper.sign(await client.autofill({ ...payment, DestinationTag: 1 }));
const changed = encode({ ...decode(once.tx_blob), Amount: "2" });
const engine = async (blob) => (await client.submit(blob)).result.engine_result;
assert.equal(await engine(changed), "temBAD_SIGNATURE");
assert.equal(await engine(once.tx_blob), "tesSUCCESS");
assert.equal(await engine(once.tx_blob), "tefALREADY");
await assert.rejects(client.request({ command: "tx", transaction: "0".repeat(64) }), /txnNotFound|Transaction not found/);
await assert.rejects(client.request({ command: "account_info", account: Wallet.generate().classicAddress }), /Account not found/);
await assert.rejects(client.request({ command: "nonsense" }), /Unknown method/);
assert.ok(ledgers.length > 3, "the stream told of ledgers");

console.log(JSON.stringify({ hash: paid.hash, ledger: paid.ledger_index, network: client.networkID, build: client.buildVersion, ledgers: ledgers.length }));
await client.disconnect();
