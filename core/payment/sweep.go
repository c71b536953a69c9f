package payment

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cointill/models"
)

// sweepBatch bounds how many due payments one look takes.
const sweepBatch = 200

// Sweep lets deadlines that have passed take effect, and finishes what a crash
// left marked. It returns how many payments it looked at.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	var ids []int64
	err := s.DB.Read(ctx).Model(&models.Payment{}).Where("due_at IS NOT NULL AND due_at <= ?", s.Clock()).
		Order("due_at").Limit(sweepBatch).Pluck("id", &ids).Error
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.evaluateAll(ctx, ids)
	s.changed()
	return len(ids), err
}

// RunSweeps sweeps every interval until the context ends.
func (s *Service) RunSweeps(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		n, err := s.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "sweep of deadlines failed", "error", err)
		}
		if err == nil && n == sweepBatch {
			continue // there are more
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// evaluateDue brings the touched payments, and those whose due height the
// network has reached, to where the facts put them.
func (s *Service) evaluateDue(ctx context.Context, network string, tip int64, touched []int64) error {
	failed := s.evaluateAll(ctx, touched)
	for after := int64(0); ; {
		var ids []int64
		err := s.DB.Read(ctx).Model(&models.Payment{}).Where("network = ? AND due_height IS NOT NULL AND due_height <= ? AND id > ?", network, tip, after).
			Order("id").Limit(sweepBatch).Pluck("id", &ids).Error
		if err != nil || len(ids) == 0 {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, s.evaluateAll(ctx, ids))
		after = ids[len(ids)-1]
	}
}

// setback is how long a payment that can't be evaluated waits for its next
// turn, so that it doesn't take the others' place.
const setback = 30 * time.Second

// postpone lets a payment that could not be evaluated wait, still due.
func (s *Service) postpone(ctx context.Context, id int64) error {
	return s.DB.Exec(ctx).Model(&models.Payment{}).Where("id = ?", id).Update("due_at", s.Clock().Add(setback)).Error
}

// evaluateAll evaluates each payment in a transaction of its own. One that
// fails doesn't hold up the others; it is tried again later.
func (s *Service) evaluateAll(ctx context.Context, ids []int64) error {
	var errs []error
	for _, id := range ids {
		if err := s.Evaluate(ctx, id); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			errs = append(errs, err, s.postpone(ctx, id))
		}
	}
	return errors.Join(errs...)
}
