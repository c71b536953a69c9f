package webhook

import (
	"context"
	"fmt"
	"strings"

	"cointill/core/fault"
	"cointill/core/scope"
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

// Plan counts what an order would send. Faults: Invalid, NotFound, Forbidden,
// Conflict when nobody would receive it.
func (s *Service) Plan(ctx context.Context, sc scope.Scope, o Order) (Planned, error) {
	if err := sc.Can(scope.ManageWebhooks); err != nil {
		return Planned{}, err
	}
	now := s.Clock()
	if err := fault.Validation(o.check(now)); err != nil {
		return Planned{}, err
	}
	db := s.DB.Read(ctx)
	row := models.Resend{BusinessID: sc.BusinessID, Domain: string(sc.Domain), EndpointID: o.EndpointID, Types: strings.Join(o.Types, ","),
		Failed: o.Failed, Since: o.From.UnixMicro(), Until: now.UnixMicro() + 1}
	if o.Before != nil {
		row.Until = min(row.Until, o.Before.UnixMicro())
	}
	if o.EndpointID != "" {
		if found, err := find(db, sc, o.EndpointID); err != nil {
			return Planned{}, err
		} else if !found.Active {
			return Planned{}, inactive()
		}
	}
	targets, err := targetsOf(db, row)
	if err == nil && len(targets) == 0 {
		err = nobody()
	}
	if err != nil {
		return Planned{}, err
	}
	return s.counted(ctx, row, targets)
}

// counted counts an order's events and what would be made of them.
func (s *Service) counted(ctx context.Context, row models.Resend, targets []target) (p Planned, err error) {
	db := s.DB.Read(ctx)
	count := func(query *models.Tx) (n int64, err error) {
		err = db.Table("(?) AS e", query.Select("id").Limit(MaxResend+1)).Count(&n).Error
		return n, err
	}
	events, err := count(resendEvents(db, row))
	if err != nil {
		return p, err
	}
	if events > MaxResend {
		return p, fault.Validation(fault.Fields{"created_after": {fmt.Sprintf("There are more than %d events in this range. Choose a shorter one.", MaxResend)}})
	}
	p = Planned{Events: int(events), Endpoints: len(targets), Deliveries: int(events) * len(targets)}
	if row.EndpointID == "" {
		return p, nil
	}
	query := resendEvents(db, row)
	if targets[0].Types != "" {
		query = query.Where("type IN ?", list(targets[0].Types))
	}
	if row.Failed {
		query = query.Where(`NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.endpoint_id = ?
			AND (d.outcome = ? OR d.done_at IS NULL))`, row.EndpointID, Delivered)
	}
	made, err := count(query)
	p.Deliveries = int(made)
	return p, err
}
