package payment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// takeFrom mines a block whose transaction takes what a business has, and pays transfers.
func (b *bench) takeFrom(left []chain.Departure, spends []chain.Spend, transfers ...chain.Transfer) {
	b.t.Helper()
	block := b.block(int64(len(b.blocks)), transfers...)
	block.Departures, block.Spends = left, spends
	b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
}

// listOwnerEntries returns the entries of the account owner, in short.
func (b *bench) listOwnerEntries() (list []string) {
	b.t.Helper()
	books := &journal.Service{DB: b.db, Clock: b.clock.Now}
	today := day(b.clock.Now().Format(time.DateOnly))
	rows, _, err := books.ListEntries(b.t.Context(), b.owner(), journal.Filter{Period: today, Account: journal.Owner, Limit: 50})
	must(b.t, err)
	for _, e := range rows {
		list = append(list, fmt.Sprintf("%s %s→%s %s %s %.4s", e.Kind, e.Debit, e.Credit, e.Amount, e.Coin, e.Hash))
	}
	return list
}

func (b *bench) expectOwner(what string, want ...string) {
	b.t.Helper()
	if got := b.listOwnerEntries(); !slices.Equal(got, want) {
		b.t.Errorf("%s: the owner moved %q, want %q", what, got, want)
	}
}

// TestSpentOutputsAreBooked: an output of a payment that the merchant spends is booked as moved by the owner once the
// spending transaction is final, taken back when that leaves the chain, and booked again when it returns.
func TestSpentOutputsAreBooked(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.withChange()
		paid, spending := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
		v := b.opened()
		b.mine(b.pay(v, paid, v.Payment.Due))
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		key := paid + ":0"
		if !b.observer.Watching.Spend(key) {
			t.Fatalf("%s isn't watched", key)
		}
		must(t, b.observer.Load(t.Context(), b.network))
		if !b.observer.Watching.Spend(key) {
			t.Errorf("%s isn't watched after a restart", key)
		}
		spends := []chain.Spend{{Key: key, TxID: spending}}
		rest := b.pay(v, spending, money.Units(700)) // to the address of a payment, which may be the customer's money
		rest.Spends = []string{key}
		moved := v.Payment.Due
		b.takeFrom(nil, spends, rest)
		b.expectOwner("in a block")
		b.mine()
		first := fmt.Sprintf("moved owner→wallet %s BTC b2b2", moved)
		b.expectOwner("once it is final", first)
		b.mine()
		b.expectOwner("later", first)
		b.reorg(3, &chain.Pending{})
		undone := fmt.Sprintf("unmoved wallet→owner %s BTC b2b2", moved)
		b.expectOwner("after a reorganisation", first, undone)
		b.takeFrom(nil, spends, rest)
		b.mine()
		b.expectOwner("mined again", first, undone, first)
	})
}

// TestOwnMoneyIsNotUnmatched: what returns to an address of the business that took it is neither moved nor unmatched,
// unless it comes to the address of a payment.
func TestOwnMoneyIsNotUnmatched(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.on(money.XRP)
		b.mine(b.pay(v, "pays", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Successful, "")
		back := b.pay(v, "swap", money.Units(700))
		back.Tag = nil
		left := chain.Departure{TxID: "swap", Address: v.Payment.Address, Asset: "XRP", Amount: money.Units(1_012)}
		b.takeFrom([]chain.Departure{left}, nil, back)
		b.mine()
		b.expectOwner("less than left", "moved owner→wallet 312 XRP swap")
		if open := b.open(); len(open) != 0 {
			t.Errorf("%+v is unmatched, want nothing", open)
		}
		back.TxID = "customer"
		b.mine(back)
		if open := b.open(); len(open) != 1 {
			t.Errorf("%+v is unmatched, want the money of another account", open)
		}
	})
}

// TestAccountDeparturesAreBooked: what left an address of a business is booked by coin; what left other addresses isn't.
func TestAccountDeparturesAreBooked(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.on(money.USDT)
		b.mine(b.pay(v, "pays", v.Payment.Due))
		for range 20 {
			b.mine()
		}
		b.expect(v.Payment.Reference, payment.Successful, "")
		from := v.Payment.Address
		b.takeFrom([]chain.Departure{{TxID: "gone", Address: from, Asset: "USDT", Amount: v.Payment.Due},
			{TxID: "gone", Address: from, Asset: "ETH", Amount: money.Units(2_100)},
			{TxID: "gone", Address: from, Asset: "ETH", Amount: money.Units(9)},
			{TxID: "disputed", Address: from, Asset: "ETH"},
			{TxID: "other", Address: "0x00000000000000000000000000000000000000aa", Asset: "ETH", Amount: money.Units(1)}}, nil)
		for range 20 {
			b.mine()
		}
		b.expectOwner("final", "moved owner→wallet 2109 ETH gone",
			fmt.Sprintf("moved owner→wallet %s USDT gone", v.Payment.Due))
		var rows int64
		b.count(&rows, &models.Departure{}, "NOT settled")
		if rows != 0 {
			t.Errorf("%d departures wait, want none", rows)
		}
	})
}
