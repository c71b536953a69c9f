package payment_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// TestLeftOutAddresses: money on an address that was issued before a backup was
// restored is found by reading its block again, and is the business's, for no payment.
func TestLeftOutAddresses(t *testing.T) {
	const real = chain.Network("bitcoin-regtest")
	const account = "tpubDD7tXK8KeQ3YY83yWq755fHY2JW8Ha8Q765tknUM5rSvjPcGWfUppDFMpQ1ScziKfW3ZNtZvAD7M3u7bSs7HofjTD3KP3YxPK7X6hwV8Rk2"
	each(t, func(t *testing.T, b *bench) {
		net, _ := wallet.Find("bitcoin-regtest")
		wallets := &wallet.Service{DB: b.db, Clock: b.clock.Now,
			Networks: func(scope.Domain, money.Chain) (wallet.Net, bool) { return net, true }}
		owner := b.scope
		owner.Role = scope.Owner
		var used models.Wallet
		err := b.db.Write(t.Context(), func(tx *models.Tx) (err error) {
			used, err = wallets.Use(tx, owner, money.Bitcoin, account, "", "user:1")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 1, Hash: strings.Repeat("1", 64)}, Time: b.clock.Now()}}
		tip := chain.Tip{Header: block.Header, Finalized: -1}
		if err := b.observer.Apply(t.Context(), chain.Batch{Network: real, Blocks: []chain.Block{block}, Tip: tip}); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(time.Minute)
		if err := wallets.Advance(t.Context(), "operator", used.ID, 3); err != nil {
			t.Fatal(err)
		}
		key, err := wallet.ParseKey(account, net, "")
		if err != nil {
			t.Fatal(err)
		}
		address, _ := key.Address(1)
		if err := b.observer.Load(t.Context(), real); err != nil || !b.observer.Watching.Address(address) {
			t.Fatal("not watched:", err)
		}
		block.Transfers = []chain.Transfer{{TxID: "aa", Asset: "BTC", Destination: chain.Destination{Address: address}, Amount: money.Units(7)}}
		for i, want := range []int{1, 0} {
			if fresh, err := b.observer.Reread(t.Context(), real, block); err != nil || fresh != want {
				t.Errorf("reading %d: %d fresh, %v", i, fresh, err)
			}
		}
		list, _, err := b.resolver.Unmatched(t.Context(), owner, payment.UnmatchedFilter{Limit: 10})
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v %v", list, err)
		}
		if got := list[0]; got.Transfer.Unmatched != payment.UnknownPayment || got.Reference != "" || got.Address != address || got.Amount.Cmp(money.Units(7)) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestTwoKindsAtOnce: what counts and what doesn't, in one picture of the mempool or in
// one block, are told each for itself, whichever comes first.
func TestTwoKindsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for i, want := range []string{"detected unexpected_transfer", "unexpected_transfer detected"} {
			for where, seen := range map[string]func(...chain.Transfer){"pool": func(two ...chain.Transfer) { b.pool(nil, two...) }, "block": b.mine} {
				v := b.opened()
				two := []chain.Transfer{b.pay(v, fmt.Sprint(where, i), v.Payment.Due), b.pay(v, fmt.Sprint("other-", where, i), money.Units(7))}
				two[1].Asset = "another"
				if i > 0 {
					slices.Reverse(two)
				}
				seen(two...)
				got := strings.TrimSuffix(b.events(v.Payment.ID), " processing")
				if got != "initiated "+want {
					t.Errorf("by a %s: %s, want %s", where, got, want)
				}
			}
		}
	})
}

// TestProvable: what can't be attached is not offered to be.
func TestProvable(t *testing.T) {
	for why, want := range map[string]bool{payment.MissingTag: true, payment.AfterFinal: true, payment.NotPayment: true, payment.Unproved: false, payment.NoTransaction: false} {
		if got := (payment.UnmatchedTransfer{Why: why}).Provable(); got != want {
			t.Errorf("%s: %v", why, got)
		}
	}
}

// TestUnmatchedHasTheBookedValue compares the values of unmatched transfers with those of their entries in the
// journal: of surplus at its payment's rate, and of another asset none.
func TestUnmatchedHasTheBookedValue(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		other := b.pay(v, "other", money.Units(5))
		other.Asset = "DOGE"
		b.mine(b.pay(v, "pays", v.Payment.Due), b.pay(v, "more", money.Units(330)), other)
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		list, _, err := b.resolver.Unmatched(t.Context(), b.owner(), payment.UnmatchedFilter{Limit: 10})
		must(t, err)
		got := map[string]string{}
		for _, one := range list {
			got[one.TxID] = fmt.Sprint(one.Value, " ", one.Currency)
		}
		var entry models.JournalEntry
		must(t, b.db.Read(t.Context()).Where("transfer_id = ? AND credit = 'unmatched'", b.transfer("more").ID).
			Take(&entry).Error)
		want := map[string]string{"more": fmt.Sprint(entry.Value, " NGN"), "other": "0 "}
		if entry.Value == 0 || !maps.Equal(got, want) {
			t.Errorf("the values of unmatched transfers are %v, want %v", got, want)
		}
		one, err := b.resolver.FindUnmatched(t.Context(), b.owner(), b.transfer("more").ID)
		must(t, err)
		if one.Value != entry.Value || one.Currency != "NGN" {
			t.Errorf("the transfer is worth %d %s, want %d NGN", one.Value, one.Currency, entry.Value)
		}
	})
}
