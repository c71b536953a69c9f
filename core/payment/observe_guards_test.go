package payment_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/models"
)

// transfer returns the row of a payment's transfer by its transaction.
func (b *bench) transfer(txid string) (row models.Transfer) {
	b.t.Helper()
	must(b.t, b.db.Read(b.t.Context()).Where("tx_id = ?", txid).Take(&row).Error)
	return row
}

// mineAt applies a block with an earlier time.
func (b *bench) mineAt(at time.Time, transfers ...chain.Transfer) {
	b.t.Helper()
	block := b.block(int64(len(b.blocks)), transfers...)
	block.Time = at
	b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
}

// TestBlockTimeBeforeFirstSight checks that a transfer, and the payment whose first transfer it is,
// get their block's time where that is earlier than the first sight in the mempool.
func TestBlockTimeBeforeFirstSight(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		paid, part, ended, beside := b.opened(), b.opened(), b.opened(), b.opened()
		half := paid.Payment.Due.Sub(money.Units(10))
		begun := b.clock.Now()
		b.mine(b.pay(ended, "ended", ended.Payment.Due), b.pay(part, "first", money.Units(10)), b.pay(beside, "beside", half))
		b.mine()
		b.clock.Advance(3 * time.Minute)
		seen := b.clock.Now()
		pays, rest, more := b.pay(paid, "pays", paid.Payment.Due), b.pay(part, "rest", half), b.pay(ended, "more", money.Units(1_000))
		unknown := b.pay(paid, "unknown", money.Units(7))
		unknown.Destination.Address = "bcrt1unknown"
		b.pool(nil, pays, rest, more, unknown)
		b.clock.Advance(time.Minute)
		mined := seen.Add(-time.Minute)
		b.mineAt(mined, pays, rest, more, unknown)
		for _, txid := range []string{"pays", "rest", "more", "unknown"} {
			row := b.transfer(txid)
			if !row.FirstSeenAt.Equal(mined) || row.PaymentID != nil && !row.SeenAt.Equal(mined) {
				t.Errorf("%s was seen at %v and %v, want its block's time %v", txid, row.FirstSeenAt, row.SeenAt, mined)
			}
		}
		for name, c := range map[string]struct {
			v    payment.View
			want time.Time
		}{"a payment": {paid, mined}, "one with an earlier part": {part, begun}, "one that ended": {ended, begun}, "another": {beside, begun}} {
			if got := b.view(c.v.Payment.Reference).Payment.FirstSeenAt; got == nil || !got.Equal(c.want) {
				t.Errorf("%s was first seen at %v, want %v", name, got, c.want)
			}
		}

		later := b.opened()
		pays = b.pay(later, "later", later.Payment.Due)
		b.pool(nil, pays)
		seen = b.clock.Now()
		b.clock.Advance(time.Minute)
		b.mineAt(b.clock.Now(), pays)
		if row := b.transfer("later"); !row.FirstSeenAt.Equal(seen) || !row.SeenAt.Equal(seen) {
			t.Errorf("a transfer of a later block was seen at %v and %v, want the first sight %v", row.FirstSeenAt, row.SeenAt, seen)
		}
	})
}

// TestOnlyReplacedTimesAreInherited checks from which earlier transaction a transfer takes its
// time: one that it replaces, of the payment's coin, and that paid at least as much.
func TestOnlyReplacedTimesAreInherited(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for name, c := range map[string]struct {
			first   func(v payment.View) []chain.Transfer
			gone    bool
			spends  string
			inherit bool
		}{
			"a replaced one": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-a", v.Payment.Due)} },
				gone: true, spends: "coin-of-old-a", inherit: true},
			"one replaced in two parts": {first: func(v payment.View) []chain.Transfer {
				one, two := b.pay(v, "old-b", money.Units(500)), b.pay(v, "old-b", v.Payment.Due.Sub(money.Units(500)))
				two.Index = 1
				return []chain.Transfer{one, two}
			}, gone: true, spends: "coin-of-old-b", inherit: true},
			"one that was dropped": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-c", v.Payment.Due)} },
				gone: true, spends: "coin-of-another"},
			"one of another asset": {first: func(v payment.View) []chain.Transfer {
				one := b.pay(v, "old-d", v.Payment.Due)
				one.Asset = "another"
				return []chain.Transfer{one}
			}, gone: true, spends: "coin-of-old-d"},
			"a smaller one": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-e", money.Units(1))} },
				gone: true, spends: "coin-of-old-e"},
			"one that is still there": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-f", v.Payment.Due)} },
				spends: "coin-of-old-f"},
		} {
			v := b.opened()
			first, before := c.first(v), b.clock.Now()
			b.pool(nil, first...)
			b.clock.Advance(time.Minute)
			if c.gone {
				b.pool(nil)
				first = nil
			}
			next := b.pay(v, "new-"+v.Payment.Reference, v.Payment.Due)
			next.Spends = []string{c.spends}
			b.pool(nil, append(first, next)...)
			want := b.clock.Now()
			if c.inherit {
				want = before
			}
			if got := b.transfer(next.TxID).SeenAt; !got.Equal(want) {
				t.Errorf("after %s a transfer was seen at %v, want %v", name, got, want)
			}
			b.pool(nil)
		}
	})
}

