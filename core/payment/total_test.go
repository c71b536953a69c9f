package payment_test

import (
	"fmt"
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/models"
)

// TestTotalsOfAFilter checks what the payments of a filter come to.
func TestTotalsOfAFilter(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		paid := b.paid("paid")
		b.underpaid("short", 1000)
		b.opened()
		lists := b.lists()
		all, err := lists.Total(t.Context(), b.scope, list.Filter{})
		must(t, err)
		currency := money.Currency(paid.Payment.Currency)
		if want := 3 * paid.Payment.Amount; all.Payments != 3 || all.Due[currency] != want || all.Sums[currency].Received() != 100*paid.Payment.Amount || all.Sums[currency].Declined <= 0 || all.More {
			t.Errorf("the totals are %+v, want 3 payments, %d due, and only the successful one received, and some held", all, want)
		}
		none, err := lists.Total(t.Context(), b.scope, list.Filter{Reference: "NONE"})
		if err != nil || none.Payments != 0 {
			t.Errorf("a filter without payments has %+v (%v)", none, err)
		}
		one, err := lists.Total(t.Context(), b.scope, list.Filter{States: []payment.State{payment.Declined, payment.Initiated}})
		if err != nil || one.Payments != 2 || one.Sums[currency].Received() != 0 {
			t.Errorf("two payments that received nothing have %+v (%v)", one, err)
		}
	})
}

// TestManyPaymentsHaveNoTotals checks that more payments than a page adds up are not added up.
func TestManyPaymentsHaveNoTotals(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var first models.Payment
		must(t, b.db.Read(t.Context()).Where("reference = ?", b.initiate().Reference).Take(&first).Error)
		rows := make([]models.Payment, list.TotalsOf)
		for i := range rows {
			rows[i] = first
			rows[i].ID, rows[i].Reference, rows[i].BusinessReference = 0, fmt.Sprint("PAY_", i), fmt.Sprint("order-", i)
			rows[i].TokenHash = fmt.Sprint("token-", i)
		}
		must(t, b.db.Exec(t.Context()).Create(rows[1:]).Error)
		at, err := b.lists().Total(t.Context(), b.scope, list.Filter{})
		if err != nil || at.More || at.Payments != list.TotalsOf {
			t.Errorf("%d payments have the totals %+v (%v)", list.TotalsOf, at, err)
		}
		must(t, b.db.Exec(t.Context()).Create(rows[:1]).Error)
		over, err := b.lists().Total(t.Context(), b.scope, list.Filter{})
		if err != nil || !over.More || over.Payments != 0 {
			t.Errorf("one more payment has the totals %+v (%v), want none", over, err)
		}
	})
}
