package delivery

import (
	"context"
	"slices"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// maxUnqueued bounds how many pairs of an event and an endpoint are read that no delivery was queued for.
const maxUnqueued = 100

// unqueued is an event with an endpoint that existed when it was made, and that no delivery was queued for.
type unqueued struct {
	EventID    string
	EventType  string
	PaymentID  *int64
	Sequence   int
	EventAt    time.Time
	EndpointID string
	Name       string
	URL        string
	Types      string
}

// listUnqueued lists what a query of events was not queued for: skipped where the endpoint was off then, and
// unsubscribed where it was on and did not receive the type. The newest events are first. It takes two statements,
// however many events and endpoints there are.
func (s *Service) listUnqueued(ctx context.Context, sc scope.Scope, query *models.Tx) (list []Delivery, err error) {
	var rows []unqueued
	err = query.Table("events").
		Select(`events.id AS event_id, events.type AS event_type, events.payment_id, events.sequence,
			events.created_at AS event_at, endpoints.id AS endpoint_id, endpoints.name, endpoints.url,
			endpoints.types`).
		Joins(`JOIN endpoints ON endpoints.business_id = events.business_id AND endpoints.domain = events.domain
			AND endpoints.created_at <= events.created_at`).
		Where("events.business_id = ? AND events.domain = ?", sc.BusinessID, string(sc.Domain)).
		Where(`NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id AND d.endpoint_id = endpoints.id)`).
		Order("events.created_at DESC, events.id DESC, endpoints.created_at DESC, endpoints.id").Limit(maxUnqueued).
		Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.EndpointID)
	}
	var pauses []models.EndpointPause
	err = s.DB.Read(ctx).Where("endpoint_id IN ? AND since <= ? AND (until IS NULL OR until >= ?)", ids,
		rows[0].EventAt.Add(slack), rows[len(rows)-1].EventAt.Add(-slack)).Find(&pauses).Error
	for _, row := range rows {
		isOff := slices.ContainsFunc(pauses, func(p models.EndpointPause) bool { return row.isIn(p) })
		list = append(list, row.describeDelivery(isOff))
	}
	return list, err
}

// isIn reports whether the event was made in a pause of its endpoint.
func (u unqueued) isIn(p models.EndpointPause) bool {
	return p.EndpointID == u.EndpointID && !p.Since.After(u.EventAt.Add(slack)) &&
		(p.Until == nil || !p.Until.Before(u.EventAt.Add(-slack)))
}

// describeDelivery returns the event and the endpoint in the form of a delivery. isOff says that the endpoint was off.
func (u unqueued) describeDelivery(isOff bool) Delivery {
	d := skippedDelivery(models.Event{ID: u.EventID, Type: u.EventType, PaymentID: u.PaymentID, Sequence: u.Sequence,
		CreatedAt: u.EventAt}, models.Endpoint{ID: u.EndpointID, Name: u.Name, URL: u.URL})
	if !isOff || !(webhook.Target{ID: u.EndpointID, Types: u.Types}).Takes(u.EventType) {
		d.State, d.LastError = webhook.Unsubscribed, "The webhook did not receive this type of event."
	}
	return d
}
