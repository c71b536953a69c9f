package chaintest

import (
	"context"
	"errors"
	"slices"
	"time"

	"cointill/chain"
)

// checkHeadersLink reads the end of the chain and expects that headers, blocks and the tip agree.
func checkHeadersLink(b *bench) {
	b.Mine(5)
	ctx := b.Context()
	view, err := b.Source().At(ctx)
	if err != nil {
		b.Fatal(err)
	}
	tip, child := view.Tip, view.Tip.Header
	for height := tip.Height; height >= max(tip.Height-4, 0); height-- {
		header, err := view.Header(ctx, height)
		if err != nil {
			b.Fatalf("header %d: %v", height, err)
		}
		block, err := view.Block(ctx, height, b.watch)
		if err != nil {
			b.Fatalf("block %d: %v", height, err)
		}
		if !sameHeader(block.Header, header) || header.Height != height {
			b.Errorf("block %d has the header %+v, Header says %+v", height, block.Header, header)
		}
		if height == tip.Height && !sameHeader(header, tip.Header) {
			b.Errorf("the tip is %+v, Header says %+v", tip.Header, header)
		}
		if height < tip.Height && child.Parent != header.Hash {
			b.Errorf("block %d has the parent %s, block %d is %s", height+1, child.Parent, height, header.Hash)
		}
		child = header
	}
	for _, above := range []int64{tip.Height + 1, tip.Height + 1000, 1 << 40} {
		if _, err := view.Header(ctx, above); !errors.Is(err, chain.ErrNoBlock) {
			b.Errorf("Header(%d) above the tip: %v, not ErrNoBlock", above, err)
		}
		if _, err := view.Block(ctx, above, b.watch); !errors.Is(err, chain.ErrNoBlock) {
			b.Errorf("Block(%d) above the tip: %v, not ErrNoBlock", above, err)
		}
	}
}

func sameHeader(a, b chain.Header) bool {
	return a.BlockID == b.BlockID && a.Parent == b.Parent && a.Time.Equal(b.Time)
}

// checkEmptyWatch pays an address that is not watched.
func checkEmptyWatch(b *bench) {
	b.mustStep()
	b.Pay(b.newOutput(b.Destination()))
	b.mustStep()
	b.Mine(2)
	b.mustStep()
	if n := len(b.ledger.Transfers()); n != 0 {
		b.Errorf("%d transactions seen that nobody asked for", n)
	}
	b.checkLedger()
}

func checkConfirmations(b *bench) {
	b.mustStep()
	txid := b.payWatched(b.newWatched())
	for want := int64(1); want <= 6; want++ {
		b.Mine(1)
		b.mustStep()
		if got := b.ledger.Confirmations(txid); got != want {
			b.Fatalf("%d confirmations, want %d", got, want)
		}
	}
	b.checkLedger()
}

func checkPendingFirst(b *bench) {
	b.mustStep()
	txid := b.payWatched(b.newWatched())
	b.mustStep()
	b.mustStep() // a second step changes nothing
	b.checkLedger()
	if got := b.ledger.History(txid); !slices.Equal(got, []string{"pending"}) {
		b.Errorf("before any block the history is %v", got)
	}
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
	if got := b.ledger.History(txid); !slices.Equal(got, []string{"pending", "confirmed"}) {
		b.Errorf("after a block the history is %v", got)
	}
}

func checkSeveralToOneAddress(b *bench) {
	b.mustStep()
	to := b.newWatched()
	b.payWatched(to)
	b.Mine(1)
	b.mustStep()
	b.payWatched(to)
	b.payWatched(to) // two in one block
	b.mustStep()
	b.Mine(1)
	b.mustStep()
	b.payWatched(to)
	b.mustStep()
	b.checkLedger()
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
	if n := len(b.ledger.Transfers()); n != 4 {
		b.Errorf("%d transactions, want 4", n)
	}
}

func checkOneToSeveralAddresses(b *bench) {
	b.mustStep()
	first, second := b.newWatched(), b.newWatched()
	outputs := []chain.Output{b.newOutput(first), b.newOutput(b.Destination()), b.newOutput(second), b.newOutput(first)}
	txid := b.Pay(outputs...)
	b.recordPayment(txid, payment{outputs: []chain.Output{outputs[0], outputs[2], outputs[3]}})
	b.mustStep()
	b.checkLedger()
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
	if n := len(b.ledger.Transfers()[txid]); n != 3 {
		b.Errorf("%d transfers of one transaction, want 3", n)
	}
}

// checkDepartures pays from a watched account and from another: the block shows only what left the first.
func checkDepartures(b *bench) {
	payer, other := b.Destination(), b.Destination()
	net := b.Net.(PayerNet)
	out := b.newOutput(b.Destination())
	ids := []string{net.PayFrom(payer.Address, out), net.PayFrom(other.Address, b.newOutput(b.Destination()))}
	b.Mine(1)
	b.watch.AddAddresses(payer.Address)
	for i, want := range []int{1, 0} {
		block, err := ReadBlock(b.Context(), b.Source(), b.Where(ids[i]).Height, b.watch)
		if err != nil {
			b.Fatal(err)
		}
		var found []chain.Departure
		for _, d := range block.Departures {
			if d.TxID == ids[i] {
				found = append(found, d)
			}
		}
		if len(found) != want {
			b.Fatalf("transaction %d has the departures %+v, want %d", i, found, want)
		}
		for _, d := range found {
			if d.Address != payer.Address || d.Asset != b.Features().Asset || d.Amount.Cmp(out.Amount) < 0 {
				b.Errorf("%+v left, want at least %s of %s", d, out.Amount, payer.Address)
			}
		}
	}
}

