package send

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send/payer"
	"cointill/models"
)

// Evaluate brings a send to where the facts put it.
func (s *Evaluator) Evaluate(ctx context.Context, id int64) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		var row models.Send
		if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
			return err
		}
		if row.Status == string(AwaitingApproval) { // the first lock, as for approvals
			if err := payer.LockBusiness(tx, scope.Scope{BusinessID: row.BusinessID}); err != nil {
				return err
			}
		}
		v, err := s.loadCurrent(tx, id)
		if err != nil || v.State() != AwaitingApproval {
			return err
		}
		return s.evaluateApproval(ctx, tx, v)
	})
}

// evaluateApproval makes an approved send ready whose address has waited.
func (s *Evaluator) evaluateApproval(ctx context.Context, tx *models.Tx, v *View) error {
	sc := scope.Scope{BusinessID: v.Send.BusinessID, Domain: scope.Domain(v.Send.Domain), Role: scope.System}
	q, err := s.readPrices(ctx, sc, v.Send)
	if err != nil {
		return err
	}
	row := v.Send
	var refused *fault.Fault
	err = s.makeReady(tx, v, q, approval{actor: "system"})
	if !errors.As(err, &refused) || refused.Kind != fault.Conflict {
		return err
	}
	retry := s.Clock().Add(payment.RetryDelay) // until the limit of 24 hours has room for it
	row.DueAt = &retry
	if refused.Code == "nothing_to_refund" { // a person decides what to do with it
		row.DueAt = nil
	}
	return s.saveSend(tx, &row)
}

// evaluateAll evaluates sends, each in a transaction of its own. One that fails is tried again.
func (s *Evaluator) evaluateAll(ctx context.Context, ids []int64) error {
	var errs []error
	for _, id := range ids {
		if err := s.Evaluate(ctx, id); err != nil {
			errs = append(errs, err, s.DB.Exec(ctx).Model(&models.Send{}).Where("id = ?", id).
				Update("due_at", s.Clock().Add(payment.RetryDelay)).Error)
		}
	}
	return errors.Join(errs...)
}

// Sweep evaluates sends whose deadline has passed, and those that a crash left marked. It returns
// how many it read.
func (s *Evaluator) Sweep(ctx context.Context) (int, error) {
	var ids []int64
	err := s.DB.Read(ctx).Model(&models.Send{}).Where("due_at IS NOT NULL AND due_at <= ?", s.Clock()).
		Order("due_at").Limit(sweepBatch).Pluck("id", &ids).Error
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	err = s.evaluateAll(ctx, ids)
	s.Changed()
	return len(ids), err
}

// EvaluateDue evaluates the touched sends, and those whose due height a network has reached.
func (s *Evaluator) EvaluateDue(ctx context.Context, network string, tip int64, touched []int64) error {
	var due []int64
	err := s.DB.Read(ctx).Model(&models.Send{}).Where("network = ? AND due_height IS NOT NULL AND due_height <= ?",
		network, tip).Order("due_height").Limit(sweepBatch).Pluck("id", &due).Error
	return errors.Join(err, s.evaluateAll(ctx, append(touched, due...)))
}

// RunSweeps sweeps every interval until the context ends.
func (s *Evaluator) RunSweeps(ctx context.Context, interval time.Duration) error {
	return clock.RunEvery(ctx, interval, func() {
		if _, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "sweep of sends failed", "error", err)
		}
	})
}
