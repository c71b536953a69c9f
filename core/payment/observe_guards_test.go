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
	"cointill/core/payment/fence"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/core/send/sendtest"
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

// insertTaggedAddress stores and returns an address that is a payment's with a tag only.
func (b *bench) insertTaggedAddress() string {
	b.t.Helper()
	tagged := models.Destination{Network: string(network), Address: "bcrt1tagged", Tag: 5, BusinessID: b.scope.BusinessID,
		Domain: "test", CreatedAt: b.clock.Now()}
	must(b.t, b.db.Exec(b.t.Context()).Create(&tagged).Error)
	return tagged.Address
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
		unknown.Destination.Address = b.insertTaggedAddress()
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

// moveSpends moves a spend key to another network.
func (b *bench) moveSpends(key string) {
	b.t.Helper()
	must(b.t, b.db.Exec(b.t.Context()).Model(&models.Spend{}).Where("spend_key = ?", key).Update("network", "another").Error)
}

// TestFirstSightIsOfCountedMoney checks that an earlier block moves the first sight of a payment only
// with a transfer that counts, before the end, and never past the time of a replaced transfer.
func TestFirstSightIsOfCountedMoney(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ended, mixed, unseen, raised := b.opened(), b.opened(), b.opened(), b.opened()
		b.clock.Advance(5 * time.Minute)
		seen := b.clock.Now()
		pays, counted := b.pay(ended, "pays", ended.Payment.Due), b.pay(mixed, "counted", money.Units(10))
		low, high := b.pay(raised, "low", money.Units(10)), b.pay(raised, "high", money.Units(10))
		high.Spends = low.Spends
		b.mine(pays, counted)
		b.mine()
		b.expect(ended.Payment.Reference, payment.Successful, "")
		b.pool(nil, low)
		b.clock.Advance(2 * time.Minute)
		other, alone := b.pay(mixed, "other", money.Units(7)), b.pay(unseen, "alone", money.Units(7))
		other.Asset, alone.Asset = "another", "another"
		b.pool([]chain.Spend{{Key: low.Spends[0], TxID: "high"}}, other, alone, high)
		b.mineAt(seen.Add(-time.Minute), other, alone)
		b.mineAt(seen.Add(time.Minute), high)
		b.reorg(4, &chain.Pending{Transfers: []chain.Transfer{pays}})
		b.mineAt(seen.Add(-time.Minute), pays)
		for name, c := range map[string]struct {
			v    payment.View
			want *time.Time
		}{"an ended payment": {ended, &seen}, "one with another asset": {mixed, &seen}, "one with another asset alone": {unseen, nil}, "one with a raised fee": {raised, &seen}} {
			got := b.view(c.v.Payment.Reference).Payment.FirstSeenAt
			if (got == nil) != (c.want == nil) || got != nil && !got.Equal(*c.want) {
				t.Errorf("%s was first seen at %v, want %v", name, got, c.want)
			}
		}
		if row := b.transfer("high"); !row.SeenAt.Equal(seen) || !row.FirstSeenAt.Equal(seen.Add(time.Minute)) {
			t.Errorf("the replacement was seen at %v and %v, want its block's time and the replaced transfer's %v", row.FirstSeenAt, row.SeenAt, seen)
		}
	})
}

// TestNewBranchHasItsOwnTime checks that a transfer that moves other money on a new branch isn't as
// old as what its transaction moved before.
func TestNewBranchHasItsOwnTime(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		moves := b.pay(v, "moves", money.Units(20))
		b.pool(nil, moves)
		b.clock.Advance(time.Minute)
		b.pool(nil)
		moves.Amount = money.Units(10)
		b.mine(moves)
		if row := b.transfer("moves"); !row.SeenAt.Equal(b.clock.Now()) {
			t.Errorf("the transfer was seen at %v, want %v", row.SeenAt, b.clock.Now())
		}
	})
}

// TestOtherMoneyLeavesTheSum checks that a block that confirms a transfer that doesn't count changes
// nothing about those that do.
func TestOtherMoneyLeavesTheSum(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		first, next, other := b.pay(v, "first", money.Units(10)), b.pay(v, "next", money.Units(5)), b.pay(v, "other", money.Units(7))
		other.Asset = "another"
		b.mine(first)
		b.pool(nil, other)
		b.mine(next, other)
		told := b.told(v, "payment.detected")
		if got, want := told.Transaction.AmountPaidInCrypto, v.Coin().Format(money.Units(15)); got != want || len(told.Transfers) != 2 {
			t.Errorf("the event tells %s in %d transfers, want %s in 2", got, len(told.Transfers), want)
		}
	})
}

