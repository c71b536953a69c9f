package payment

import (
	"context"
	"log/slog"
	"time"

	"cointill/chain"
	"cointill/models"
)

// unfollowedGrace is how long a network may be left out of the configuration, beyond a
// payment's deadline, before the payment is decided by what is known of it: nobody
// will read more. A network that is followed, and only out, is waited for without end.
const unfollowedGrace = 7 * 24 * time.Hour

// readUntil is the moment until which a payment's network was read, on the payment's
// own clock; read is what was written of that.
func (s *Service) readUntil(v View, read *time.Time) (until time.Time) {
	if v.Payment.Advanced > 0 {
		return v.Now // its clock was moved: see advance
	}
	if until = s.countedAsRead(v.Payment.Network); read != nil && read.After(until) {
		until = *read
	}
	return until
}

// countedAsRead is the moment until which a network counts as read whether anybody did or
// not; zero for one that is followed.
func (s *Service) countedAsRead(network string) time.Time {
	if s.Networks.Followed(network) {
		return time.Time{}
	}
	return s.Clock().Add(-unfollowedGrace)
}

// Looked implements chain.Store: it decides the payments whose deadline a look at the
// network's end shows to have passed. While none waits for that, it writes nothing.
func (o *Observer) Looked(ctx context.Context, batch chain.Batch) error {
	network := string(batch.Network)
	var waiting []int64
	err := o.DB.Read(ctx).Model(&models.Payment{}).Where(dueRead, network, batch.Read).Limit(1).Pluck("id", &waiting).Error
	if err != nil || len(waiting) == 0 {
		return err
	}
	// What was seen from another block than the last applied one says nothing of this one.
	cursor := o.DB.Exec(ctx).Model(&models.ChainCursor{}).Where("network = ? AND fence <= ? AND hash = ?", network, batch.Fence, batch.From.Hash).
		Where("read_until IS NULL OR read_until <= ?", batch.Read).Update("read_until", batch.Read)
	if cursor.Error == nil && cursor.RowsAffected > 0 {
		o.evaluatePayments(ctx, network, 0, batch.Read, nil)
	}
	return cursor.Error
}

// evaluatePayments brings payments to where the facts put them. One that can't be decided now
// stays due, and is no fault of the network's.
func (o *Observer) evaluatePayments(ctx context.Context, network string, tip int64, read time.Time, touched []int64) {
	if err := o.evaluateDue(ctx, network, tip, read, touched); err != nil && ctx.Err() == nil {
		slog.ErrorContext(ctx, "some payments could not be decided; they are tried again", "network", network, "error", err)
	}
	o.signalChange()
}

// sweepUnfollowed decides payments of networks that nobody follows any more.
func (s *Service) sweepUnfollowed(ctx context.Context) error {
	var networks []string // a handful
	if err := s.DB.Read(ctx).Model(&models.ChainCursor{}).Pluck("network", &networks).Error; err != nil {
		return err
	}
	for _, network := range networks {
		until := s.countedAsRead(network)
		if until.IsZero() {
			continue
		}
		if err := s.evaluateEach(ctx, dueRead, network, until); err != nil {
			return err
		}
	}
	return nil
}
