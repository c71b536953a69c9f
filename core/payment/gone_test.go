package payment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/models"
)

// TestEmptiedMempool: a node that lost its mempool takes the sighting back and
// ends no payment, also when its 24 hours are over. What was waiting is
// confirmed all the same; if it stays away, the payment fails after six hours.
func TestEmptiedMempool(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for name, comesBack := range map[string]bool{"aa": true, "bb": false} {
			v := b.opened()
			tx := b.pay(v, name, v.Payment.Due)
			b.pool(nil, tx)
			b.clock.Advance(2 * payment.Monitoring)
			b.pool(nil, tx)
			b.expect(v.Payment.Reference, payment.Initiated, "")
			b.pool(nil)
			b.clock.Advance(5 * time.Hour)
			b.tick()
			b.expect(v.Payment.Reference, payment.Initiated, "")
			if comesBack {
				b.mine(tx)
				b.mine()
				b.expect(v.Payment.Reference, payment.Successful, "")
				continue
			}
			b.clock.Advance(time.Hour + time.Millisecond)
			b.tick()
			b.expect(v.Payment.Reference, payment.Failed, payment.Dropped)
		}
	})
}

// TestMinedBeforeSeen (BTC-9, T-2): what a node that is behind shows as waiting after the
// window, and its block has from before, is of the block's time.
func TestMinedBeforeSeen(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "behind", v.Payment.Due)
		b.clock.Advance(time.Minute)
		block := b.block(int64(len(b.blocks)), tx)
		b.clock.Advance(payment.Window)
		b.pool(nil, tx)
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		b.mine()
		got := b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
		if seen := got.Payment.FirstSeenAt; seen == nil || !seen.Equal(block.Time) || !got.Transfers[0].SeenAt.Equal(block.Time) {
			t.Errorf("seen at %v and %v, mined at %v", seen, got.Transfers[0].SeenAt, block.Time)
		}
	})
}

// TestRaisedFee (BTC-1): a payment that is replaced by one with a higher fee is of the
// time at which it was first made, unless that paid less.
func TestRaisedFee(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for name, test := range map[string]struct {
			first  func(due money.Amount) money.Amount
			after  time.Duration
			state  payment.State
			reason payment.Reason
			block  bool // the replacement is first seen in a block
		}{
			"a": {func(due money.Amount) money.Amount { return due }, 10 * time.Minute, payment.Successful, "", false},
			"b": {func(due money.Amount) money.Amount { return due }, 2 * payment.Monitoring, payment.Successful, "", false},
			"c": {func(due money.Amount) money.Amount { return due }, 2 * payment.Monitoring, payment.Successful, "", true},
			"d": {func(due money.Amount) money.Amount { return due.Add(money.Units(1)) }, 10 * time.Minute, payment.Successful, "", false},
			"e": {func(due money.Amount) money.Amount { return due.Sub(money.Units(1)) }, 10 * time.Minute, payment.Successful, payment.Late, false},
			"f": {func(money.Amount) money.Amount { return money.Units(1) }, 2 * payment.Monitoring, payment.Declined, payment.AfterAbandoned, false},
		} {
			v := b.opened()
			first, second := b.pay(v, name+"1", test.first(v.Payment.Due)), b.pay(v, name+"2", v.Payment.Due)
			second.Spends = first.Spends
			b.pool(nil, first)
			b.clock.Advance(test.after)
			spends := []chain.Spend{{Key: first.Spends[0], TxID: second.TxID}}
			if test.block {
				block := b.block(int64(len(b.blocks)), second)
				block.Spends = spends
				b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
			} else {
				b.pool(spends, second)
				b.mine(second)
			}
			b.mine()
			got := b.expect(v.Payment.Reference, test.state, test.reason)
			moves := got.Record().Transfers
			if len(moves) != 2 || moves[0].Status != "replaced" || moves[1].Status != "confirmed" {
				t.Errorf("%s: %+v", name, moves)
			}
		}
	})
}

