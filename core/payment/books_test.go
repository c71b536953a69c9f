package payment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/refund"
	"cointill/models"
)

// posted returns the entries of a payment, in short.
func (b *bench) posted(v payment.View) (list []string) {
	b.t.Helper()
	var rows []models.JournalEntry
	if err := b.db.Read(b.t.Context()).Where("payment_id = ?", v.Payment.ID).Order("id").Find(&rows).Error; err != nil {
		b.t.Fatal(err)
	}
	for _, e := range rows {
		list = append(list, fmt.Sprintf("%s→%s %s %s %d", e.Debit, e.Credit, e.Amount, e.Currency, e.Value))
	}
	return list
}

// TestBooksOfAPayment: what is posted for an exact payment of NGN 50,000 with a crumb, that a
// reorganisation takes back and gives again.
func TestBooksOfAPayment(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due.String()
		pays := b.pay(v, "aa", v.Payment.Due)
		crumb := b.pay(v, "bb", money.Units(330))
		b.mine(pays, crumb)
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		b.reorg(2, &chain.Pending{})
		b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		b.mine(pays)
		want := []string{"wallet→pending " + due + " NGN 5000000", "wallet→pending 330 NGN 29649",
			"pending→sales " + due + " NGN 5000000", "pending→unmatched 330 NGN 29649",
			"reversed→wallet " + due + " NGN 5000000", "unmatched→wallet 330 NGN 29649",
			"wallet→reversed " + due + " NGN 5000000"}
		if got := b.posted(v); !slices.Equal(got, want) {
			t.Errorf("posted %q, want %q", got, want)
		}
	})
}

// TestKeptTransfersArePostedOnce checks that a transfer which a new branch holds too isn't posted again, and
// that what a sold one moved is reversed when the new branch moves another amount.
func TestKeptTransfersArePostedOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due.String()
		pays := b.pay(v, "aa", v.Payment.Due)
		want := []string{"wallet→pending " + due + " NGN 5000000"}
		posts := func(when string) {
			t.Helper()
			if got := b.posted(v); !slices.Equal(got, want) {
				t.Errorf("%s it has posted %q, want %q", when, got, want)
			}
		}
		b.mine(pays)
		b.reorgTo(1, pays)
		b.expect(v.Payment.Reference, payment.Successful, "")
		want = append(want, "pending→sales "+due+" NGN 5000000")
		posts("on a new branch with the transfer")
		b.reorgTo(2, pays)
		b.expect(v.Payment.Reference, payment.Successful, "")
		posts("on a second one")
		pays.Amount = money.Units(330)
		b.reorgTo(3, pays)
		b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		want = append(want, "reversed→wallet "+due+" NGN 5000000", "wallet→unmatched 330 NGN 29649")
		posts("on a branch with another amount")
	})
}

// TestOnlyChangedTransfersArePosted checks a new branch that changes the transfer of one of two payments.
func TestOnlyChangedTransfersArePosted(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		same := b.opened()
		changed := b.pay(b.opened(), "changed", money.Units(500))
		keeps := b.pay(same, "keeps", same.Payment.Due)
		b.mine(changed, keeps)
		b.mine()
		before := b.posted(same)
		changed.Amount = money.Units(600)
		b.reorgTo(2, changed, keeps)
		if got := b.posted(same); !slices.Equal(got, before) {
			t.Errorf("a payment whose transfer the new branch keeps has posted %q, want %q", got, before)
		}
	})
}