// TestBalancesAreExplained checks which balance a transaction explains that a node shows later: the
// one with its amount, else the first larger one, else the first; and that it is one of this
// payment, coin and network, from its block or a later one.
func TestBalancesAreExplained(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for range 12 {
			b.mine()
		}
		tip := len(b.blocks)
		shows := func(v payment.View, height int, amount int64) {
			t.Helper()
			balance := b.pay(v, fmt.Sprint("block ", height, " ", v.Payment.Address), money.Units(amount))
			balance.Via = observe.UnknownVia
			_, err := b.observer.Reread(t.Context(), network, chain.Block{Header: chain.Header{BlockID: b.blocks[height-1], Time: b.clock.Now()}, Transfers: []chain.Transfer{balance}})
			must(t, err)
		}
		left := func(v payment.View) (text string) {
			t.Helper()
			var rows []models.Transfer
			must(t, b.db.Read(t.Context()).Where("payment_id = ? AND unmatched = ?", v.Payment.ID, payment.NoTransaction).Order("height").Find(&rows).Error)
			for _, row := range rows {
				text += " " + row.Amount.String()
			}
			return strings.TrimSpace(text)
		}
		explain := func(v payment.View, height int, amount int64) {
			t.Helper()
			pays := b.pay(v, "pays "+v.Payment.Reference, money.Units(amount))
			_, err := b.observer.Reread(t.Context(), network, chain.Block{Header: chain.Header{BlockID: b.blocks[height-1], Time: b.clock.Now()}, Transfers: []chain.Transfer{pays}})
			must(t, err)
			if row := b.transfer(pays.TxID); row.Amount.Cmp(money.Units(amount)) != 0 || row.Unmatched != "" || *row.Height != int64(height) {
				t.Errorf("the transfer is %+v, want %d in block %d", row, amount, height)
			}
		}
		for _, c := range []struct {
			balances []int64
			amount   int64
			left     string
		}{
			{[]int64{3, 9, 5}, 5, "3 9"}, {[]int64{3, 9, 5}, 4, "3 5 5"}, {[]int64{3, 9, 5}, 20, "9 5"},
			{[]int64{5, 9}, 5, "9"}, {[]int64{9, 5}, 5, "9"}, {[]int64{9, 5}, 4, "5 5"}, {[]int64{3, 5, 9}, 4, "3 1 9"},
		} {
			v := b.opened()
			for i, amount := range c.balances {
				shows(v, tip-5+i, amount)
			}
			explain(v, tip-6, c.amount)
			if got := left(v); got != c.left {
				t.Errorf("of balances %d a payment of %d leaves %q, want %q", c.balances, c.amount, got, c.left)
			}
		}

		v, other := b.opened(), b.opened()
		shows(other, tip-3, 7)
		for i, change := range []map[string]any{{"network": "another"}, {"asset": "another"}, {"unmatched": payment.Unproved}, {"tx_id": "no balance"}, {"height": tip - 7}} {
			shows(v, tip-5+i, 7)
			must(t, b.db.Exec(t.Context()).Model(&models.Transfer{}).Where("tx_id = ?", fmt.Sprint("block ", tip-5+i, " ", v.Payment.Address)).Updates(change).Error)
		}
		before := left(v)
		explain(v, tip-6, 7)
		if got := left(v); got != before || left(other) != "7" {
			t.Errorf("a payment explains others' balances: %q and %q are left, want %q and 7", got, left(other), before)
		}
		b.unbooked = true // the test changed rows itself
	})
}

