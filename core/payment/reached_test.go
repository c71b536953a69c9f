package payment_test

import (
	"slices"
	"testing"

	"cointill/core/payment"
)

// TestReached: each state that is committed is told once, and none that was rolled back.
func TestReached(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var told []string
		b.service.Reached = func(c payment.Change) {
			if c.Payment.Reference == "" || c.Began.IsZero() {
				t.Errorf("%+v", c)
			}
			told = append(told, string(c.From)+" "+c.Payment.Status)
		}
		twice := request()
		twice.BusinessReference = "order-1"
		for range 2 { // the second is refused in its transaction
			_, _ = b.service.Initiate(t.Context(), b.scope, twice)
		}
		v := b.opened()
		b.mine(b.pay(v, "tx", v.Payment.Due))
		b.mine()
		b.mine()
		want := []string{" pending", " pending", "pending initiated", "initiated processing", "processing successful"}
		if !slices.Equal(told, want) {
			t.Errorf("%q, want %q", told, want)
		}
	})
}