// TestReversedPaymentKeepsItsPaid checks that a transfer after the end doesn't change what a payment was
// settled with, also when that has left the chain.
func TestReversedPaymentKeepsItsPaid(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.paid("paid")
		b.reorg(2, &chain.Pending{})
		b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		b.mine(b.pay(v, "more", money.Units(5)))
		if got := b.view(v.Payment.Reference).Payment.Paid; got.Cmp(v.Payment.Due) != 0 {
			t.Errorf("the reversed payment is settled with %s, want %s", got, v.Payment.Due)
		}
	})
}

// TestYoungDestinationsAreReadAgain checks that a destination with a lower number that is committed later
// is watched, as long as the number of a later one is young.
func TestYoungDestinationsAreReadAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		number := int64(1_000)
		create := func() string {
			t.Helper()
			row := models.Destination{ID: number, Network: string(network), Address: fmt.Sprint("bcrt1number", number), Tag: -1, BusinessID: b.scope.BusinessID, Domain: "test", CreatedAt: b.clock.Now()}
			must(t, b.db.Exec(t.Context()).Create(&row).Error)
			return row.Address
		}
		for _, c := range []struct {
			age  time.Duration
			want bool
		}{{0, true}, {30 * time.Second, true}, {30*time.Second + time.Microsecond, false}} {
			number += 10
			create()
			b.clock.Advance(c.age)
			must(t, b.observer.Refresh(t.Context(), network))
			number -= 5
			late := create()
			must(t, b.observer.Refresh(t.Context(), network))
			if got := b.observer.Watching.Address(late); got != c.want {
				t.Errorf("beside a later number that is %s old an address is watched: %v, want %v", c.age, got, c.want)
			}
			number += 5
		}
	})
}

