package payment_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/payment"
)

// TestAnyHeight (BTC-6): which payment money is for is a matter of its address, never of
// the height: also below the block that was newest when the payment was opened, where
// another branch may put it.
func TestAnyHeight(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for replaced := range 3 { // the block above the newest one, that one, and the one below
			b.mine()
			b.mine()
			newest := int64(len(b.blocks))
			v := b.opened()
			tx := b.pay(v, fmt.Sprintf("%02x", 0xa0+replaced), v.Payment.Due)
			b.reorgTo(replaced, tx)
			b.mine()
			got := b.expect(v.Payment.Reference, payment.Successful, "")
			if len(got.Transfers) != 1 || got.Transfers[0].Height == nil || *got.Transfers[0].Height != newest+1-int64(replaced) {
				t.Errorf("opened at %d, %d replaced: %+v", newest, replaced, got.Transfers)
			}
		}
	})
}

// TestEndsInEitherOrder (T-5): a payment comes to the same whether its window's end was
// noticed before the day's end, together with it, or not at all.
func TestEndsInEitherOrder(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		want := map[bool]string{false: "expired expired", true: "abandoned initiated abandoned"}
		for _, looks := range [][]time.Duration{
			{payment.Window + time.Microsecond, payment.Monitoring + time.Microsecond},
			{payment.Monitoring + time.Microsecond},
			{payment.Monitoring + time.Microsecond, payment.Monitoring + time.Microsecond},
		} {
			never, opened := b.initiate(), b.opened()
			begun := b.clock.Now()
			for _, at := range looks {
				b.clock.Advance(begun.Add(at).Sub(b.clock.Now()))
				b.tick()
			}
			for wasOpened, reference := range map[bool]string{false: never.Reference, true: opened.Payment.Reference} {
				v := b.view(reference)
				if got := fmt.Sprint(v.State()) + " " + b.events(v.Payment.ID); got != want[wasOpened] {
					t.Errorf("opened %v, looked at after %s: %q", wasOpened, looks, got)
				}
			}
		}
	})
}
