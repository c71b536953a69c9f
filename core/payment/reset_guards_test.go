package payment_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// TestResetDetachesEachTransfer checks of each kind of transfer whether it is gone after its network
// was reset, since when and why, and that none is in an old block.
func TestResetDetachesEachTransfer(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ended, open := b.paid("ended"), b.opened()
		before := b.clock.Now().Add(-time.Hour)
		kinds := map[string]struct {
			columns map[string]any
			want    string // the reason, whether it has a height, and since when it is gone
		}{
			"counted":    {map[string]any{}, "reorged false now"},
			"attached":   {map[string]any{"resolution": payment.Attached}, "reorged false now"},
			"unmatched":  {map[string]any{"unmatched": payment.WrongAsset}, "reorged false now"},
			"refunded":   {map[string]any{"unmatched": payment.WrongAsset, "resolution": payment.Refunded}, " true never"},
			"waiting":    {map[string]any{"height": nil, "block_hash": ""}, "dropped false now"},
			"dropped":    {map[string]any{"height": nil, "block_hash": "", "gone": true, "gone_reason": payment.Dropped, "gone_at": before}, "dropped false before"},
			"conflicted": {map[string]any{"height": nil, "block_hash": "", "gone": true, "gone_reason": payment.Replaced, "gone_at": before, "conflict_tx": "rival", "conflict_height": 3}, "replaced false before"},
			"ended":      {nil, " true never"},
		}
		for name, kind := range kinds {
			if kind.columns != nil {
				b.mine(b.pay(open, name, money.Units(7)))
			}
		}
		for name, kind := range kinds {
			if len(kind.columns) > 0 {
				b.set(&models.Transfer{}, b.transfer(name).ID, kind.columns)
			}
		}
		b.unbooked = true // the test changed rows itself
		b.clock.Advance(time.Minute)
		if known, err := b.observer.ResetNetwork(t.Context(), network); err != nil || !known {
			t.Fatalf("the reset returns %v, error %v; want that the network was known", known, err)
		}
		for name, kind := range kinds {
			row, since := b.transfer(name), "never"
			switch {
			case row.GoneAt != nil && row.GoneAt.Equal(b.clock.Now()):
				since = "now"
			case row.GoneAt != nil && row.GoneAt.Equal(before):
				since = "before"
			}
			if got := fmt.Sprint(row.GoneReason, " ", row.Height != nil, " ", since); got != kind.want || row.Gone != (since != "never") {
				t.Errorf("a transfer that was %s is %q after the reset, gone: %v; want %q", name, got, row.Gone, kind.want)
			}
			if row.BlockHash != "" || row.ConflictTx != "" || row.ConflictHeight != nil {
				t.Errorf("a transfer that was %s is in block %q in conflict with %q at %v, want no block", name, row.BlockHash, row.ConflictTx, row.ConflictHeight)
			}
		}
		if got := b.view(open.Payment.Reference).Payment; got.DueAt == nil || !got.DueAt.Equal(b.clock.Now()) {
			t.Errorf("the open payment is due at %v, want now", got.DueAt)
		}
		if got := b.view(ended.Payment.Reference).Payment; got.DueAt != nil {
			t.Errorf("the ended payment is due at %v, want no time", got.DueAt)
		}
		if known, err := b.observer.ResetNetwork(t.Context(), network); err != nil || known {
			t.Errorf("a second reset returns %v, error %v; want that nothing was read since", known, err)
		}
	})
}