// TestSpendKeysAreStoredOnce checks that a further output of a known transaction stores no spend key
// again.
func TestSpendKeysAreStoredOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		one, two := b.pay(v, "both", money.Units(10)), b.pay(v, "both", money.Units(5))
		two.Index = 1
		b.pool(nil, one)
		b.pool(nil, one, two)
		var keys int64
		if b.count(&keys, &models.Spend{}, "network = ?", string(network)); keys != 1 {
			t.Errorf("%d spend keys are stored, want 1", keys)
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
			change  func(next *chain.Transfer)
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
			"one of the payment's coin, by one of another asset": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-g", v.Payment.Due)} },
				gone: true, spends: "coin-of-old-g", change: func(next *chain.Transfer) { next.Asset = "another" }},
			"one whose money was spent on another network": {first: func(v payment.View) []chain.Transfer { return []chain.Transfer{b.pay(v, "old-h", v.Payment.Due)} },
				gone: true, spends: "coin-of-old-h", change: func(*chain.Transfer) { b.moveSpends("coin-of-old-h") }},
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
			if c.change != nil {
				c.change(&next)
			}
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
			balance := b.pay(v, models.BalanceTxID(int64(height), v.Payment.Address), money.Units(amount))
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

		two := b.opened()
		shows(two, tip-3, 7)
		shows(two, tip-5, 7)
		if got := left(two); got != "7 7" {
			t.Errorf("two balances are shown as %q, want 7 7: a balance explains no other", got)
		}
		last := b.opened()
		shows(last, tip, 7)
		explain(last, tip, 7)
		if got := left(last); got != "" {
			t.Errorf("a payment in the last block leaves the balance %q, want none", got)
		}

		v, other, tagged := b.opened(), b.opened(), b.opened()
		shows(other, tip-3, 7)
		shows(tagged, tip-3, 7)
		for i, change := range []map[string]any{{"network": "another"}, {"asset": "another"}, {"unmatched": payment.Unproved}, {"tx_id": "no balance"}, {"height": tip - 7, "tx_id": models.BalanceTxID(int64(tip-7), v.Payment.Address)}} {
			shows(v, tip-5+i, 7)
			must(t, b.db.Exec(t.Context()).Model(&models.Transfer{}).Where("tx_id = ?", models.BalanceTxID(int64(tip-5+i), v.Payment.Address)).Updates(change).Error)
		}
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("payment_id = ?", other.Payment.ID).Updates(map[string]any{"network": "another", "address": v.Payment.Address}).Error)
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("payment_id = ?", tagged.Payment.ID).Updates(map[string]any{"tag": 7, "address": v.Payment.Address}).Error)
		shown := func() (text string) {
			t.Helper()
			var rows []models.Transfer
			must(t, b.db.Read(t.Context()).Where("payment_id IN ? AND tx_id <> ?", []int64{v.Payment.ID, other.Payment.ID, tagged.Payment.ID}, "pays "+v.Payment.Reference).Order("id").Find(&rows).Error)
			for _, row := range rows {
				text += fmt.Sprint(row.TxID, " ", row.Amount, " ", row.Unmatched, "; ")
			}
			return text
		}
		before := shown()
		explain(v, tip-6, 7)
		if got := shown(); got != before {
			t.Errorf("a payment explains others' balances: %s are left, want %s", got, before)
		}
		fresh := b.opened()
		shows(fresh, tip, 7)
		must(t, b.db.Exec(t.Context()).Model(&models.Transfer{}).Where("payment_id = ?", fresh.Payment.ID).Update("height", tip+1).Error)
		b.mine(b.pay(fresh, "new", money.Units(7)))
		if got := left(fresh); got != "7" {
			t.Errorf("after a payment in a new block the balance %q is left, want 7", got)
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

// TestOnlyLooksFromTheTipAreUsed checks that a look from another block is neither noted nor signalled,
// and that a look at one network says nothing of another.
func TestOnlyLooksFromTheTipAreUsed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tip := b.blocks[len(b.blocks)-1]
		must(t, b.db.Exec(t.Context()).Create(&models.ChainCursor{Network: "another", Height: tip.Height, Hash: tip.Hash, UpdatedAt: b.clock.Now()}).Error)
		read := func(at string) (until *time.Time) {
			t.Helper()
			var row models.ChainCursor
			must(t, b.db.Read(t.Context()).Where("network = ?", at).Take(&row).Error)
			return row.ReadUntil
		}
		before, signals := read(string(network)), 0
		b.service.Changed = func() { signals++ }
		b.clock.Advance(payment.Monitoring + time.Second)
		elsewhere := b.looks()
		elsewhere.From.Hash = "another"
		must(t, b.observer.Looked(t.Context(), elsewhere))
		if got := read(string(network)); !got.Equal(*before) || signals != 0 {
			t.Errorf("after a look from another block the network is read until %v with %d signals, want %v and none", got, signals, before)
		}
		b.look()
		b.expect(v.Payment.Reference, payment.Abandoned, "")
		if got := read("another"); got != nil || signals == 0 {
			t.Errorf("after the look another network is read until %v with %d signals, want no time and a signal", got, signals)
		}
	})
}

// TestLoadWatchesItsNetwork checks that a watch set is filled with the addresses and spend keys of its
// network and of no other.
func TestLoadWatchesItsNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		own, other := b.opened(), b.opened()
		b.pool(nil, b.pay(own, "own", money.Units(10)), b.pay(other, "other", money.Units(10)))
		b.moveSpends("coin-of-other")
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("payment_id = ?", other.Payment.ID).Update("network", "another").Error)
		watching := &chain.WatchSet{}
		must(t, observe.New(b.service, sendtest.New(b.service), watching).Load(t.Context(), network))
		if addresses, spends := watching.Len(); addresses != 1 || spends != 1 || !watching.Address(own.Payment.Address) || !watching.Spend("coin-of-own") {
			t.Errorf("%d addresses and %d spend keys are watched, want those of the network, one each", addresses, spends)
		}
		b.unbooked = true // the test changed rows itself
	})
}

// TestOnlyTestClocksAdvance checks that the first sight of a transfer advances the clock of a payment by
// what the sandbox asked for, and never that of a live payment.
func TestOnlyTestClocksAdvance(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for domain, want := range map[scope.Domain][2]int64{scope.Test: {60, 0}, scope.Live: {0, 60}} {
			v := b.opened()
			b.set(&models.Payment{}, v.Payment.ID, map[string]any{"domain": string(domain), "advance_on_seen": 60})
			seen := b.pay(v, "seen "+string(domain), money.Units(10))
			b.pool(nil, seen)
			advanced := func(when string, advanced, left int64) {
				t.Helper()
				var got models.Payment
				must(t, b.db.Read(t.Context()).Where("id = ?", v.Payment.ID).Take(&got).Error)
				if got.Advanced != advanced || got.AdvanceOnSeen != left {
					t.Errorf("%s the clock of a %s payment is advanced by %d s, and %d s are left; want %d and %d", when, domain, got.Advanced, got.AdvanceOnSeen, advanced, left)
				}
			}
			advanced("after the first sight", want[0], want[1])
			b.set(&models.Payment{}, v.Payment.ID, map[string]any{"advance_on_seen": 30})
			b.mine(seen)
			advanced("after the confirmation", want[0], 30)
		}
	})
}

