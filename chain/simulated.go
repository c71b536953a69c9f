package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"cointill/core/money"
)

// Output is an amount that a transaction sends to one destination.
type Output struct {
	Asset string // as in Transfer
	Destination
	Amount money.Amount
}

// Tx is a transaction of a simulated network. Its id is derived from its content: equal
// transactions have equal ids.
type Tx struct {
	Outputs  []Output
	Spends   []string // at least one, which makes the transaction unique
	Reverted bool     // blocks record it as failed, and it moves nothing
}

// ID is the transaction's id on a network: the SHA-256 of both in hexadecimal.
func (t Tx) ID(network Network) string {
	content, err := json.Marshal(struct {
		Network Network
		Tx
	}{network, t})
	if err != nil {
		panic(err) // texts and integers always marshal
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// MatchWatch returns the watched transfers and spends of the transaction once a block holds it.
func (t Tx) MatchWatch(network Network, watch Watch) (transfers []Transfer, spends []Spend) {
	id := t.ID(network)
	for i, o := range t.Outputs {
		if watch.Address(o.Address) {
			transfers = append(transfers, Transfer{TxID: id, Index: i, Asset: o.Asset, Destination: o.Destination,
				Amount: o.Amount, Spends: t.Spends, Reverted: t.Reverted})
		}
	}
	for _, key := range t.Spends {
		if watch.Spend(key) {
			spends = append(spends, Spend{Key: key, TxID: id})
		}
	}
	return transfers, spends
}

// MoveKind names the effect of a Move on a simulated network.
type MoveKind string

// The kinds of moves. MoveReorg mines the last Depth blocks, and those down to TxIDs, again without
// TxIDs, which are dropped or, with Held, go back to the mempool and are held there.
const (
	MoveBroadcast MoveKind = "broadcast" // Tx enters the mempool, unless the network has it already
	MoveHold      MoveKind = "hold"      // no block takes the pending TxIDs until they are released
	MoveRelease   MoveKind = "release"   // blocks may take TxIDs
	MoveDrop      MoveKind = "drop"      // the pending TxIDs leave the mempool permanently
	MoveReorg     MoveKind = "reorg"     // the last blocks are replaced
)

// Move is one event on a simulated network, now or later.
type Move struct {
	After int64 // blocks from now; 0 means at once
	Kind  MoveKind
	Tx    *Tx      `json:",omitempty"` // for MoveBroadcast
	Held  bool     `json:",omitempty"` // for MoveBroadcast: held from the beginning; for MoveReorg: not dropped
	TxIDs []string `json:",omitempty"` // for MoveHold, MoveRelease, MoveDrop, MoveReorg
	Depth int      `json:",omitempty"` // for MoveReorg
}