// TestDroppedTransferIsNeverCounted checks a new branch that holds a transfer which was dropped before the payment
// ended: before the transfers that the payment ended with, after them, and without them. It is surplus, and theirs
// stay sales.
func TestDroppedTransferIsNeverCounted(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due.String()
		crumb, pays := b.pay(v, "crumb", v.Payment.Due.MulDiv(2, 5)), b.pay(v, "pays", v.Payment.Due)
		b.pool(nil, crumb)
		b.pool(nil)
		b.mine(pays)
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		want := []string{"wallet→pending " + due + " NGN 5000000", "pending→sales " + due + " NGN 5000000"}
		const left, came = "reversed→wallet ", "wallet→reversed "
		surplus := " " + crumb.Amount.String() + " NGN 1999964"
		for i, branch := range []struct {
			transfers []chain.Transfer
			reason    payment.Reason
			posted    []string
		}{
			{[]chain.Transfer{crumb, pays}, "", []string{"wallet→unmatched" + surplus}},
			{nil, payment.ReversedReason, []string{"unmatched→wallet" + surplus, left + due + " NGN 5000000"}},
			{[]chain.Transfer{crumb}, payment.ReversedReason, []string{"wallet→unmatched" + surplus}},
			{[]chain.Transfer{pays, crumb}, "", []string{came + due + " NGN 5000000"}},
		} {
			b.reorgTo(2+i, branch.transfers...) // the whole branch before
			b.expect(v.Payment.Reference, payment.Successful, branch.reason)
			if row := b.transfer("crumb"); row.Unmatched != payment.AfterFinal {
				t.Errorf("the transfer that was dropped is unmatched as %q, want %q", row.Unmatched, payment.AfterFinal)
			}
			if row := b.transfer("pays"); row.Unmatched != "" {
				t.Errorf("the transfer that the payment ended with is unmatched as %q, want it counted", row.Unmatched)
			}
			want = append(want, branch.posted...)
			if got := b.posted(v); !slices.Equal(got, want) {
				t.Errorf("posted %q, want %q", got, want)
			}
		}
	})
}

// TestDeclinedPaymentKeepsItsMoney checks the same for a declined payment: what it ended with is its own when it
// returns, although a transfer that was dropped before came first.
func TestDeclinedPaymentKeepsItsMoney(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		crumb, pays := b.pay(v, "crumb", money.Units(5)), b.pay(v, "pays", v.Payment.Due.MulDiv(3, 5))
		b.pool(nil, crumb)
		b.pool(nil)
		b.mine(pays)
		b.mine()
		b.clock.Advance(payment.Window + time.Second)
		b.tick()
		b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
		b.reorgTo(2)
		b.mine(crumb)
		b.mine(pays)
		for txid, want := range map[string]journal.Account{"crumb": journal.Unmatched, "pays": journal.Declined} {
			if row := b.transfer(txid); row.Booked != string(want) || (row.Unmatched == "") != (want == journal.Declined) {
				t.Errorf("%s is booked as %q and unmatched as %q, want it in account %s", txid, row.Booked, row.Unmatched, want)
			}
		}
		if got := b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid); got.Payment.Paid.Cmp(pays.Amount) != 0 {
			t.Errorf("the payment received %s, want %s", got.Payment.Paid, pays.Amount)
		}
	})
}

// TestValuesOfParts: the values of parts add up to the amount received, although each is rounded.
func TestValuesOfParts(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		third := v.Payment.Due.MulDiv(1, 3)
		rest := v.Payment.Due.Sub(third).Sub(third)
		b.mine(b.pay(v, "aa", third), b.pay(v, "bb", third), b.pay(v, "cc", rest))
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		var sold int64
		if err := b.db.Read(t.Context()).Model(&models.JournalEntry{}).Where("credit = 'sales'").
			Select("SUM(value)").Scan(&sold).Error; err != nil || sold != 5_000_000 {
			t.Errorf("sold for %d hundredths (%v), want 5000000", sold, err)
		}
	})
}