// TestFencesAreOfOneNetwork checks that a holder of a network's lease fences off earlier holders of that
// network and of no other, and that nothing is written for a network that was never read.
func TestFencesAreOfOneNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		must(t, b.db.Exec(t.Context()).Create(&models.ChainCursor{Network: "another", Hash: "another", Fence: 3, UpdatedAt: b.clock.Now()}).Error)
		b.apply(chain.Batch{Fence: 5, Pending: &chain.Pending{}})
		for at, want := range map[string]int64{string(network): 5, "another": 3} {
			var row models.ChainCursor
			must(t, b.db.Read(t.Context()).Where("network = ?", at).Take(&row).Error)
			if row.Fence != want {
				t.Errorf("the fence of %s is %d, want %d", at, row.Fence, want)
			}
		}
		for at, want := range map[chain.Network]error{network: nil, "never read": chain.ErrStale} {
			if err := fence.Write(t.Context(), b.service.DB, at, 5, func(*models.Tx) error { return nil }); !errors.Is(err, want) {
				t.Errorf("a write for the network %q returns %v, want %v", at, err, want)
			}
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

// TestEachRivalReplacesItsOwn checks that a double spend marks the transfers that need its money,
// with the transaction that spent it, and no others.
func TestEachRivalReplacesItsOwn(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		first, second, third, mined, alien := b.opened(), b.opened(), b.opened(), b.opened(), b.opened()
		one, two, three := b.pay(first, "one", first.Payment.Due), b.pay(second, "two", second.Payment.Due), b.pay(third, "three", third.Payment.Due)
		four, five := b.pay(mined, "four", mined.Payment.Due), b.pay(alien, "five", alien.Payment.Due)
		b.mine(four)
		b.pool(nil, one, two, three, five)
		b.moveSpends(five.Spends[0])
		seen := b.clock.Now()
		b.clock.Advance(time.Minute)
		b.pool([]chain.Spend{{Key: three.Spends[0], TxID: "three"}, {Key: four.Spends[0], TxID: "rival-four"}}, one, two, three, five)
		if row := b.transfer("three"); !row.UpdatedAt.Equal(seen) {
			t.Errorf("a transaction that spends its own money is written at %v, want no write since %v", row.UpdatedAt, seen)
		}
		for _, txid := range []string{"one", "two", "three", "four"} {
			if row := b.transfer(txid); row.Gone {
				t.Errorf("%s is gone (%s), want it there: nothing that confirmed or differs spent its money", txid, row.GoneReason)
			}
		}
		block := b.block(int64(len(b.blocks)))
		block.Spends = []chain.Spend{{Key: one.Spends[0], TxID: "rival-one"}, {Key: two.Spends[0], TxID: "rival-two"}, {Key: five.Spends[0], TxID: "rival-five"}}
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{Transfers: []chain.Transfer{three, five}}})
		for txid, want := range map[string]string{"one": "rival-one", "two": "rival-two", "three": "", "four": "", "five": ""} {
			if row := b.transfer(txid); row.ConflictTx != want || row.Gone != (want != "") {
				t.Errorf("%s conflicts with %q and is gone: %v; want %q", txid, row.ConflictTx, row.Gone, want)
			}
		}
	})
}

