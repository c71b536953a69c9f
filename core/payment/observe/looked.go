package observe

import (
	"context"
	"log/slog"
	"time"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/models"
)

// Looked implements chain.Store: it decides the payments whose deadline a look at the
// network's end shows to have passed. While none waits for that, it writes nothing.
func (o *Observer) Looked(ctx context.Context, batch chain.Batch) error {
	network := string(batch.Network)
	var waiting []int64
	for _, due := range []string{payment.DueRead, payment.DueReadElsewhere} {
		if err := o.DB.Read(ctx).Model(&models.Payment{}).Where(due, network, batch.Read).Limit(1).
			Pluck("id", &waiting).Error; err != nil {
			return err
		}
		if len(waiting) > 0 {
			break
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	// A look from another block than the last applied one says nothing of this one.
	cursor := o.DB.Exec(ctx).Model(&models.ChainCursor{}).Where("network = ? AND fence <= ? AND hash = ?", network,
		batch.Fence, batch.From.Hash).
		Where("read_until IS NULL OR read_until <= ?", batch.Read).Update("read_until", batch.Read)
	if cursor.RowsAffected > 0 {
		o.evaluatePayments(ctx, network, 0, batch.Read, nil)
	}
	return cursor.Error
}

// evaluatePayments brings payments to where the facts put them. One that can't be decided now
// stays due, and is no fault of the network's.
func (o *Observer) evaluatePayments(ctx context.Context, network string, tip int64, read time.Time, touched []int64) {
	if err := o.EvaluateDue(ctx, network, tip, read, touched); err != nil && ctx.Err() == nil {
		slog.ErrorContext(ctx, "some payments could not be decided; they are tried again", "network", network, "error",
			err)
	}
	o.SignalChange()
}