// TestReorganisations (BTC-4, BTC-5): undone before it is final a payment waits again;
// afterwards it stays, and is flagged once.
func TestReorganisations(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		ref, tx := v.Payment.Reference, b.pay(v, "aa", v.Payment.Due)
		b.mine(tx)
		b.expect(ref, payment.Processing, "")
		b.reorg(1, &chain.Pending{Transfers: []chain.Transfer{tx}})
		b.expect(ref, payment.Initiated, payment.Reorged)
		b.mine(tx)
		b.expect(ref, payment.Processing, "")
		b.mine()
		b.expect(ref, payment.Successful, "")
		received := func() int64 {
			return b.received(money.Currency(v.Payment.Currency))
		}
		if got := received(); got != v.Payment.Amount*100 {
			t.Errorf("received %d hundredths of %d whole units", got, v.Payment.Amount)
		}
		for prefix, want := range map[string]int{ref[:8]: 1, strings.ToLower(ref[:8]): 0} { // references tell case, on both databases
			if page, err := b.lists().Search(t.Context(), b.scope, list.Filter{Reference: prefix}); err != nil || len(page.Payments) != want {
				t.Errorf("by reference %s: %d, %v", prefix, len(page.Payments), err)
			}
		}
		for _, hash := range []string{tx.TxID, strings.ToUpper(tx.TxID)} {
			if page, err := b.lists().Search(t.Context(), b.scope, list.Filter{Hash: hash}); err != nil || len(page.Payments) != 1 {
				t.Errorf("by hash %s: %d, %v", hash, len(page.Payments), err)
			}
		}
		b.reorg(4, &chain.Pending{})
		got := b.expect(ref, payment.Successful, payment.ReversedReason)
		if !got.Payment.Reversed || received() != 0 {
			t.Error("not flagged, or still counted as received")
		}
		b.mine(tx)
		b.reorg(1, &chain.Pending{})
		if got := b.events(v.Payment.ID); got != "initiated detected processing initiated processing successful reversed" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestPartReversed (BTC-4): of a payment in two parts that was final, a reorganisation
// takes the second back: it is flagged and told of once, keeps what it was settled
// with, and shows which of its transfers is left.
func TestPartReversed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due
		first, second := b.pay(v, "aa", due.Sub(money.Units(1))), b.pay(v, "bb", money.Units(1))
		b.mine(first)
		b.mine(second)
		b.grow(v.Payment.FinalDepth, nil)
		b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
		for range 2 { // down to the first's block, and then once more in vain
			b.reorg(v.Payment.FinalDepth+1, &chain.Pending{})
			got := b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
			moves := got.Record().Transfers
			if !got.Payment.Reversed || got.Payment.Paid.Cmp(due) != 0 || moves[0].Status != "confirmed" || moves[1].Status != "reorged" {
				t.Fatalf("reversed %v, %s paid, by %+v", got.Payment.Reversed, got.Payment.Paid, moves)
			}
		}
		if got := b.events(v.Payment.ID); got != "initiated detected processing detected successful reversed" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestRestored (BTC-4) checks that the flag of a reversed payment goes when all that it was settled
// with is final again, that the reason from before returns, and that it may be reversed again.
func TestRestored(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for name, c := range map[string]struct {
			amount func(due money.Amount) money.Amount
			wait   time.Duration
			reason payment.Reason
			events string
		}{
			"exact":    {func(due money.Amount) money.Amount { return due }, 0, payment.NoReason, "processing successful"},
			"late":     {func(due money.Amount) money.Amount { return due }, payment.Window + time.Second, payment.Late, "processing successful"},
			"accepted": {func(due money.Amount) money.Amount { return due.Add(money.Units(1_000)) }, 0, payment.AcceptedByUser, "processing declined successful"},
		} {
			v := b.opened()
			ref, half := v.Payment.Reference, c.amount(v.Payment.Due).Sub(money.Units(500))
			b.clock.Advance(c.wait)
			first, second := b.pay(v, "first "+name, half), b.pay(v, "second "+name, money.Units(500))
			b.mine(first, second)
			b.mine()
			if c.reason == payment.AcceptedByUser {
				must(t, b.resolver.Resolve(t.Context(), b.owner(), ref))
			}
			settled := b.expect(ref, payment.Successful, c.reason)
			receipts := b.receipts(ref)
			for range 2 {
				b.reorgTo(2)
				if v := b.expect(ref, payment.Successful, payment.ReversedReason); !v.Payment.Reversed {
					t.Errorf("%s: not reversed when its blocks left the chain", name)
				}
				b.mine(first)
				b.mine()
				b.mine(second)
				if v := b.expect(ref, payment.Successful, payment.ReversedReason); !v.Payment.Reversed {
					t.Errorf("%s: not reversed any more before all of it is final", name)
				}
				b.mine()
				got := b.expect(ref, payment.Successful, c.reason)
				if got.Payment.Reversed || got.Payment.Paid.Cmp(settled.Payment.Paid) != 0 || !got.Payment.SettledAt.Equal(*settled.Payment.SettledAt) || got.Payment.Remark != settled.Payment.Remark {
					t.Errorf("%s: restored as %+v, want it as it was settled: %+v", name, got.Payment, settled.Payment)
				}
				b.reorgTo(2, second) // and once more: the first is final, the second is not on the new branch
				b.mine()
				b.reorgTo(2)
				b.mine(first, second)
				b.mine()
			}
			if n := b.receipts(ref); n != receipts {
				t.Errorf("%s: %d receipts after it was restored, want %d as before", name, n, receipts)
			}
			steps, err := b.service.Timeline(t.Context(), b.scope, ref)
			must(t, err)
			if last := steps[len(steps)-1]; last.Remark != "The money is on the chain again, and final." || last.Reason != string(c.reason) {
				t.Errorf("%s: the timeline ends in %q (%s), want that the money is final again (%s)", name, last.Remark, last.Reason, c.reason)
			}
			if got, want := b.events(v.Payment.ID), "initiated detected detected "+c.events; !strings.HasPrefix(got, want+" reversed restored ") || !strings.HasSuffix(got, "reversed restored") {
				t.Errorf("%s: events %s, want %s, then reversed and restored in turn", name, got, want)
			}
		}
	})
}

