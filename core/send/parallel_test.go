package send_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestUnmatchedMoneyIsRefundedOnce (SD-2) asks for the whole of an unmatched transfer from many sides at once.
func TestUnmatchedMoneyIsRefundedOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		stray := o.stray("cc", nil, money.Units(100_000))
		var asked sync.WaitGroup
		var made atomic.Int64
		for range 60 {
			asked.Go(func() {
				if _, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, TransferID: stray.ID,
					Address: recipient}); err == nil {
					made.Add(1)
				}
			})
		}
		asked.Wait()
		if made.Load() != 1 {
			t.Errorf("60 requests at once made %d refunds of all the money, want 1", made.Load())
		}
	})
}