// TestFirstLookAndHealth checks what is written of a network that was not read yet.
func TestFirstLookAndHealth(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		cursor := func(at chain.Network) (row models.ChainCursor) {
			t.Helper()
			must(t, b.db.Read(t.Context()).Where("network = ?", string(at)).Take(&row).Error)
			return row
		}
		b.opened()
		must(t, b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("read_until", nil).Error)
		b.clock.Advance(payment.Monitoring + time.Second)
		b.look()
		if got := cursor(network).ReadUntil; got == nil || !got.Equal(b.clock.Now()) {
			t.Errorf("after the first look the network is read until %v, want %v", got, b.clock.Now())
		}
		for _, from := range []chain.BlockID{{}, {Height: 1, Hash: "another"}, {Height: 2, Hash: b.blocks[0].Hash}} {
			batch := chain.Batch{Network: network, From: from, Blocks: []chain.Block{b.block(1)}}
			if err := b.observer.Apply(t.Context(), batch); !errors.Is(err, chain.ErrStale) {
				t.Errorf("a batch that continues from %+v returns %v, want %v", from, err, chain.ErrStale)
			}
		}
		must(t, b.observer.Health(t.Context(), "new", 0, "No node answers."))
		if got := cursor("new"); got.Problem != "No node answers." || got.Finalized != -1 {
			t.Errorf("a new network is %+v, want its problem", got)
		}
		b.mine()
		for _, block := range b.blocks {
			if got, err := b.observer.Hash(t.Context(), network, block.Height); err != nil || got != block.Hash {
				t.Errorf("block %d is %q, error %v; want %q", block.Height, got, err, block.Hash)
			}
		}
		if got, err := b.observer.Hash(t.Context(), network, 99); err != nil || got != "" {
			t.Errorf("a block that is not kept is %q, error %v; want none", got, err)
		}
		if got, err := b.observer.Cursor(t.Context(), "new"); err != nil || got.Known {
			t.Errorf("the position on a network without a block is %+v, error %v; want none", got, err)
		}
	})
}

// TestBlocksThatDoNotFollowAreRefused checks that a block is applied only after its parent.
func TestBlocksThatDoNotFollowAreRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.mine()
		tip := b.blocks[1]
		for name, change := range map[string]func(block *chain.Block){
			"a block further on":     func(block *chain.Block) { block.Height++ },
			"a block of another one": func(block *chain.Block) { block.Parent = b.blocks[0].Hash },
		} {
			block := b.block(2)
			change(&block)
			err := b.observer.Apply(t.Context(), chain.Batch{Network: network, From: tip, Blocks: []chain.Block{block}})
			if !errors.Is(err, chain.ErrStale) {
				t.Errorf("%s returns %v, want %v", name, err, chain.ErrStale)
			}
		}
	})
}

// TestConflictsLeaveWithTheirBlock checks that a reorganisation takes back the double spends of the
// blocks that it removes, and no others.
func TestConflictsLeaveWithTheirBlock(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		low, high := b.opened(), b.opened()
		one, two := b.pay(low, "low", low.Payment.Due), b.pay(high, "high", high.Payment.Due)
		b.pool(nil, one, two)
		spend := func(of chain.Transfer) {
			block := b.block(int64(len(b.blocks)))
			block.Spends = []chain.Spend{{Key: of.Spends[0], TxID: "double-" + of.TxID}}
			b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		}
		spend(one)
		ancestor := int64(len(b.blocks))
		spend(two)
		b.reorg(1, &chain.Pending{})
		if row := b.transfer("low"); row.ConflictTx != "double-low" || row.ConflictHeight == nil || *row.ConflictHeight != ancestor {
			t.Errorf("the conflict of a block that stays is %q at %v, want it at %d", row.ConflictTx, row.ConflictHeight, ancestor)
		}
		if row := b.transfer("high"); row.ConflictTx != "" || row.ConflictHeight != nil {
			t.Errorf("the conflict of a removed block is %q at %v, want none", row.ConflictTx, row.ConflictHeight)
		}
	})
}
