package delivery

import (
	"context"
	"time"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// Bounds of an order for payments, whose deliveries are made in one transaction.
const (
	MaxResendPayments = 500
	maxAtOnce         = 2000 // deliveries
)

// PaymentsPlan is what an order for payments would do at most.
type PaymentsPlan struct{ Events, Endpoints int }

// PlanPayments counts the events of payments that an order would send. Faults: as CreateForPayments.
func (s *Resends) PlanPayments(ctx context.Context, sc scope.Scope, payments []int64) (PaymentsPlan, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return PaymentsPlan{}, err
	}
	row := models.Resend{BusinessID: sc.BusinessID, Domain: string(sc.Domain)}
	targets, err := readReceivers(s.DB.Read(ctx), sc, row)
	if err != nil {
		return PaymentsPlan{}, err
	}
	events, err := readPaymentEvents(s.DB.Read(ctx), sc, payments)
	return PaymentsPlan{len(events), len(targets)}, err
}

// CreateForPayments orders that the kept events of payments are sent again to every active endpoint that takes
// them, or with failed only those that did not arrive. Deliveries are made at once; they become due in batches, so
// that new events don't wait behind them.
//
// Faults: Forbidden; Invalid for too many payments or events, or none; Conflict when no endpoint would receive
// them or too many orders are open.
func (s *Resends) CreateForPayments(ctx context.Context, sc scope.Scope, payments []int64,
	failed bool) (Resend, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Resend{}, err
	}
	now := s.Clock()
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (Resend, error) {
		row := models.Resend{ID: ident.New("rsd_"), BusinessID: sc.BusinessID, Domain: string(sc.Domain),
			Failed: failed, Payments: len(payments), Actor: sc.Actor, CountedAt: now, CreatedAt: now, QueuedAt: &now}
		err := queuePayments(tx, sc, &row, payments)
		return shownResend(row), err
	})
	if err == nil && made.Made > 0 && s.Wake != nil {
		s.Wake()
	}
	return made, err
}

// queuePayments stores an order for payments with its deliveries.
func queuePayments(tx *models.Tx, sc scope.Scope, row *models.Resend, payments []int64) error {
	targets, err := admitReceivers(tx, sc, *row)
	if err != nil {
		return err
	}
	events, err := readPaymentEvents(tx, sc, payments)
	if err != nil {
		return err
	}
	rows, err := pairsOf(tx, row.CreatedAt, *row, events, targets)
	if err != nil {
		return err
	}
	if len(rows) > maxAtOnce {
		return errTooManyPayments()
	}
	for i := range rows {
		rows[i].DueAt = row.CreatedAt.Add(time.Duration(i/resendBatch) * resendRest)
	}
	if row.Made, err = webhook.QueueDeliveries(tx, row.CreatedAt, rows, *row); err != nil {
		return err
	}
	row.Total, row.Walked = len(events), len(events)
	row.Since, row.Until = events[0].Number, events[len(events)-1].Number+1
	return storeOrder(tx, sc, row)
}

// readPaymentEvents reads the kept events of payments, the oldest first. Faults: Invalid for none or too many.
func readPaymentEvents(tx *models.Tx, sc scope.Scope, payments []int64) (events []models.Event, err error) {
	if len(payments) > MaxResendPayments {
		return nil, errTooManyPayments()
	}
	err = models.Among(sc.Among(tx), "payment_id", payments).Where("NOT pruned").Omit("body").
		Order("number, id").Limit(maxAtOnce + 1).Find(&events).Error
	if len(events) > maxAtOnce {
		return nil, errTooManyPayments()
	}
	if err == nil && len(events) == 0 {
		err = fault.RefuseField("", "These payments have no events that are still kept.")
	}
	return events, err
}

func errTooManyPayments() error {
	return fault.RefuseField("", "At most %d payments with %d deliveries can be resent at once. Choose fewer, or "+
		"resend the events of a period.", MaxResendPayments, maxAtOnce)
}
