// Package chaintest is the conformance suite that every chain.Source must pass. It drives a real or
// simulated network through a Net, follows it with a real chain.Follower into a Ledger, and
// compares the Ledger with the state that the network itself reports.
package chaintest

import (
	"context"

	"cointill/chain"
)

// Net drives one network in a test. Its methods end the test themselves when the network refuses.
// They are called from the test's goroutine only.
type Net interface {
	// Features returns the abilities of the network; cases that need more are left out.
	Features() Features
	// Source returns the adapter under test, connected to the network. It is called again after
	// Restart.
	Source() chain.Source
	// Destination returns an unused destination. The suite adds it to the Watch itself.
	Destination() chain.Destination
	// Pay sends outputs in one transaction, into the mempool or for the next block, and returns its
	// id. It takes more than one output only with MultiOutput.
	Pay(outputs ...chain.Output) string
	// Mine mines n blocks, at least 1, with the pending transactions.
	Mine(n int)
	// Reorg replaces the last depth blocks with a branch that is at least as high. With keep, their
	// transactions are in the new branch, too, at any height; without, they are in neither branch
	// nor mempool.
	Reorg(depth int, keep bool)
	// Replace sends a transaction that uses up the same spend keys as a pending one and pays no
	// watched address. The pending one leaves the mempool. Replace returns the id. It is called
	// only if Features.Replace is true.
	Replace(txid string) string
	// Revert sends a transaction that blocks will record as failed. It is called only if
	// Features.Reverts is true.
	Revert(output chain.Output) string
	// Restart closes the adapter and opens it again, as a restart of the process does.
	Restart()
	// Where asks the network itself, not the adapter, where a transaction is.
	Where(txid string) Place
}

// PayerNet is a Net whose payments come from accounts.
type PayerNet interface {
	Net
	// PayFrom sends an output from an account, and returns the transaction's id.
	PayFrom(account string, output chain.Output) string
}

// Features holds the abilities of a network and the settings of payments on it.
type Features struct {
	Asset       string // the asset that Pay sends
	Amount      int64  // least amount of a payment in the smallest unit: above dust and reserves
	Mempool     bool   // pending transactions are visible
	MultiOutput bool
	Replace     bool
	Reverts     bool
	Payers      bool // the Net is a PayerNet
	MaxReorg    int  // greatest depth of Reorg; 0 if the network has none
	Walk        int  // actions of the random walk; 0 means 60
}

// Place is the place of a transaction.
type Place struct {
	Pending bool
	Height  int64  // in the best chain; 0 if it isn't there
	Hash    string // hash of this block
}

// Gone reports whether the network no longer knows the transaction.
func (p Place) Gone() bool { return !p.Pending && p.Hash == "" }

// ReadBlock reads a block from a new view of a source.
func ReadBlock(ctx context.Context, source chain.Source, height int64, watch chain.Watch) (chain.Block, error) {
	view, err := source.At(ctx)
	if err != nil {
		return chain.Block{}, err
	}
	return view.Block(ctx, height, watch)
}

// ReadPending reads the mempool from a new view of a source.
func ReadPending(ctx context.Context, source chain.Source, watch chain.Watch) (chain.Pending, error) {
	view, err := source.At(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	return view.Pending(ctx, watch)
}