// checkLongAbsence mines more blocks than one batch holds.
func checkLongAbsence(b *bench) {
	b.mustStep()
	to := b.newWatched()
	before := b.ledger.BatchCount()
	for range 5 {
		b.payWatched(to)
		b.Mine(51)
	}
	b.startFollower(nil)
	b.mustStep()
	b.checkLedger()
	if n := b.ledger.BatchCount() - before; n < 3 {
		b.Errorf("255 blocks came in %d batches: they are not bounded", n)
	}
}

// checkGrowingWatch pays an address before and after it is watched.
func checkGrowingWatch(b *bench) {
	b.mustStep()
	to := b.Destination()
	b.Pay(b.newOutput(to)) // not watched yet, so the transfer must not be seen
	b.Mine(1)
	b.mustStep()
	b.watch.AddAddresses(to.Address)
	b.payWatched(to)
	b.mustStep()
	b.checkLedger()
	b.Mine(1)
	b.payWatched(b.newWatched()) // added between two blocks that one step reads
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
}

// checkGrowingWatchWhileRunning adds addresses while a follower runs at full speed.
func checkGrowingWatchWhileRunning(b *bench) {
	b.follower = chain.NewFollower(chain.FollowerConfig{
		Network: network, Source: b.Source(), Store: b.ledger, Watch: b.watch, Interval: time.Millisecond,
	})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.follower.Run(ctx) }()
	for i := range 12 {
		b.payWatched(b.newWatched())
		if i%3 == 2 {
			b.Mine(1)
			b.follower.Wake()
		}
	}
	cancel()
	if err := <-ended; err != nil {
		b.Errorf("Run: %v", err)
	}
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
}

// checkNoDuplicates reads the same facts repeatedly, also after restarts.
func checkNoDuplicates(b *bench) {
	b.mustStep()
	to := b.newWatched()
	for range 3 {
		b.payWatched(to)
		b.mustStep()
		b.restartAll()
		b.mustStep()
		b.Mine(1)
		b.mustStep()
		b.restartAll()
		b.mustStep()
	}
	b.checkLedger()
	before := b.ledger.BatchCount()
	b.mustStep()
	b.mustStep()
	if n := b.ledger.BatchCount() - before; n != 0 {
		b.Errorf("an idle network made %d batches", n)
	}
}

func checkReverted(b *bench) {
	b.mustStep()
	output := b.newOutput(b.newWatched())
	txid := b.Revert(output)
	b.recordPayment(txid, payment{outputs: []chain.Output{output}, reverted: true})
	b.payWatched(b.newWatched())
	b.mustStep()
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
	if len(b.ledger.Transfers()[txid]) == 0 {
		b.Error("the reverted transaction was not reported")
	}
}

// checkReplaced replaces a pending transaction with one that pays another address.
func checkReplaced(b *bench) {
	b.mustStep()
	txid := b.payWatched(b.newWatched())
	b.mustStep()
	rival := b.Replace(txid)
	b.mustStep()
	b.checkLedger()
	b.expectRival(txid, rival)
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
	b.expectRival(txid, rival)
}

// checkDoubleSpend mines the rival before the next step.
func checkDoubleSpend(b *bench) {
	b.mustStep()
	txid := b.payWatched(b.newWatched())
	b.mustStep()
	if len(b.ledger.Transfers()[txid]) == 0 {
		return // this network shows no pending transactions, so there is none to take back
	}
	rival := b.Replace(txid)
	b.Mine(2)
	b.mustStep()
	b.checkLedger()
	b.expectRival(txid, rival)
}

func (b *bench) expectRival(txid, rival string) {
	b.Helper()
	rows := b.ledger.Transfers()[txid]
	if len(rows) == 0 || !rows[0].Gone || rows[0].Rival != rival {
		b.Errorf("%s was replaced by %s, the ledger has %+v", txid, rival, rows)
	}
}

func checkCanceledContext(b *bench) {
	b.mustStep()
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	view, err := b.Source().At(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.Source().At(ctx); err == nil {
		b.Error("At ignores a cancelled context")
	}
	if _, err := view.Block(ctx, 0, b.watch); err == nil {
		b.Error("Block ignores a cancelled context")
	}
	writes := b.ledger.HealthWrites()
	if _, err := b.follower.Step(ctx); !errors.Is(err, context.Canceled) {
		b.Errorf("Step with a cancelled context: %v", err)
	}
	if b.ledger.HealthWrites() != writes {
		b.Error("the end of a context was recorded as bad health")
	}
	b.mustStep()
	b.checkLedger()
}
