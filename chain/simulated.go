package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"cointill/core/money"
)

// Output is value that a transaction sends to one destination.
type Output struct {
	Asset string // as in Transfer
	Destination
	Amount money.Amount
}

// Tx is a transaction as a simulated network takes it. Its content is its name:
// equal transactions have equal ids.
type Tx struct {
	Outputs  []Output
	Spends   []string // at least one, which makes the transaction unlike every other
	Reverted bool     // blocks record it as failed: it moves nothing
}

// ID is the transaction's id on a network: hex SHA-256 of both.
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

// Concerning is what a watch wants to know of the transaction once a block holds it.
func (t Tx) Concerning(network Network, watch Watch) (transfers []Transfer, spends []Spend) {
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

// MoveKind names what a Move does to a simulated network.
type MoveKind string

// The kinds of moves.
const (
	MoveBroadcast MoveKind = "broadcast" // Tx enters the mempool, unless the network has it already
	MoveHold      MoveKind = "hold"      // no block takes the pending TxIDs until they are released
	MoveRelease   MoveKind = "release"   // blocks may take TxIDs
	MoveDrop      MoveKind = "drop"      // the pending TxIDs leave the mempool for good
	MoveReorg     MoveKind = "reorg"     // the last Depth blocks, and those down to TxIDs, are mined anew without TxIDs, which are gone
)

// Move is one thing that happens to a simulated network, at once or later.
type Move struct {
	After int64 // blocks from now; 0 means at once
	Kind  MoveKind
	Tx    *Tx      `json:",omitempty"` // MoveBroadcast
	Held  bool     `json:",omitempty"` // MoveBroadcast: held from the beginning
	TxIDs []string `json:",omitempty"` // MoveHold, MoveRelease, MoveDrop, MoveReorg
	Depth int      `json:",omitempty"` // MoveReorg
}