// TestDoubleSpend (BTC-2): the coins of a payment are spent elsewhere, in a block that
// becomes final, or in one that leaves the chain and is forgotten with it.
func TestDoubleSpend(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		ref, tx := v.Payment.Reference, b.pay(v, "aa", v.Payment.Due)
		b.pool(nil, tx)
		block := b.block(int64(len(b.blocks)))
		block.Spends = []chain.Spend{{Key: "coin-of-aa", TxID: "rival"}}
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		b.expect(ref, payment.Initiated, "")
		b.mine()
		b.expect(ref, payment.Failed, payment.Replaced)
		// The rival is reorganised away and the money comes after all: shown, not lost.
		b.reorg(2, &chain.Pending{})
		b.mine(tx)
		b.expect(ref, payment.Failed, payment.Replaced)
		if got := b.events(v.Payment.ID); got != "initiated detected failed unexpected_transfer" {
			t.Errorf("events: %s", got)
		}
		// So is one before it is final, and the payment's own transaction waits again.
		w := b.opened()
		again := b.pay(w, "bb", w.Payment.Due)
		b.pool(nil, again)
		block = b.block(int64(len(b.blocks)))
		block.Spends = []chain.Spend{{Key: "coin-of-bb", TxID: "rival"}}
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		b.reorg(1, &chain.Pending{Transfers: []chain.Transfer{again}})
		if got := b.expect(w.Payment.Reference, payment.Initiated, ""); got.Payment.Paid.Cmp(got.Payment.Due) != 0 {
			t.Errorf("%s is on its way, of %s", got.Payment.Paid, got.Payment.Due)
		}
		b.mine(again)
		b.mine()
		b.expect(w.Payment.Reference, payment.Successful, "")
	})
}

