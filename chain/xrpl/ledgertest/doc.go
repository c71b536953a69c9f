// Package ledgertest is an XRP Ledger for tests: one chain of validated ledgers,
// and any number of servers that show it in version 1 or 2 of rippled's API, over
// JSON-RPC and websockets. Field names and shapes follow the ledger's public
// documentation; the npm library xrpl is satisfied with it as a client, which
// signs its own payments and reads them back (e2e/ledger_test.go).
//
// What is simplified, and how the real thing differs:
//
//   - There is no consensus: one Ledger decides alone, when Close is called or its
//     ticker says so. What is in the open ledger when it closes is validated at once.
//   - Ledgers' hashes are the real ones of their headers. But account_hash and
//     transaction_hash are hashes of the contents in JSON, not roots of the trees of
//     binary entries; transaction_hash is zeros, as in reality, when there is none.
//   - Submitted transactions are read from their binary form, their signatures
//     verified and their ids computed, for Payment and AccountSet with the fields
//     that those usually have, one signature by the account's master key, and XRP.
//     Everything else comes into a ledger by Go functions, unsigned and with ids
//     that are hashes of their JSON.
//   - There are no trust lines, offers, escrow entries or checks in the state: what
//     delivers issued currencies, finishes an escrow or cashes a check has the
//     effects and metadata of one whose counterpart is the genesis account.
//   - Only account roots have a state, and only that of the validated and of the
//     open ledger can be asked for, not of older ones.
//   - Transactions are in a ledger in the order in which they came; the network
//     orders them so that nobody can choose it. A transaction with a Sequence from
//     the future is refused with terPRE_SEQ and not held.
//   - Results are decided as rippled does for the cases that a payment of XRP meets
//     (see apply.go); fees don't rise with load, and there is no queue.
//   - Reserves are 1 XRP for an account and 0.2 XRP for what it owns, the base fee
//     10 drops, as on the main network.
//   - The ledger answer can be split into pages with a marker, which rippled
//     doesn't do for transactions: a client must survive it all the same.
package ledgertest