// TestGoneSince checks since when a missing transfer is gone: on its payment's own clock, from the
// first time that it was missing, and again after it returned.
func TestGoneSince(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		plain, ahead := b.opened(), b.opened()
		must(t, b.service.AdvanceClock(t.Context(), b.scope, ahead.Payment.Reference, time.Hour, false))
		one, two := b.pay(plain, "plain", plain.Payment.Due), b.pay(ahead, "ahead", ahead.Payment.Due)
		stray := b.pay(plain, "stray", money.Units(7))
		stray.Destination.Address = b.insertTaggedAddress()
		reserve := models.Destination{Network: string(network), Address: "bcrt1reserve", Tag: -1, BusinessID: b.scope.BusinessID, Domain: "test", CreatedAt: b.clock.Now()}
		must(t, b.db.Exec(t.Context()).Create(&reserve).Error)
		unused := b.pay(plain, "unused", money.Units(7))
		unused.Destination.Address = reserve.Address
		spends := []chain.Spend{{Key: one.Spends[0], TxID: "rival"}}
		b.pool(nil, one, two, stray, unused)
		gone := func(txid string, want time.Time, reason payment.Reason) models.Transfer {
			t.Helper()
			row := b.transfer(txid)
			if !row.Gone || row.GoneAt == nil || !row.GoneAt.Equal(want) || row.GoneReason != string(reason) {
				t.Errorf("%s is gone: %v, since %v (%s); want since %v (%s)", txid, row.Gone, row.GoneAt, row.GoneReason, want, reason)
			}
			return row
		}
		b.clock.Advance(time.Minute)
		now := b.clock.Now()
		b.pool(spends)
		before := gone("plain", now, payment.Replaced)
		gone("ahead", now.Add(time.Hour), payment.Dropped)
		gone("stray", now, payment.Dropped)
		gone("unused", now, payment.Dropped)
		b.clock.Advance(time.Minute)
		b.pool(spends)
		if after := gone("plain", now, payment.Replaced); !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("a second look without a change writes the transfer at %v, want no write since %v", after.UpdatedAt, before.UpdatedAt)
		}
		b.pool(nil, one) // it is back
		if row := b.transfer("plain"); row.Gone {
			t.Error("a transfer that is back is gone, want it there")
		}
		b.clock.Advance(time.Minute)
		again := b.clock.Now()
		b.pool(spends)
		gone("plain", again, payment.Replaced)
		b.clock.Advance(time.Minute)
		block := b.block(int64(len(b.blocks)))
		block.Spends = spends
		b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		b.mine(stray)
		if row := b.transfer("stray"); row.Gone || row.Height == nil || row.Unmatched != payment.UnknownTag {
			t.Errorf("a transfer of no payment that returned is %+v, want it confirmed and unmatched", row)
		}
		if row := gone("plain", again, payment.Replaced); row.ConflictTx != "rival" {
			t.Errorf("the transfer conflicts with %q, want rival", row.ConflictTx)
		}
	})
}

// TestKnownTransfersKeepTheirContent checks that only a new branch changes what a transfer moves,
// and that a look at the mempool that is older than a block changes nothing.
func TestKnownTransfersKeepTheirContent(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		small, large := b.pay(v, "moves", money.Units(10)), b.pay(v, "moves", money.Units(20))
		keeps := func(when string, amount int64, asset string) {
			t.Helper()
			if row := b.transfer("moves"); row.Amount.Cmp(money.Units(amount)) != 0 || row.Asset != asset {
				t.Errorf("%s the transfer moves %s %s, want %d %s", when, row.Amount, row.Asset, amount, asset)
			}
		}
		b.pool(nil, small)
		b.pool(nil, large)
		keeps("after another look at the mempool", 10, "BTC")
		b.mine(small)
		_, err := b.observer.Reread(t.Context(), network, chain.Block{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1]}, Transfers: []chain.Transfer{large}})
		must(t, err)
		keeps("after its block was read again", 10, "BTC")
		b.reorgTo(1, large)
		keeps("on a new branch", 20, "BTC")
		large.Asset = "another"
		b.reorgTo(2, large)
		keeps("on the branch after it", 20, "another")

		failed := b.pay(v, "failed", money.Units(10))
		failed.Reverted = true
		b.mine(failed)
		failed.Reverted = false
		b.pool(nil, failed)
		if row := b.transfer("failed"); !row.Reverted || row.Height == nil {
			t.Errorf("after an older look at the mempool the failed transfer is %+v, want it failed in its block", row)
		}

		stray := b.pay(v, "stray", money.Units(7))
		stray.Destination.Address = b.insertTaggedAddress()
		b.mine(stray)
		stray.Amount = money.Units(8)
		b.reorgTo(1, stray)
		if row := b.transfer("stray"); row.Amount.Cmp(money.Units(8)) != 0 {
			t.Errorf("on a new branch the transfer of no payment moves %s, want 8", row.Amount)
		}
	})
}

