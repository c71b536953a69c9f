package payment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/send/outputs"
	"cointill/core/wallet"
	"cointill/models"
)

// change is the account of a bench's business on bitcoin-regtest, with its address for change that a send
// returns its rest to.
type change struct {
	*bench
	wallet models.Wallet
	key    wallet.Key
}

// withChange receives payments on bitcoin-regtest, and has the address for change with an index watched.
func (b *bench) withChange() *change {
	b.t.Helper()
	b.onRegtest(addressmark.New(b.t.TempDir()))
	b.network, b.blocks = "bitcoin-regtest", nil
	b.mine()
	c := &change{bench: b}
	must(b.t, b.db.Read(b.t.Context()).Where("network = ?", b.network).Take(&c.wallet).Error)
	var err error
	c.key, err = wallet.ReadKey(c.wallet)
	must(b.t, err)
	return c
}

// watch has the change of a send return to the account's address with an index.
func (c *change) watch(index int64) chain.OwnAddress {
	c.t.Helper()
	own, err := c.key.ChangeAddress(index)
	must(c.t, err)
	must(c.t, c.db.Write(c.t.Context(), func(tx *models.Tx) error {
		return outputs.Reserve(tx, c.clock.Now(), outputs.Holder{BusinessID: c.scope.BusinessID, Domain: "test",
			Network: string(c.network)}, chain.Order{From: c.wallet.Key, Change: own}, nil)
	}))
	c.clock.Advance(time.Minute)
	must(c.t, c.observer.Load(c.t.Context(), c.network))
	return own
}

func (c *change) nextChange() int64 {
	c.t.Helper()
	var now models.Wallet
	must(c.t, c.db.Read(c.t.Context()).Where("id = ?", c.wallet.ID).Take(&now).Error)
	return now.NextChange
}

// TestChangeIsSpendableAndNoPayment has a send's change seen, mined, undone and mined again.
func TestChangeIsSpendableAndNoPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.withChange()
		own := c.watch(0)
		if !b.observer.Watching.Address(own.Address) {
			t.Fatalf("the address for change %s isn't watched", own.Address)
		}
		if next := c.nextChange(); next != 0 {
			t.Errorf("before a transaction was seen the next change is %d, want 0", next)
		}
		paid := b.opened()
		b.mine(b.pay(paid, "pays", paid.Payment.Due))
		b.mine()
		b.expect(paid.Payment.Reference, payment.Successful, "")
		if row := b.transfer("pays"); !row.Spendable || row.SpentAt != nil || row.ReservedBy != nil {
			t.Errorf("a payment's output is %+v, want spendable and free", row)
		}
		books := &journal.Service{DB: b.db, Clock: b.clock.Now}
		today := day(b.clock.Now().Format(time.DateOnly))
		statement := func() string {
			t.Helper()
			s, err := books.ReadStatement(t.Context(), b.owner(), today)
			must(t, err)
			return fmt.Sprintf("%+v", s)
		}
		before, entries := statement(), b.countEntries()
		rest := chain.Transfer{TxID: "send", Index: 1, Asset: "BTC", Destination: chain.Destination{Address: own.Address},
			Amount: money.Units(5_000), Spends: []string{"pays:0"}}
		expect := func(what string, mined, gone bool) {
			t.Helper()
			row := b.transfer("send")
			if row.BusinessID != b.scope.BusinessID || row.Domain != "test" || row.PaymentID != nil || row.SendID != nil ||
				row.Unmatched != "" || !row.Spendable || (row.Height != nil) != mined || row.Gone != gone ||
				mined && row.Booked != string(journal.None) {
				t.Errorf("%s: the change is %+v, want one of the business without a payment, in a block: %v, gone: %v", what,
					row, mined, gone)
			}
			if open := b.open(); len(open) != 0 {
				t.Errorf("%s: %+v are under Unmatched, want nothing", what, open)
			}
			if got := b.countEntries(); got != entries {
				t.Errorf("%s: the journal has %d entries, want %d", what, got, entries)
			}
			if got := statement(); got != before {
				t.Errorf("%s: the statement is %s, want %s", what, got, before)
			}
			if next := c.nextChange(); next != 1 {
				t.Errorf("%s: the next change is %d, want 1", what, next)
			}
			if page := b.search(list.Filter{Limit: 10}); len(page.Payments) != 1 {
				t.Errorf("%s: %d payments are listed, want 1", what, len(page.Payments))
			}
		}
		b.pool(nil, rest)
		expect("in the mempool", false, false)
		b.pool([]chain.Spend{{Key: "pays:0", TxID: "rival"}})
		expect("replaced", false, true)
		b.mine(rest)
		expect("in a block", true, false)
		b.mine()
		b.look()
		expect("later", true, false)
		b.compareBooked(today)
		b.reorgTo(1, rest)
		expect("in another block", true, false)
		again := rest
		again.TxID, again.Spends = "more", []string{"other:0"}
		again.Unproved = true // for what doesn't count as a payment it is change all the same
		b.mine(again)
		if row := b.transfer("more"); row.Unmatched != "" || !row.Spendable || row.PaymentID != nil {
			t.Errorf("more money at the address is %+v, want the same as change", row)
		}
		c.watch(1)
	})
}

func (b *bench) countEntries() (n int64) {
	b.t.Helper()
	b.count(&n, &models.JournalEntry{}, "1 = 1")
	return n
}

// TestPaymentsSkipAddressesForChange keeps payments off addresses that change returns to.
func TestPaymentsSkipAddressesForChange(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		c := b.withChange()
		var seen []string
		for i := range int64(3) {
			seen = append(seen, c.watch(i).Address)
		}
		// The same branch as a key of its own: payments would begin with its address 0.
		text := "wpkh(" + c.wallet.Key + "/1/*)"
		must(t, b.db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := b.service.Wallet.Use(tx, b.owner(), money.Bitcoin, text, "", "user:1")
			return err
		}))
		v := b.opened()
		if slices.Contains(seen, v.Payment.Address) || v.Payment.Address == "" {
			t.Errorf("a payment is received at %q, want none of %s", v.Payment.Address, strings.Join(seen, ", "))
		}
	})
}

// TestSandboxTransfersAreNotSpendable: only networks whose transactions spend outputs have any.
func TestSandboxTransfersAreNotSpendable(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "pays", v.Payment.Due))
		if b.transfer("pays").Spendable {
			t.Error("a transfer of the sandbox is spendable, want not")
		}
	})
}

// TestAccountsOfTransfersWithoutPayment has the book of a transfer that no payment has.
func TestAccountsOfTransfersWithoutPayment(t *testing.T) {
	t.Parallel()
	height, id := int64(5), int64(1)
	at := func(change func(*models.Transfer)) models.Transfer {
		row := models.Transfer{Asset: "BTC", Amount: money.Units(7), Height: &height}
		change(&row)
		return row
	}
	for name, c := range map[string]struct {
		row  models.Transfer
		want journal.Account
	}{
		"change":              {at(func(*models.Transfer) {}), journal.None},
		"unconfirmed change":  {at(func(t *models.Transfer) { t.Height = nil }), journal.Nowhere},
		"change that is gone": {at(func(t *models.Transfer) { t.Gone = true }), journal.Nowhere},
		"unmatched money":     {at(func(t *models.Transfer) { t.Unmatched = payment.UnknownPayment }), journal.Unmatched},
		"a payment's":         {at(func(t *models.Transfer) { t.PaymentID = &id }), journal.Pending},
	} {
		if got := payment.FindAccount(c.row, ""); got != c.want {
			t.Errorf("FindAccount(%s) = %q, want %q", name, got, c.want)
		}
	}
}
