package chaintest

import (
	"fmt"
	"slices"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// bench is the network, ledger and follower of one case.
type bench struct {
	testing.TB
	Net
	features   Features
	ledger     *Ledger
	watch      *chain.WatchSet
	follower   *chain.Follower
	wrapSource func(chain.Source) chain.Source // wraps the source; nil for none
	paid       map[string]payment              // by txid: every payment to watched destinations
	order      []string                        // the txids of paid, oldest first
	serial     int64
}

// payment is a transaction that the suite sent.
type payment struct {
	outputs  []chain.Output // to watched destinations
	reverted bool
}

const network chain.Network = "conformance"

func newBench(t testing.TB, net Net) *bench {
	watch := new(chain.WatchSet)
	b := &bench{TB: t, Net: net, features: net.Features(), watch: watch, ledger: NewLedger(watch, 400),
		paid: map[string]payment{}}
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
	b.follower = chain.NewFollower(chain.FollowerConfig{Network: network, Source: source, Store: b.ledger,
		Watch: b.watch})
}

// restartAll restarts the adapter and the follower.
func (b *bench) restartAll() {
	b.Restart()
	b.startFollower(nil)
}

// Mine mines n blocks; n may be 0.
func (b *bench) Mine(n int) {
	b.Helper()
	if n > 0 {
		b.Net.Mine(n)
	}
}

// mustStep makes one step and expects success.
func (b *bench) mustStep() {
	b.Helper()
	if _, err := b.follower.Step(b.Context()); err != nil {
		b.Fatalf("follower: %v", err)
	}
	for _, v := range b.ledger.ListViolations() {
		b.Fatalf("an applied batch breaks a rule: %s", v)
	}
}

// newOutput returns an output with an amount that no other payment of the bench has.
func (b *bench) newOutput(to chain.Destination) chain.Output {
	b.serial++
	return chain.Output{Asset: b.features.Asset, Destination: to, Amount: money.Units(b.features.Amount + b.serial)}
}

// newWatched returns a new watched destination.
func (b *bench) newWatched() chain.Destination {
	to := b.Destination()
	b.watch.AddAddresses(to.Address)
	return to
}

// payWatched pays watched destinations in one transaction.
func (b *bench) payWatched(to ...chain.Destination) string {
	var outputs []chain.Output
	for _, d := range to {
		outputs = append(outputs, b.newOutput(d))
	}
	txid := b.Pay(outputs...)
	b.recordPayment(txid, payment{outputs: outputs})
	return txid
}

// recordPayment records the outputs of a transaction.
func (b *bench) recordPayment(txid string, paid payment) {
	b.paid[txid] = paid
	b.order = append(b.order, txid)
}

// checkLedger compares the whole ledger with the network: no transfer is missing or invented, and
// each is where the network reports its transaction.
func (b *bench) checkLedger() {
	b.Helper()
	b.checkLastPayments(len(b.order))
}

// checkLastPayments is checkLedger, but asks the network only for the last n transactions.
func (b *bench) checkLastPayments(n int) {
	b.Helper()
	known := b.ledger.Transfers()
	for _, txid := range b.order[max(0, len(b.order)-n):] {
		paid, place := b.paid[txid], b.Where(txid)
		var got []string
		for _, row := range known[txid] {
			b.checkPlace(row, place, paid.reverted)
			got = append(got, describeOutput(chain.Output{Asset: row.Asset, Destination: row.Destination,
				Amount: row.Amount}))
		}
		seen := len(got) > 0
		if !seen && (place.Gone() || (place.Pending && !b.features.Mempool)) {
			continue // it was never visible, or isn't yet
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

// checkPlace compares the place of a transfer with the place of its transaction.
func (b *bench) checkPlace(row Row, place Place, reverted bool) {
	b.Helper()
	confirmed := place.Hash != ""
	switch {
	case confirmed && (row.Height != place.Height || row.BlockHash != place.Hash):
		b.Errorf("transfer %s is in block %d %.8s, the ledger says %d %.8s", row.Key(), place.Height, place.Hash,
			row.Height, row.BlockHash)
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