// forgetBooks brings the database to what a release without books would have left.
func (b *bench) forgetBooks() {
	b.t.Helper()
	unguard, guard := "DROP TRIGGER journal_entries_delete", "SELECT 1"
	if b.db.Postgres() {
		unguard = "ALTER TABLE journal_entries DISABLE TRIGGER journal_entries_guard"
		guard = "ALTER TABLE journal_entries ENABLE TRIGGER journal_entries_guard"
	}
	for _, statement := range []string{unguard, "DELETE FROM journal_entries", guard, "DELETE FROM unsummed_entries",
		"DELETE FROM journal_day_sums", "DELETE FROM journal_month_sums", "UPDATE transfers SET booked = '', booked_value = 0"} {
		if err := b.db.Exec(b.t.Context()).Exec(statement).Error; err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestBooksOfAnEarlierRelease: what was recorded before there were books is booked once, on the
// days of its facts, and the books agree with the records.
func TestBooksOfAnEarlierRelease(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		refunded := b.underpaid("r1", 1000)
		if _, err := b.resolver.RecordRefund(t.Context(), b.owner(), refunded.Payment.Reference,
			refund.Report{Amount: "0.00000500", Note: "cash"}); err != nil {
			t.Fatal(err)
		}
		accepted := b.underpaid("a1", 1000)
		if err := b.resolver.Resolve(t.Context(), b.owner(), accepted.Payment.Reference); err != nil {
			t.Fatal(err)
		}
		parts := b.opened()
		third := parts.Payment.Due.MulDiv(1, 3)
		b.mine(b.pay(parts, "d1", third), b.pay(parts, "d2", third), b.pay(parts, "d3", parts.Payment.Due.Sub(third).Sub(third)))
		b.mine()
		surplus := b.opened()
		b.mine(b.pay(surplus, "s1", surplus.Payment.Due), b.pay(surplus, "s2", money.Units(700)))
		b.mine()
		returned := b.stray("x1", money.Units(900))
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), returned.ID, refund.Report{Note: "by hand"}))
		b.clock.Advance(24 * time.Hour)
		b.tick()
		running := b.opened()
		b.mine(b.pay(running, "p1", running.Payment.Due))
		reversed := b.opened()
		b.mine(b.pay(reversed, "v1", reversed.Payment.Due))
		b.mine()
		b.reorg(2, &chain.Pending{})
		b.expect(reversed.Payment.Reference, payment.Successful, payment.ReversedReason)
		waits := b.opened()
		b.pool(nil, b.pay(waits, "w1", waits.Payment.Due)) // in no block, and in no books
		b.forgetBooks()
		count := 0
		for range 2 {
			must(t, books.PrepareBooks(t.Context(), b.db, b.clock.Now, func(booked int) { count = booked }))
			journaltest.Check(t, b.db)
			if count == 0 {
				t.Error("nothing was booked")
			}
		}
		days := map[string][]string{}
		var rows []models.JournalEntry
		if err := b.db.Read(t.Context()).Order("id").Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, e := range rows {
			days[e.BookedOn] = append(days[e.BookedOn], e.Debit+"→"+e.Credit)
		}
		sold := string(journal.Wallet) + "→" + string(journal.Sales)
		if first, second := days["2026-03-01"], days["2026-03-02"]; len(days) != 2 ||
			!slices.Contains(first, sold) || !slices.Contains(second, "reversed→wallet") {
			t.Errorf("booked on the days %v", days)
		}
	})
}

// TestValueIsRoundedHalfToEven: a value between two hundredths is the even one.
func TestValueIsRoundedHalfToEven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paid int64
		want string
	}{{995, "1"}, {985, "0.98"}, {984, "0.98"}, {986, "0.99"}, {1005, "1"}, {1015, "1.02"}, {0, "0"}} {
		v := payment.View{Payment: models.Payment{Amount: 1, Due: money.Units(1000), Paid: money.Units(c.paid)}}
		if got := v.PaidFiat().String(); got != c.want {
			t.Errorf("%d of 1,000 units for 1 USD are %s USD, want %s", c.paid, got, c.want)
		}
	}
}

// TestMoreTransfersThanABatchAreBooked checks that one call books all transfers, however many.
func TestMoreTransfersThanABatchAreBooked(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		rows, height := make([]models.Transfer, 501), int64(1)
		for i := range rows {
			rows[i] = models.Transfer{BusinessID: b.scope.BusinessID, Domain: "test", Network: string(network),
				TxID: fmt.Sprint("many", i), Asset: "BTC", Address: "a", Amount: money.Units(7), Height: &height,
				Unmatched: payment.AfterFinal, FirstSeenAt: b.clock.Now(), CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(rows, 100).Error)
		must(t, b.db.Write(t.Context(), func(tx *models.Tx) error {
			return books.BookTransfers(tx, b.clock.Now(), string(network))
		}))
		var left int64
		if b.count(&left, &models.Transfer{}, "booked <> 'unmatched'"); left > 0 {
			t.Errorf("%d transfers are not booked, want all", left)
		}
	})
}

