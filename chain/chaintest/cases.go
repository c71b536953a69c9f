package chaintest

import (
	"context"
	"errors"
	"slices"
	"time"

	"cointill/chain"
)

// headersLink reads the whole chain's end and expects one consistent story.
func headersLink(b *bench) {
	b.Mine(5)
	source, ctx := b.Source(), b.Context()
	tip, err := source.Tip(ctx)
	if err != nil {
		b.Fatal(err)
	}
	child := tip.Header
	for height := tip.Height; height >= max(tip.Height-4, 0); height-- {
		header, err := source.Header(ctx, height)
		if err != nil {
			b.Fatalf("header %d: %v", height, err)
		}
		block, err := source.Block(ctx, height, b.watch)
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
		if _, err := source.Header(ctx, above); !errors.Is(err, chain.ErrNoBlock) {
			b.Errorf("Header(%d) above the tip: %v, not ErrNoBlock", above, err)
		}
		if _, err := source.Block(ctx, above, b.watch); !errors.Is(err, chain.ErrNoBlock) {
			b.Errorf("Block(%d) above the tip: %v, not ErrNoBlock", above, err)
		}
	}
}

func sameHeader(a, b chain.Header) bool {
	return a.BlockID == b.BlockID && a.Parent == b.Parent && a.Time.Equal(b.Time)
}

// emptyWatch pays somebody whom nobody asked about.
func emptyWatch(b *bench) {
	b.step()
	b.Pay(b.output(b.Destination()))
	b.step()
	b.Mine(2)
	b.step()
	if n := len(b.ledger.Transfers()); n != 0 {
		b.Errorf("%d transactions seen that nobody asked for", n)
	}
	b.check()
}

func confirmations(b *bench) {
	b.step()
	txid := b.pay(b.watched())
	for want := int64(1); want <= 6; want++ {
		b.Mine(1)
		b.step()
		if got := b.ledger.Confirmations(txid); got != want {
			b.Fatalf("%d confirmations, want %d", got, want)
		}
	}
	b.check()
}

func pendingFirst(b *bench) {
	b.step()
	txid := b.pay(b.watched())
	b.step()
	b.step() // a second look changes nothing
	b.check()
	if got := b.ledger.History(txid); !slices.Equal(got, []string{"pending"}) {
		b.Errorf("before any block the history is %v", got)
	}
	b.Mine(1)
	b.step()
	b.check()
	if got := b.ledger.History(txid); !slices.Equal(got, []string{"pending", "confirmed"}) {
		b.Errorf("after a block the history is %v", got)
	}
}

func severalToOne(b *bench) {
	b.step()
	to := b.watched()
	b.pay(to)
	b.Mine(1)
	b.step()
	b.pay(to)
	b.pay(to) // two in one block
	b.step()
	b.Mine(1)
	b.step()
	b.pay(to)
	b.step()
	b.check()
	b.Mine(1)
	b.step()
	b.check()
	if n := len(b.ledger.Transfers()); n != 4 {
		b.Errorf("%d transactions, want 4", n)
	}
}

func oneToSeveral(b *bench) {
	b.step()
	first, second := b.watched(), b.watched()
	outputs := []chain.Output{b.output(first), b.output(b.Destination()), b.output(second), b.output(first)}
	txid := b.Pay(outputs...)
	b.expect(txid, payment{outputs: []chain.Output{outputs[0], outputs[2], outputs[3]}})
	b.step()
	b.check()
	b.Mine(1)
	b.step()
	b.check()
	if n := len(b.ledger.Transfers()[txid]); n != 3 {
		b.Errorf("%d transfers of one transaction, want 3", n)
	}
}

// longAbsence lets more blocks pass than one batch holds.
func longAbsence(b *bench) {
	b.step()
	to := b.watched()
	before := b.ledger.Batches()
	for range 5 {
		b.pay(to)
		b.Mine(51)
	}
	b.follow(nil)
	b.step()
	b.check()
	if n := b.ledger.Batches() - before; n < 3 {
		b.Errorf("255 blocks came in %d batches: they are not bounded", n)
	}
}

// watchGrows pays an address before and after it is watched.
func watchGrows(b *bench) {
	b.step()
	to := b.Destination()
	b.Pay(b.output(to)) // not watched yet: not ours to see
	b.Mine(1)
	b.step()
	b.watch.AddAddresses(to.Address)
	b.pay(to)
	b.step()
	b.check()
	b.Mine(1)
	b.pay(b.watched()) // added between two blocks of one catching up
	b.Mine(1)
	b.step()
	b.check()
}

// watchGrowsRunning adds addresses while a follower runs at full speed.
func watchGrowsRunning(b *bench) {
	b.follower = chain.NewFollower(chain.FollowerConfig{
		Network: network, Source: b.Source(), Store: b.ledger, Watch: b.watch, Interval: time.Millisecond,
	})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.follower.Run(ctx) }()
	for i := range 12 {
		b.pay(b.watched())
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
	b.step()
	b.check()
}

// duplicates looks at the same facts again and again, also after restarts.
func duplicates(b *bench) {
	b.step()
	to := b.watched()
	for range 3 {
		b.pay(to)
		b.step()
		b.restart()
		b.step()
		b.Mine(1)
		b.step()
		b.restart()
		b.step()
	}
	b.check()
	before := b.ledger.Batches()
	b.step()
	b.step()
	if n := b.ledger.Batches() - before; n != 0 {
		b.Errorf("an idle network made %d batches", n)
	}
}

func reverted(b *bench) {
	b.step()
	output := b.output(b.watched())
	txid := b.Revert(output)
	b.expect(txid, payment{outputs: []chain.Output{output}, reverted: true})
	b.pay(b.watched())
	b.step()
	b.Mine(1)
	b.step()
	b.check()
	if len(b.ledger.Transfers()[txid]) == 0 {
		b.Error("the reverted transaction was not reported")
	}
}

// replaced replaces a pending transaction by one that pays elsewhere.
func replaced(b *bench) {
	b.step()
	txid := b.pay(b.watched())
	b.step()
	rival := b.Replace(txid)
	b.step()
	b.check()
	b.expectRival(txid, rival)
	b.Mine(1)
	b.step()
	b.check()
	b.expectRival(txid, rival)
}

// doubleSpend lets the rival be mined before anybody looks.
func doubleSpend(b *bench) {
	b.step()
	txid := b.pay(b.watched())
	b.step()
	if len(b.ledger.Transfers()[txid]) == 0 {
		return // pending transactions are not seen here: nothing to take back
	}
	rival := b.Replace(txid)
	b.Mine(2)
	b.step()
	b.check()
	b.expectRival(txid, rival)
}

func (b *bench) expectRival(txid, rival string) {
	b.Helper()
	rows := b.ledger.Transfers()[txid]
	if len(rows) == 0 || !rows[0].Gone || rows[0].Rival != rival {
		b.Errorf("%s was replaced by %s, the ledger has %+v", txid, rival, rows)
	}
}

func cancelled(b *bench) {
	b.step()
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	source := b.Source()
	if _, err := source.Tip(ctx); err == nil {
		b.Error("Tip ignores a cancelled context")
	}
	if _, err := source.Block(ctx, 0, b.watch); err == nil {
		b.Error("Block ignores a cancelled context")
	}
	writes := b.ledger.HealthWrites()
	if _, err := b.follower.Step(ctx); !errors.Is(err, context.Canceled) {
		b.Errorf("Step with a cancelled context: %v", err)
	}
	if b.ledger.HealthWrites() != writes {
		b.Error("the end of a context was recorded as bad health")
	}
	b.step()
	b.check()
}