// TestFailedAfterTheEnd checks that a transfer that returns as failed, after its payment has ended,
// is no unmatched money.
func TestFailedAfterTheEnd(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		early := b.pay(v, "early", money.Units(10))
		b.pool(nil, early)
		b.pool(nil)
		b.mine(b.pay(v, "pays", v.Payment.Due))
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		before := b.events(v.Payment.ID)
		early.Reverted = true
		b.mine(early)
		if row := b.transfer("early"); row.Unmatched != "" || !row.Reverted || b.events(v.Payment.ID) != before {
			t.Errorf("a failed transfer after the end is %+v with events %s, want nothing to do", row, b.events(v.Payment.ID))
		}
	})
}

// TestFirstSightOfABlock checks the time of a transfer that is first seen in a block: the block's,
// but not one in the future, and not a later one of what it replaces.
func TestFirstSightOfABlock(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.clock.Advance(3 * time.Minute) // no transfer is older than its payment
		now := b.clock.Now()
		b.mineAt(now.Add(time.Minute), b.pay(v, "ahead", money.Units(10)))
		if row := b.transfer("ahead"); !row.FirstSeenAt.Equal(now) || !row.SeenAt.Equal(now) {
			t.Errorf("a transfer of a block in the future was seen at %v and %v, want now, %v", row.FirstSeenAt, row.SeenAt, now)
		}
		b.pool(nil, b.pay(v, "old", money.Units(20)))
		next, mined := b.pay(v, "next", money.Units(20)), now.Add(-time.Minute)
		next.Spends = []string{"coin-of-old"}
		b.pool(nil)
		b.mineAt(mined, next)
		if row := b.transfer("next"); !row.SeenAt.Equal(mined) {
			t.Errorf("a replacement of an earlier block was seen at %v, want the block's %v", row.SeenAt, mined)
		}
	})
}

// TestSightingsAreNamed checks what the timeline and the events say of each kind of transfer.
func TestSightingsAreNamed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for name, c := range map[string]struct {
			change func(tr *chain.Transfer)
			remark string
			event  string
		}{
			"money":            {func(*chain.Transfer) {}, "Seen on the network: 0.00000007 BTC.", "detected"},
			"another asset":    {func(tr *chain.Transfer) { tr.Asset = "another" }, "Another asset came to this payment's address: another 7. It credits nothing.", "unexpected_transfer"},
			"a named amount":   {func(tr *chain.Transfer) { tr.Asset, tr.Amount = "USD 1000", money.Amount{} }, "Another asset came to this payment's address: USD 1000. It credits nothing.", "unexpected_transfer"},
			"a balance":        {func(tr *chain.Transfer) { tr.Via = observe.UnknownVia }, "Money came to this payment's address in another way than by a payment (" + observe.UnknownVia + "): 0.00000007 BTC. It credits nothing, and is listed under Unmatched.", "unexpected_transfer"},
			"no payment":       {func(tr *chain.Transfer) { tr.Via = "a refund" }, "Money came to this payment's address in another way than by a payment (a refund): 0.00000007 BTC. It credits nothing, and is listed under Unmatched.", "unexpected_transfer"},
			"an unproved sum":  {func(tr *chain.Transfer) { tr.Unproved, tr.Via = true, "partly paid" }, "A payment to this address can't be believed (partly paid): its amount, 0.00000007 BTC, is not proved. It credits nothing, and is listed under Unmatched.", "unexpected_transfer"},
			"an unproved name": {func(tr *chain.Transfer) { tr.Unproved, tr.Asset = true, "another" }, "A payment to this address can't be believed (): its amount, another 7, is not proved. It credits nothing, and is listed under Unmatched.", "unexpected_transfer"},
		} {
			v := b.opened()
			one := b.pay(v, name, money.Units(7))
			c.change(&one)
			b.pool(nil, one)
			steps, err := b.service.Timeline(t.Context(), b.scope, v.Payment.Reference)
			must(t, err)
			if got := steps[len(steps)-1]; got.Kind != payment.StepTransfer || got.Remark != c.remark {
				t.Errorf("%s is %q in the timeline, want %q", name, got.Remark, c.remark)
			}
			if got := b.events(v.Payment.ID); got != "initiated "+c.event {
				t.Errorf("%s has the events %q, want initiated %s", name, got, c.event)
			}
			if got := b.view(v.Payment.Reference).Payment; (got.FirstSeenAt != nil) != (c.event == "detected") {
				t.Errorf("after %s the payment was first seen at %v, want a time only for money", name, got.FirstSeenAt)
			}
			b.pool(nil)
		}
	})
}