// TestReversalsOfAnEarlierRelease checks that PrepareBooks sells and reverses what left the chain of each
// reversed payment and nothing else, and returns the error of each of its statements.
func TestReversalsOfAnEarlierRelease(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		first, parts := b.opened(), b.opened()
		half := parts.Payment.Due.MulDiv(1, 2)
		b.pool(nil, b.pay(first, "empty", money.Units(1)), b.pay(first, "dropped", money.Units(1)),
			b.pay(first, "larger", first.Payment.Due.MulDiv(2, 1)), b.pay(parts, "more than left", half.Add(money.Units(1))))
		b.pool(nil)
		b.set(&models.Transfer{}, b.transfer("empty").ID, map[string]any{"amount": "0"})
		b.unbooked = false
		b.mine(b.pay(parts, "kept", half), b.pay(parts, "also kept", money.Units(1)))
		b.mine(b.pay(parts, "left", parts.Payment.Due.Sub(half).Sub(money.Units(1))), b.pay(parts, "surplus", money.Units(900)),
			b.pay(first, "paid", first.Payment.Due))
		b.mine()
		b.reorg(2, &chain.Pending{})
		for _, v := range []payment.View{first, parts} {
			b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
		}
		b.mine(b.pay(parts, "late", money.Units(900))) // unmatched, and in the books
		b.forgetBooks()
		prepare := func() error { return books.PrepareBooks(t.Context(), b.db, b.clock.Now, func(int) {}) }
		must(t, b.db.Write(t.Context(), func(tx *models.Tx) error {
			return books.BookTransfers(tx, b.clock.Now(), string(network))
		}))
		b.failEach(t, []failingCall{{"PrepareBooks", prepare}})
		for _, c := range []struct {
			v    payment.View
			want []string
		}{
			{first, []string{"wallet→sales " + first.Payment.Due.String(), "reversed→wallet " + first.Payment.Due.String()}},
			{parts, []string{"wallet→sales " + half.String(), "wallet→sales 1", "wallet→unmatched 900",
				"wallet→sales " + b.transfer("left").Amount.String(), "reversed→wallet " + b.transfer("left").Amount.String()}},
		} {
			var got []string
			for _, text := range b.posted(c.v) {
				way, _, _ := strings.Cut(text, " NGN")
				got = append(got, way)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("posted is %q, want %q", got, c.want)
			}
		}
	})
}

// TestRefundsOfAnEarlierRelease checks that PrepareBooks books each refund once, and returns the error of
// each of its statements.
func TestRefundsOfAnEarlierRelease(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.underpaid("short", 100)
		for range 2 {
			must(t, b.db.Exec(t.Context()).Create(&models.Resolution{BusinessID: v.Payment.BusinessID, Domain: "test",
				Kind: payment.Refunded, PaymentID: &v.Payment.ID, Asset: "BTC", Amount: money.Units(5), Actor: "user:1",
				CreatedAt: b.clock.Now()}).Error)
		}
		b.failEach(t, []failingCall{{"PrepareBooks", func() error {
			return books.PrepareBooks(t.Context(), b.db, b.clock.Now, func(int) {})
		}}})
		posted := b.posted(v)
		if n := len(posted); !strings.HasPrefix(posted[n-1], "declined→wallet 5 ") || posted[n-1] != posted[n-2] || n != 4 {
			t.Errorf("posted is %q, want two refunds at the end", posted)
		}
	})
}

// TestDaysOfAnEarlierRelease checks that PrepareBooks books money of an ended payment on the day of its end,
// and other money on the day on which it came.
func TestDaysOfAnEarlierRelease(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.clock.Advance(11*time.Hour + 55*time.Minute) // five minutes before midnight
		ended, stray, runs := b.opened(), b.paid("paid"), b.opened()
		b.mine(b.pay(ended, "ended", ended.Payment.Due.Sub(money.Units(100))), b.pay(stray, "stray", money.Units(700)))
		b.mine()
		b.clock.Advance(payment.Window + time.Second)
		b.tick()
		b.expect(ended.Payment.Reference, payment.Declined, payment.Underpaid)
		b.mine(b.pay(runs, "runs", runs.Payment.Due), b.pay(stray, "late", money.Units(700)))
		b.expect(runs.Payment.Reference, payment.Processing, "")
		b.inZone("UTC", b.clock.Now())
		b.forgetBooks()
		must(t, books.PrepareBooks(t.Context(), b.db, b.clock.Now, func(int) {}))
		for name, want := range map[string]string{"ended": "2026-03-02", "stray": "2026-03-01", "paid": "2026-03-01",
			"late": "2026-03-02", "runs": "2026-03-02"} {
			id := b.transfer(name).ID
			var e models.JournalEntry
			must(t, b.db.Read(t.Context()).Where("transfer_id = ?", id).Take(&e).Error)
			if e.HappenedOn != want {
				t.Errorf("%s is booked for %s, want %s", name, e.HappenedOn, want)
			}
		}
	})
}
