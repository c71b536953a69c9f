// Package chaintest is the conformance suite that every chain.Source must pass.
// It drives a real network, or a simulated one, through a Net, follows it with a
// real chain.Follower into a Ledger, and compares what the Ledger knows with what
// the network says is true.
package chaintest

import (
	"fmt"
	"slices"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// Net drives one network in a test. Its methods end the test themselves when
// the network refuses; they are called from the test's goroutine only.
type Net interface {
	// Features tells what the network can do; cases that need more are left out.
	Features() Features
	// Source is the adapter under test, connected to the network. It is asked for
	// again after Restart.
	Source() chain.Source
	// Destination is a place to pay to that was never used before. Nothing is
	// watched by itself: the suite adds it to the Watch it passes.
	Destination() chain.Destination
	// Pay sends outputs in one transaction, into the mempool or to be in the next
	// block, and returns its id. More than one output only with MultiOutput.
	Pay(outputs ...chain.Output) string
	// Mine makes n blocks, at least 1, that take what is pending.
	Mine(n int)
	// Reorg replaces the last depth blocks by a branch that is at least as high.
	// With keep, their transactions are in the new branch too, at whatever height;
	// without, they are in neither branch nor mempool.
	Reorg(depth int, keep bool)
	// Replace sends a transaction that uses up the same spend keys as a pending
	// one, which thereby leaves the mempool, pays nobody that is watched, and
	// returns its id. Only with Replace.
	Replace(txid string) string
	// Revert sends a transaction that blocks will record as failed. Only with Reverts.
	Revert(output chain.Output) string
	// Restart closes the adapter and opens it anew, as a restart of the process does.
	Restart()
	// Where asks the network itself, not the adapter, where a transaction is.
	Where(txid string) Place
}

// Features is what a network can do, and how to pay on it.
type Features struct {
	Asset       string // of what Pay sends
	Amount      int64  // smallest units that one payment has at least: above dust and reserves
	Mempool     bool   // pending transactions are seen
	MultiOutput bool
	Replace     bool
	Reverts     bool
	MaxReorg    int // deepest Reorg; 0: the network has none
	Walk        int // actions of the seeded random walk; 0 means 60
}

// Place is where a transaction is.
type Place struct {
	Pending bool
	Height  int64  // in the best chain; 0 when it isn't
	Hash    string // of that block
}

// Gone reports whether the network knows nothing of the transaction any more.
func (p Place) Gone() bool { return !p.Pending && p.Hash == "" }

// bench is one case's network, ledger and follower.
type bench struct {
	testing.TB
	Net
	features   Features
	ledger     *Ledger
	watch      *chain.WatchSet
	follower   *chain.Follower
	wrapSource func(chain.Source) chain.Source // what the case puts between; nil: nothing
	paid       map[string]payment              // by txid: everything that was paid to watched places
	order      []string                        // the txids of paid, oldest first
	serial     int64
}

// payment is what the suite knows of a transaction because it ordered it.
type payment struct {
	outputs  []chain.Output // to watched places
	reverted bool
}

const network chain.Network = "conformance"

func newBench(t testing.TB, net Net) *bench {
	watch := new(chain.WatchSet)
	b := &bench{TB: t, Net: net, features: net.Features(), watch: watch, ledger: NewLedger(watch, 400), paid: map[string]payment{}}
	b.startFollower(nil)
	return b
}

// startFollower starts a new follower on the ledger, as a restarted process does.
func (b *bench) startFollower(wrap func(chain.Source) chain.Source) {
	b.wrapSource = wrap
	source := b.Source()
	if wrap != nil {
		source = wrap(source)
	}
	b.follower = chain.NewFollower(chain.FollowerConfig{Network: network, Source: source, Store: b.ledger, Watch: b.watch})
}

// restartAll restarts the adapter and the follower.
func (b *bench) restartAll() {
	b.Restart()
	b.startFollower(nil)
}

// Mine mines, also no block at all.
func (b *bench) Mine(n int) {
	b.Helper()
	if n > 0 {
		b.Net.Mine(n)
	}
}

// mustStep polls once and expects it to go well.
func (b *bench) mustStep() {
	b.Helper()
	if _, err := b.follower.Step(b.Context()); err != nil {
		b.Fatalf("follower: %v", err)
	}
	for _, v := range b.ledger.Violations() {
		b.Fatalf("the source made the follower apply nonsense: %s", v)
	}
}

// newOutput makes a payment of an amount that no other payment of the bench has.
func (b *bench) newOutput(to chain.Destination) chain.Output {
	b.serial++
	return chain.Output{Asset: b.features.Asset, Destination: to, Amount: money.Units(b.features.Amount + b.serial)}
}

// newWatched is a new destination that is watched.
func (b *bench) newWatched() chain.Destination {
	to := b.Destination()
	b.watch.AddAddresses(to.Address)
	return to
}

// payWatched pays destinations, all of them watched, in one transaction.
func (b *bench) payWatched(to ...chain.Destination) string {
	var outputs []chain.Output
	for _, d := range to {
		outputs = append(outputs, b.newOutput(d))
	}
	txid := b.Pay(outputs...)
	b.recordPayment(txid, payment{outputs: outputs})
	return txid
}

// recordPayment notes what a transaction paid.
func (b *bench) recordPayment(txid string, paid payment) {
	b.paid[txid] = paid
	b.order = append(b.order, txid)
}

// checkLedger compares the ledger with the truth, whole: no transfer is missing, none
// is invented, and each is where the network says that its transaction is.
func (b *bench) checkLedger() {
	b.Helper()
	b.checkLastPayments(len(b.order))
}

// checkLastPayments is check, but asks the network only for the last n transactions.
func (b *bench) checkLastPayments(n int) {
	b.Helper()
	known := b.ledger.Transfers()
	for _, txid := range b.order[max(0, len(b.order)-n):] {
		paid, place := b.paid[txid], b.Where(txid)
		var got []string
		for _, row := range known[txid] {
			b.checkPlace(row, place, paid.reverted)
			got = append(got, describeOutput(chain.Output{Asset: row.Asset, Destination: row.Destination, Amount: row.Amount}))
		}
		seen := len(got) > 0
		if !seen && (place.Gone() || (place.Pending && !b.features.Mempool)) {
			continue // it came and went unseen, or can't be seen yet
		}
		var want []string
		for _, o := range paid.outputs {
			want = append(want, describeOutput(o))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			b.Errorf("transaction %s (%+v) paid %v, the ledger has %v", txid, place, want, got)
		}
	}
	for txid := range known {
		if _, ok := b.paid[txid]; !ok {
			b.Errorf("the ledger has transfers of %s, which paid nobody that is watched", txid)
		}
	}
}

// checkPlace compares one transfer's place with its transaction's.
func (b *bench) checkPlace(row Row, place Place, reverted bool) {
	b.Helper()
	confirmed := place.Hash != ""
	switch {
	case confirmed && (row.Height != place.Height || row.BlockHash != place.Hash):
		b.Errorf("transfer %s is in block %d %.8s, the ledger says %d %.8s", row.Key(), place.Height, place.Hash, row.Height, row.BlockHash)
	case confirmed && row.Reverted != reverted:
		b.Errorf("transfer %s: reverted is %v, the ledger says %v", row.Key(), reverted, row.Reverted)
	case !confirmed && row.BlockHash != "":
		b.Errorf("transfer %s is in no block, the ledger says %d %.8s", row.Key(), row.Height, row.BlockHash)
	case row.Gone != (place.Gone() || (place.Pending && !b.features.Mempool)):
		b.Errorf("transfer %s: gone is %v, the ledger says %v (%s)", row.Key(), place.Gone(), row.Gone, row.Reason)
	}
}

func describeOutput(o chain.Output) string {
	tag := "no tag"
	if o.Tag != nil {
		tag = fmt.Sprint("tag ", *o.Tag)
	}
	return fmt.Sprintf("%s %s to %s (%s)", o.Amount, o.Asset, o.Address, tag)
}