// TestStuckTransferConfirmsAfterAll (BTC-5, BTC-7): money that was waiting when its
// payment ended without it is shown once it confirms; counted money that a deep
// reorganisation moved is not.
func TestStuckTransferConfirmsAfterAll(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		stuck, quick := b.pay(v, "stuck", v.Payment.Due), b.pay(v, "quick", v.Payment.Due)
		b.pool(nil, stuck)
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), quick)}, Pending: &chain.Pending{Transfers: []chain.Transfer{stuck}}})
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)))}, Pending: &chain.Pending{Transfers: []chain.Transfer{stuck}}})
		b.expect(v.Payment.Reference, payment.Successful, "")
		b.mine(stuck)
		if got := b.events(v.Payment.ID); got != "initiated detected detected processing successful unexpected_transfer" {
			t.Errorf("events: %s", got)
		}
		list, _, err := b.resolver.Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Limit: 10})
		if err != nil || len(list) != 1 {
			t.Errorf("unmatched: %+v, %v", list, err)
		}
		got := b.expect(v.Payment.Reference, payment.Successful, "")
		if got.Payment.Paid.Cmp(got.Payment.Due) != 0 || len(got.Transfers) != 1 {
			t.Errorf("paid %s by %d transfers", got.Payment.Paid, len(got.Transfers))
		}
		b.reorgTo(5, quick, stuck) // both are mined again elsewhere
		if got := b.events(v.Payment.ID); got != "initiated detected detected processing successful unexpected_transfer" {
			t.Errorf("after the reorganisation: %s", got)
		}
	})
}

// TestRevertedComesBack: a failed payment's transaction is mined again, and succeeds.
func TestRevertedComesBack(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "aa", v.Payment.Due)
		bad := tx
		bad.Reverted = true
		b.mine(bad)
		b.mine()
		b.expect(v.Payment.Reference, payment.Failed, payment.Reverted)
		b.reorgTo(2, tx)
		b.expect(v.Payment.Reference, payment.Failed, payment.Reverted)
		if got := b.events(v.Payment.ID); got != "initiated detected failed unexpected_transfer" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestSpendKeysAreForgotten: what a transfer used up is watched as long as a
// reorganisation can reach the transfer, or the one that replaced it, and not for ever.
func TestSpendKeysAreForgotten(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		mined, replaced := b.pay(v, "aa", v.Payment.Due), b.pay(v, "bb", v.Payment.Due)
		b.pool(nil, replaced)
		block := b.block(int64(len(b.blocks)), mined)
		block.Spends = []chain.Spend{{Key: replaced.Spends[0], TxID: "cc"}}
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		kept := func() bool {
			var rows int64
			if err := b.db.Read(t.Context()).Model(&models.Spend{}).Count(&rows).Error; err != nil {
				t.Fatal(err)
			}
			for _, tx := range []chain.Transfer{mined, replaced} {
				if watched := b.observer.Watching.Spend(tx.Spends[0]); watched != (rows > 0) {
					t.Fatalf("%d rows, %s watched %v", rows, tx.TxID, watched)
				}
			}
			return rows > 0
		}
		b.ahead(1999)
		if !kept() {
			t.Error("forgotten while a reorganisation could still reach it")
		}
		b.ahead(1)
		if kept() {
			t.Error("kept for ever")
		}
		last := b.blocks[len(b.blocks)-1].Height - network.KeptBlocks()
		for height, want := range map[int64]string{last: b.blocks[last-1].Hash, last - 1: ""} {
			if got, err := b.observer.Hash(t.Context(), network, height); err != nil || got != want {
				t.Errorf("block %d is %q, error %v; want %q", height, got, err, want)
			}
		}
	})
}

// TestAnHourOfBlocksIsKept: where blocks come fast, more than 2,000 are kept, so that what isn't final can still be
// reorganised.
func TestAnHourOfBlocksIsKept(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const fast = chain.Network("arbitrum-mainnet")
		b.goTo(fast)
		b.mine()
		first := b.blocks[len(b.blocks)-1]
		b.ahead(14_400)
		for height, want := range map[int64]string{first.Height: first.Hash, first.Height - 1: ""} {
			if got, err := b.observer.Hash(t.Context(), fast, height); err != nil || got != want {
				t.Errorf("block %d of Arbitrum is %q, error %v; want %q", height, got, err, want)
			}
		}
	})
}

