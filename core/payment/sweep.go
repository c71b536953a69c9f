package payment

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"cointill/core/clock"
	"cointill/models"
)

// sweepBatch bounds how many due payments one sweep reads.
const sweepBatch = 200

// Sweep applies the deadlines of payments that were never opened, decides payments of networks
// that are not followed any more, and finishes payments that a crash left marked. Other
// deadlines pass when their network was read up to them (observe.Observer.Looked). It returns
// how many due payments it read.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	if err := s.sweepUnfollowed(ctx); err != nil {
		return 0, err
	}
	var ids []int64
	err := s.DB.Read(ctx).Model(&models.Payment{}).Where("due_at IS NOT NULL AND due_at <= ?", s.Clock()).
		Order("due_at").Limit(sweepBatch).Pluck("id", &ids).Error
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.evaluateAll(ctx, ids)
	s.SignalChange()
	return len(ids), err
}

// RunSweeps sweeps every interval until the context ends.
func (s *Service) RunSweeps(ctx context.Context, interval time.Duration) error {
	return clock.RunEvery(ctx, interval, func() {
		n, err := s.Sweep(ctx)
		for err == nil && n == sweepBatch { // there are more
			n, err = s.Sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "sweep of deadlines failed", "error", err)
		}
	})
}

// EvaluateDue decides the touched payments, the payments whose due height the network has
// reached, and those up to whose due time it was read.
func (s *Service) EvaluateDue(ctx context.Context, network string, tip int64, read time.Time, touched []int64) error {
	return errors.Join(s.evaluateAll(ctx, touched),
		s.EvaluateEach(ctx, dueHeight, network, tip), s.EvaluateEach(ctx, matchFurtherNetworks(dueHeight), network, tip),
		evaluateRead(ctx, s, network, read))
}

// evaluateRead decides the payments whose deadline passes when a network was read until a moment.
func evaluateRead(ctx context.Context, s *Service, network string, read time.Time) error {
	return errors.Join(s.EvaluateEach(ctx, DueRead, network, read),
		s.EvaluateEach(ctx, DueReadElsewhere, network, read))
}

// dueHeight is the condition of an index: payments that confirmations may decide at a height of a network.
const dueHeight = "network = ? AND due_height IS NOT NULL AND due_height <= ?"

// DueRead is the condition of an index: payments whose deadline passes when their
// network was read until a moment.
const DueRead = "network = ? AND due_read IS NOT NULL AND due_read <= ?"

// DueReadElsewhere is the same for further networks of payments.
var DueReadElsewhere = matchFurtherNetworks(DueRead)

// matchFurtherNetworks turns a condition of payments into the one of their further networks.
func matchFurtherNetworks(condition string) string {
	return "id IN (SELECT payment_id FROM payment_networks WHERE " + condition + ")"
}

// EvaluateEach evaluates all payments of a condition.
func (s *Service) EvaluateEach(ctx context.Context, condition string, of ...any) (failed error) {
	for after := int64(0); ; {
		var ids []int64
		err := s.DB.Read(ctx).Model(&models.Payment{}).Where(condition, of...).Where("id > ?", after).
			Order("id").Limit(sweepBatch).Pluck("id", &ids).Error
		if err != nil || len(ids) == 0 {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, s.evaluateAll(ctx, ids))
		after = ids[len(ids)-1]
	}
}

// RetryDelay is how long a payment or a send that can't be evaluated waits for its
// next turn, so that it doesn't take the others' place.
const RetryDelay = 30 * time.Second

// postponeEvaluation lets a payment that could not be evaluated wait, still due.
func postponeEvaluation(tx *models.Tx, now time.Time, id int64) error {
	set := map[string]any{"due_at": now.Add(RetryDelay), "due_read": nil} // not at every look at its network
	return errors.Join(tx.Model(&models.Payment{}).Where("id = ?", id).Updates(set).Error,
		tx.Model(&models.PaymentNetwork{}).Where("payment_id = ?", id).Update("due_read", nil).Error)
}

// evaluatedTogether is how many payments are evaluated in one transaction.
const evaluatedTogether = 10

// evaluateAll evaluates payments, several in one transaction. When that fails, each is evaluated in
// a transaction of its own: one that fails doesn't hold up the others, and is tried again later.
func (s *Service) evaluateAll(ctx context.Context, ids []int64) error {
	var errs []error
	for some := range slices.Chunk(ids, evaluatedTogether) {
		err := s.Evaluate(ctx, some...)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case len(some) == 1:
			errs = append(errs, err, postponeEvaluation(s.DB.Exec(ctx), s.Clock(), some[0]))
		default:
			slog.WarnContext(ctx, "payments are evaluated one by one", "payments", len(some), "error", err)
			for _, id := range some {
				errs = append(errs, s.evaluateAll(ctx, []int64{id}))
			}
		}
	}
	return errors.Join(errs...)
}
