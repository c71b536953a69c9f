package list

import (
	"context"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// Need is why a payment waits for a person.
type Need string

// What payments wait for; "" is all payments, whether they wait or not.
const (
	NeedDecision Need = "decision" // Declined, and neither accepted nor refunded yet
	NeedLook     Need = "reversed" // reversed on the chain after it was final, and not closed yet
)

// narrowQuery narrows a query to payments with this need. Indexes exist for its conditions.
func (n Need) narrowQuery(query *models.Tx) *models.Tx {
	switch n {
	case NeedDecision:
		return query.Where("status = 'declined' AND resolved_at IS NULL")
	case NeedLook:
		return query.Where("reversed").Where("resolved_at IS NULL")
	}
	return query
}

// CountedTo is the largest number that Waiting counts exactly.
const CountedTo = 1000

// Waiting is how much waits for a person, each counted up to one more than CountedTo.
type Waiting struct {
	Decisions int64 // declined payments
	Reversed  int64 // payments
	Unmatched int64 // transfers
}

// Waiting holds how many payments and transfers need a person, each counted up to one more
// than CountedTo.
func (s *Service) Waiting(ctx context.Context, sc scope.Scope) (w Waiting, err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return w, err
	}
	list := s.DB.List(ctx)
	some := func(query *models.Tx) (n int64, err error) {
		err = list.Table("(?) AS few", query.Select("id").Limit(CountedTo+1)).Count(&n).Error
		return n, err
	}
	if w.Decisions, err = some(NeedDecision.narrowQuery(sc.Rows(list.Model(&models.Payment{})))); err != nil {
		return w, err
	}
	if w.Reversed, err = some(NeedLook.narrowQuery(sc.Rows(list.Model(&models.Payment{})))); err != nil {
		return w, err
	}
	w.Unmatched, err = some(sc.Rows(list.Model(&models.Transfer{})).Where(payment.OpenTransfers))
	return w, err
}