// TestSpendKeyOfTwo (BTC-2): a spend key that is forgotten with one transfer stays watched
// while another waits that needs it. One that is watched on another network is forgotten.
func TestSpendKeyOfTwo(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, other := b.opened(), b.opened()
		replaced, waits := b.pay(v, "aa", v.Payment.Due), b.pay(other, "bb", other.Payment.Due)
		replaced.Spends, waits.Spends = []string{"one", "both"}, []string{"both"}
		b.pool(nil, replaced, waits)
		must(t, b.db.Exec(t.Context()).Create(&models.Spend{Network: "another", Key: "one", TransferID: b.transfer("bb").ID}).Error)
		block := b.block(int64(len(b.blocks)))
		block.Spends = []chain.Spend{{Key: "one", TxID: "rival"}}
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{Transfers: []chain.Transfer{waits}}})
		b.ahead(2000)
		if b.observer.Watching.Spend("one") || !b.observer.Watching.Spend("both") {
			t.Errorf("watched: %v, %v", b.observer.Watching.Spend("one"), b.observer.Watching.Spend("both"))
		}
	})
}

// ahead applies so many empty blocks.
func (b *bench) ahead(n int) {
	b.t.Helper()
	batch := chain.Batch{Pending: &chain.Pending{}}
	at := b.blocks[len(b.blocks)-1]
	for i := range n {
		block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: at.Height + 1, Hash: fmt.Sprint("far-", at.Height, "-", i)}, Parent: at.Hash, Time: b.clock.Now()}}
		batch.Blocks, at = append(batch.Blocks, block), block.BlockID
	}
	b.apply(batch)
}

// TestAReplacementPaysInstead (BTC-1, BTC-10): a transaction that replaces another
// counts instead of it, in what is told at once too, wherever it is first seen.
func TestAReplacementPaysInstead(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, where := range []string{"pool", "block"} {
			v := b.opened()
			first := b.pay(v, where+"-first", v.Payment.Due)
			second := b.pay(v, where+"-second", v.Payment.Due)
			second.Spends = first.Spends
			b.pool(nil, first)
			spends := []chain.Spend{{Key: first.Spends[0], TxID: second.TxID}}
			if where == "pool" {
				b.pool(spends, second)
			} else {
				block := b.block(int64(len(b.blocks)), second)
				block.Spends = spends
				b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
			}
			var events []models.Event
			if err := b.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Order("sequence").Find(&events).Error; err != nil {
				t.Fatal(err)
			}
			exact := `"amount_paid":"` + money.FormatFiat(v.Charged()) + `"`
			for _, e := range events[1:] {
				if !strings.Contains(e.Body, exact) {
					t.Errorf("%s: %s says %s, want %s", where, e.Type, e.Body, exact)
				}
			}
			if got := b.view(v.Payment.Reference).Payment.Paid; len(events) < 3 || got.Cmp(v.Payment.Due) != 0 {
				t.Errorf("%s: %d events, %s paid of %s", where, len(events), got, v.Payment.Due)
			}
		}
	})
}

// TestReplacingOneOfManyOutputs (BTC-13): what one transaction spends belongs to all of
// its outputs.
func TestReplacingOneOfManyOutputs(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		one, two := b.opened(), b.opened()
		first, second := b.pay(one, "pair", one.Payment.Due), b.pay(two, "pair", two.Payment.Due)
		second.Index = 1
		b.pool(nil, first, second)
		b.pool([]chain.Spend{{Key: first.Spends[0], TxID: "thief"}})
		for _, v := range []payment.View{one, two} {
			if got := b.view(v.Payment.Reference); got.Payment.Paid.Sign() != 0 || len(got.Transfers) != 1 || got.Transfers[0].GoneReason != string(payment.Replaced) {
				t.Errorf("%s paid, %+v", got.Payment.Paid, got.Transfers)
			}
		}
	})
}
