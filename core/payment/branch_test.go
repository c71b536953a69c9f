package payment_test

import (
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
)

// TestAnotherBranch: what a transaction moves on the branch that wins counts, not
// what it moved on the one that was undone: a contract may decide by its block.
func TestAnotherBranch(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		less, elsewhere, more := b.opened(), b.opened(), b.opened()
		first := b.pay(less, "aa", less.Payment.Due)
		b.mine(first)
		b.expect(less.Payment.Reference, payment.Processing, "")
		second := first
		second.Amount = money.Units(1)
		b.reorgTo(1, second)
		if v := b.expect(less.Payment.Reference, payment.Processing, ""); v.Payment.Paid.Cmp(second.Amount) != 0 || len(v.Transfers) != 1 {
			t.Errorf("paid %s by %+v", v.Payment.Paid, v.Transfers)
		}

		there := b.pay(elsewhere, "bb", elsewhere.Payment.Due)
		b.mine(there)
		b.expect(elsewhere.Payment.Reference, payment.Processing, "")
		b.reorgTo(1, b.pay(more, "bb", more.Payment.Due))
		b.mine()
		b.mine()
		b.expect(elsewhere.Payment.Reference, payment.Initiated, payment.Reorged)
		b.expect(more.Payment.Reference, payment.Successful, "")
		if v := b.view(elsewhere.Payment.Reference); len(v.Transfers) != 0 || v.Payment.Paid.Sign() != 0 {
			t.Errorf("it still has %s by %+v", v.Payment.Paid, v.Transfers)
		}
	})
}
