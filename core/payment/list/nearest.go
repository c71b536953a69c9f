package list

import (
	"context"
	"slices"
	"time"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

const (
	// nearestSince is how long before a transfer the payments that it may be for began.
	nearestSince = 3 * 24 * time.Hour
	// nearestRead bounds how many payments of a state are compared with a transfer, the newest first.
	nearestRead = 2_000
)

// FindNearest lists payments to the one address of the business that a transfer with another amount may be for, the
// nearest amount first. They are open, or were abandoned lately. Faults: Forbidden.
func (s *Service) FindNearest(ctx context.Context, sc scope.Scope, t models.Transfer, most int) ([]models.Payment,
	error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	var near []models.Payment
	for _, state := range []payment.State{payment.Initiated, payment.Processing, payment.Abandoned} {
		var some []models.Payment
		err := sc.Rows(s.DB.List(ctx)).Where("status = ? AND created_at >= ? AND created_at <= ?", string(state),
			t.FirstSeenAt.Add(-nearestSince), t.FirstSeenAt).
			Where("exact_amount AND address = ? AND coin = ?", t.Address, t.Asset).
			Order("created_at DESC, id DESC").Limit(nearestRead).Find(&some).Error
		if err != nil {
			return nil, err
		}
		near = append(near, some...)
	}
	slices.SortStableFunc(near, func(a, b models.Payment) int {
		return a.Due.Sub(t.Amount).Abs().Cmp(b.Due.Sub(t.Amount).Abs())
	})
	return near[:min(len(near), most)], nil
}
