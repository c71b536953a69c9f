package payment_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/models"
)

// inKES opens a payment of KES 5,000.
func (b *bench) inKES() payment.View {
	b.t.Helper()
	r := request()
	r.Currency, r.Amount = "KES", 5_000
	started, err := b.service.Initiate(b.t.Context(), b.scope, r)
	must(b.t, err)
	v, err := b.service.Open(b.t.Context(), started.AccessToken, "en", "")
	must(b.t, err)
	return v
}

// attach attaches a transfer to a payment.
func (b *bench) attach(id int64, reference string) {
	b.t.Helper()
	_, err := b.resolver.Attach(b.t.Context(), b.owner(), id, reference)
	must(b.t, err)
}

// sumAccount returns the balance of an account in a currency, in hundredths, and in the coin.
func (b *bench) sumAccount(account journal.Account, currency string) (value int64, amount money.Amount) {
	b.t.Helper()
	var rows []models.JournalEntry
	must(b.t, b.db.Read(b.t.Context()).Where("currency = ? AND (debit = ? OR credit = ?)", currency, account,
		account).Find(&rows).Error)
	for _, e := range rows {
		if e.Credit == string(account) {
			value, amount = value+e.Value, amount.Add(e.Amount)
		} else {
			value, amount = value-e.Value, amount.Sub(e.Amount)
		}
	}
	return value, amount
}

// TestAttachedSurplusIsOpenAgain checks that a transfer which was attached to a payment that then ends without it is
// open under Unmatched again, and can be attached again.
func TestAttachedSurplusIsOpenAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stray, v, next := b.stray("part", money.Units(700)), b.opened(), b.opened()
		b.mine(b.pay(v, "pays", v.Payment.Due))
		b.attach(stray.ID, v.Payment.Reference)
		if open := b.open(); len(open) != 0 {
			t.Errorf("%d transfers are open while it is attached, want none", len(open))
		}
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		open := b.open()
		if len(open) != 1 || open[0].TxID != "part" || open[0].Why != payment.Surplus || open[0].Reference != v.Payment.Reference {
			t.Fatalf("open are %+v, want the surplus of %s", open, v.Payment.Reference)
		}
		if got := b.view(v.Payment.Reference).SurplusSum; got.Cmp(money.Units(700)) != 0 {
			t.Errorf("the surplus that is owed is %s, want 700", got)
		}
		b.attach(stray.ID, next.Payment.Reference)
		b.mine(b.pay(next, "rest", next.Payment.Due.Sub(money.Units(700))))
		b.mine()
		b.expect(next.Payment.Reference, payment.Successful, "")
		if open := b.open(); len(open) != 0 {
			t.Errorf("%d transfers are open, want none", len(open))
		}
	})
}

// TestAttachedMoneyKeepsItsFigures checks that attaching surplus of a payment in NGN to one in KES takes from Unmatched
// the value with which it was held, in NGN, for the payment that it came to.
func TestAttachedMoneyKeepsItsFigures(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		before, declined, waits := b.opened(), b.inKES(), b.inKES()
		b.mine(b.pay(before, "first", before.Payment.Due), b.pay(declined, "short", declined.Payment.Due.Sub(money.Units(9000))))
		b.mine()
		b.mine(b.pay(before, "one", money.Units(330)), b.pay(before, "two", money.Units(330)))
		b.clock.Advance(payment.Window + time.Second)
		b.tick()
		b.expect(declined.Payment.Reference, payment.Declined, payment.Underpaid)
		if value, _ := b.sumAccount(journal.Unmatched, "NGN"); value != 2*29649 {
			t.Fatalf("unmatched are %d hundredths of NGN, want %d", value, 2*29649)
		}
		b.attach(b.transfer("one").ID, declined.Payment.Reference)
		b.attach(b.transfer("two").ID, waits.Payment.Reference)
		for _, currency := range []string{"NGN", "KES"} {
			if value, amount := b.sumAccount(journal.Unmatched, currency); value != 0 || amount.Sign() != 0 {
				t.Errorf("unmatched are %d hundredths of %s for %s, want none", value, currency, amount)
			}
		}
		if got := b.posted(before); !slices.Contains(got, "unmatched→pending 330 NGN 29649") {
			t.Errorf("the payment in NGN has posted %q, want its surplus taken from it", got)
		}
		got := b.view(declined.Payment.Reference)
		value, amount := b.sumAccount(journal.Declined, "KES")
		if want := got.Fiat(got.Payment.Paid).Shift(2).IntPart(); value != want || amount.Cmp(got.Payment.Paid) != 0 {
			t.Errorf("declined are %d hundredths of KES for %s, want %d for %s", value, amount, want, got.Payment.Paid)
		}
	})
}

