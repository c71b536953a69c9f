// Package ledgertest is an XRP Ledger for tests: one chain of validated ledgers, and any number of
// servers that show it in version 1 or 2 of rippled's API, over JSON-RPC and websockets. Field
// names and shapes follow the ledger's public documentation. The npm library xrpl accepts it as a
// server: it signs its own payments and reads them back (e2e/ledger_test.go).
//
// The package simplifies the real network as follows:
//
//   - There is no consensus. One Ledger decides alone, when Close is called or its
//     ticker fires. Transactions in the open ledger are validated at once when it closes.
//   - The hashes of ledgers are the real hashes of their headers. But account_hash and
//     transaction_hash are hashes of the contents in JSON, not roots of the trees of
//     binary entries. transaction_hash is zeros, as in reality, for an empty ledger.
//   - Submitted transactions are decoded from their binary form, their signatures are
//     verified and their ids computed. This covers Payment and AccountSet with their usual
//     fields, one signature by the account's master key, and XRP.
//     All other transactions are added by Go functions, unsigned and with ids
//     that are hashes of their JSON.
//   - The state has no trust lines, offers, escrow entries or checks. A transaction that
//     delivers issued currencies, finishes an escrow or cashes a check has the
//     effects and metadata of a real one, with the genesis account as its counterpart.
//   - Only account roots have a state, and only the state of the validated and of the
//     open ledger can be requested, not the state of older ledgers.
//   - Transactions are in a ledger in the order of their arrival. The real network
//     chooses an order that no sender can control. A transaction with a Sequence from
//     the future is refused with terPRE_SEQ and not held.
//   - Results are decided as by rippled for the cases that concern a payment of XRP
//     (see apply.go). Fees do not rise with load, and there is no queue.
//   - Reserves are 1 XRP for an account and 0.2 XRP for each object that it owns. The base
//     fee is 10 drops, as on the main network.
//   - The answer to the command ledger can be split into pages with a marker. rippled does
//     not do this for transactions, but a client must handle it.
package ledgertest
