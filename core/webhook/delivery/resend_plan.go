package delivery

import (
	"context"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// Planned is what an order would do, before it is given.
type Planned struct {
	Events    int // that would be looked at
	Endpoints int // active ones that they would go to
	// Deliveries is how many would be made for an order for one endpoint; at
	// most as many for all of them together.
	Deliveries int
}

// Plan counts the events that an order would send. Faults: Invalid, NotFound, Forbidden,
// Conflict when no endpoint would receive it.
func (s *Resends) Plan(ctx context.Context, sc scope.Scope, o Order) (Planned, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Planned{}, err
	}
	now := s.Clock()
	if err := fault.Validation(o.checkOrder(now)); err != nil {
		return Planned{}, err
	}
	row := o.newResend(sc, now)
	targets, err := readReceivers(s.DB.Read(ctx), sc, row)
	if err != nil {
		return Planned{}, err
	}
	return countOrder(s.DB.Read(ctx), row, targets)
}

// countOrder counts an order's events and the deliveries that they would make.
func countOrder(db *models.Tx, row models.Resend, targets []webhook.Target) (p Planned, err error) {
	events, err := countEvents(db, resendEvents(db, row))
	if err != nil {
		return p, err
	}
	p = Planned{Events: events, Endpoints: len(targets), Deliveries: events * len(targets)}
	if row.EndpointID == "" {
		return p, nil
	}
	query := resendEvents(db, row)
	if targets[0].Types != "" {
		query = query.Where("type IN ?", webhook.SplitTypes(targets[0].Types))
	}
	if row.Failed {
		query = query.Where(`NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.endpoint_id = ?
			AND (d.outcome = ? OR d.done_at IS NULL AND d.tries = 0))`, row.EndpointID, webhook.Delivered)
	}
	p.Deliveries, err = countEvents(db, query)
	return p, err
}