// TestAcceptedMoneyLeavesDeclined checks that accepting a payment whose parts were rounded apart leaves nothing in
// Declined, and sells the value of their sum.
func TestAcceptedMoneyLeavesDeclined(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, part := range []int64{2, 4, 9} {
			v := b.underpaid("short-"+strconv.FormatInt(part, 10), 100)
			stray := b.stray("part-"+strconv.FormatInt(part, 10), money.Units(part))
			b.attach(stray.ID, v.Payment.Reference)
			must(t, b.resolver.Resolve(t.Context(), b.owner(), v.Payment.Reference))
			b.expect(v.Payment.Reference, payment.Successful, payment.AcceptedByUser)
			if value, amount := b.sumAccount(journal.Declined, "NGN"); value != 0 || amount.Sign() != 0 {
				t.Errorf("after accepting with a part of %d declined are %d hundredths for %s, want none", part, value, amount)
			}
		}
	})
}

// TestRefundOfTwoNetworks checks that a recorded refund of a payment with money on two networks is booked on both, and
// that the values of refunds in parts add up.
func TestRefundOfTwoNetworks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		b.setNetwork(money.BSC, true, false)
		v := b.on(money.USDT)
		b.mine(b.pay(v, "ethereum", v.Payment.Due.MulDiv(3, 5)))
		for range 40 {
			b.mine()
		}
		b.goTo(onBSC)
		b.mine(b.pay(v, "bsc", v.Payment.Due.MulDiv(1, 5)))
		b.clock.Advance(payment.Window + time.Second)
		for range 40 {
			b.mine()
		}
		b.goTo(onEthereum)
		b.mine()
		b.tick()
		got := b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
		paid := got.Payment.Paid
		if paid.Cmp(v.Payment.Due.MulDiv(4, 5)) != 0 {
			t.Fatalf("received are %s, want both parts of %s", paid, v.Payment.Due)
		}
		third := paid.MulDiv(1, 3)
		for _, amount := range []money.Amount{third, third, paid.Sub(third).Sub(third)} {
			_, err := b.resolver.RecordRefund(t.Context(), b.owner(), v.Payment.Reference,
				refund.Report{Amount: got.Coin().Format(amount), Note: "by hand"})
			must(t, err)
		}
		held, err := journal.ReadHeld(b.db.Read(t.Context()), v.Payment.ID, journal.Declined)
		must(t, err)
		for _, network := range []string{string(onEthereum), string(onBSC)} {
			if amount, known := held[network]; !known || amount.Sign() != 0 {
				t.Errorf("on %s declined are %s (known: %t), want nothing left", network, amount, known)
			}
		}
		if value, _ := b.sumAccount(journal.Declined, "NGN"); value != 0 {
			t.Errorf("declined are %d hundredths, want none left", value)
		}
	})
}

// TestRefundNeedsAConfirmation checks that a transfer without a confirmation can't be marked as refunded, since the
// books have no money of it.
func TestRefundNeedsAConfirmation(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "pays", v.Payment.Due))
		b.mine()
		b.pool(nil, b.pay(v, "more", money.Units(700)))
		stray := b.open()[0]
		report := refund.Report{Note: "by hand"}
		_, err := b.resolver.CheckRefunded(t.Context(), b.owner(), stray.ID, report)
		for _, err := range []error{err, b.resolver.MarkRefunded(t.Context(), b.owner(), stray.ID, report)} {
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "has no confirmation") {
				t.Errorf("marking an unconfirmed transfer as refunded gives %v, want a conflict", err)
			}
		}
		b.mine(b.pay(v, "more", money.Units(700)))
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), stray.ID, report))
		if value, amount := b.sumAccount(journal.Unmatched, "NGN"); value != 0 || amount.Sign() != 0 {
			t.Errorf("unmatched are %d hundredths for %s after the refund, want none", value, amount)
		}
	})
}

// TestLostRefund checks that a transfer which was marked as refunded leaves the wallet, and is owed by Unmatched, when
// its block leaves the chain, and returns when another block holds it.
func TestLostRefund(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "pays", v.Payment.Due))
		b.mine()
		more := b.pay(v, "more", money.Units(700))
		b.mine(more)
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), b.open()[0].ID, refund.Report{Note: "by hand"}))
		held, _ := b.sumAccount(journal.Wallet, "NGN")
		expect := func(when string, lost int64) {
			t.Helper()
			value, amount := b.sumAccount(journal.Unmatched, "NGN")
			wallet, _ := b.sumAccount(journal.Wallet, "NGN")
			of := b.transfer("more").BookedValue
			if value != -lost*of || amount.Cmp(money.Units(-700*lost)) != 0 || wallet != held+lost*of || of <= 0 {
				t.Errorf("%s: unmatched are %d hundredths for %s, and the wallet has %d; want %d for %d, and %d", when, value,
					amount, -wallet, -lost*of, -700*lost, -held-lost*of)
			}
		}
		expect("refunded", 0)
		b.reorgTo(1)
		expect("its block left the chain", 1)
		b.mine()
		expect("a block later", 1)
		b.mine(more)
		expect("it is on the chain again", 0)
		b.reorgTo(1)
		expect("it left the chain again", 1)
		if open := b.open(); len(open) != 0 {
			t.Errorf("%d transfers are open, want none", len(open))
		}
	})
}
