// Package delivery sends events to endpoints: it makes the attempts and records their results,
// isolates endpoints from one another, shows what became of deliveries, and carries out orders
// to send events again.
package delivery

import (
	"context"
	"time"

	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/models"
)

// Delivery is one event for one endpoint, as pages show it.
type Delivery struct {
	ID           int64
	EventID      string
	EventType    string
	PaymentID    *int64
	Sequence     int
	EndpointID   string
	EndpointName string // "" when the endpoint was deleted
	EndpointURL  string
	State        string // pending, sending, delivered, exhausted, cancelled, skipped or unsubscribed
	Attempt      int    // attempts made, or under way
	LastStatus   int    // HTTP status of the last attempt, 0 when there was no answer
	LastError    string // a sentence; "" after a success
	LastCode     string // of LastError; "" after an answer
	NextAt       *time.Time
	EventAt      time.Time // when the event was made
	CreatedAt    time.Time // when it was first queued; of a skipped one when the event was made
	DoneAt       *time.Time
}

// Attempt is one request made for a delivery.
type Attempt struct {
	Number int
	At     time.Time
	Took   time.Duration
	Status int // 0 when there was no answer
	// Request is the headers that were sent, one to a line, the merchant's own masked; Header is
	// the answer's. They and Answer are kept for 60 days. A reader without the right to see
	// payments gets neither Header nor Answer.
	Request string
	Header  string
	Answer  string        // at most 4 KiB of it
	Error   string        // "" when it was a success
	Code    diagnose.Code // of an error without an answer; "" of one that a release before codes made
}

// Service shows the deliveries of events and makes some again. Its fields are set once,
// before use.
type Service struct {
	DB     *models.DB
	Clock  clock.Clock
	Events *webhook.Service
	// Wake is called after a commit that made deliveries; it may be nil.
	Wake func()
}

func (s *Service) wakeWorker() {
	if s.Wake != nil {
		s.Wake()
	}
}

// LatestDeliveries gives the latest delivery of each endpoint that has one, by
// the endpoint's id. Faults: Forbidden.
func (s *Service) LatestDeliveries(ctx context.Context, sc scope.Scope) (map[string]Delivery, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, err
	}
	rows, err := s.readDeliveries(sc, s.DB.Read(ctx).
		Where(`deliveries.id IN (SELECT (SELECT d.id FROM deliveries d WHERE d.endpoint_id = e.id
		ORDER BY d.created_at DESC, d.id DESC LIMIT 1) FROM endpoints e WHERE e.business_id = ? AND e.domain = ?)`, sc.BusinessID, string(sc.Domain)))
	latest := make(map[string]Delivery, len(rows))
	for _, d := range rows {
		latest[d.EndpointID] = d
	}
	return latest, err
}

// failuresRead bounds how many deliveries of an endpoint are read for the last that failed.
const failuresRead = 100

// LastFailures gives, of each active endpoint that fails, the newest delivery whose last attempt failed, by the
// endpoint's id. Those that wait behind it were not tried. Faults: Forbidden.
func (s *Service) LastFailures(ctx context.Context, sc scope.Scope) (map[string]Delivery, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, err
	}
	rows, err := s.readDeliveries(sc, s.DB.Read(ctx).
		Where(`deliveries.id IN (SELECT (SELECT d.id FROM (SELECT id, created_at, outcome, last_error FROM deliveries
		WHERE endpoint_id = e.id ORDER BY created_at DESC, id DESC LIMIT ?) d
		WHERE d.last_error <> '' AND d.outcome <> ?
		ORDER BY d.created_at DESC, d.id DESC LIMIT 1) FROM endpoints e
		WHERE e.business_id = ? AND e.domain = ? AND e.active AND e.failing_since IS NOT NULL)`,
			failuresRead, webhook.Cancelled, sc.BusinessID, string(sc.Domain)))
	failed := make(map[string]Delivery, len(rows))
	for _, d := range rows {
		failed[d.EndpointID] = d
	}
	return failed, err
}

// DeliveriesOfPayment returns at most 100 deliveries of a payment's events, newest first, for
// roles with the right to see payments. Behind them are at most 100 events that no delivery was
// queued for, skipped or unsubscribed.
func (s *Service) DeliveriesOfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]Delivery, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	list, err := s.readDeliveries(sc, s.DB.Read(ctx).Where("events.payment_id = ?", paymentID).Limit(100))
	if err != nil {
		return nil, err
	}
	left, err := s.listUnqueued(ctx, sc, s.DB.Read(ctx).Where("events.payment_id = ?", paymentID))
	return append(list, left...), err
}

// DeliveriesOfEvent gives the deliveries of an event. Faults: NotFound, Forbidden.
func (s *Service) DeliveriesOfEvent(ctx context.Context, sc scope.Scope, eventID string) ([]Delivery, error) {
	if _, err := s.Events.Event(ctx, sc, eventID); err != nil {
		return nil, err
	}
	list, err := s.readDeliveries(sc, s.DB.Read(ctx).Where("deliveries.event_id = ?", eventID).Limit(100))
	if err != nil {
		return nil, err
	}
	left, err := s.skippedBy(ctx, sc, eventID)
	return append(list, left...), err
}

func (s *Service) readAttempts(ctx context.Context, sc scope.Scope, deliveryID int64) ([]Attempt, error) {
	var rows []models.DeliveryAttempt
	if err := s.DB.Read(ctx).Where("delivery_id = ?", deliveryID).Order("attempt").Limit(200).
		Find(&rows).Error; err != nil {
		return nil, err
	}
	list := make([]Attempt, 0, len(rows))
	for _, row := range rows {
		list = append(list, shownAttempt(sc, row))
	}
	return list, nil
}

// shownAttempt is an attempt as a scope's role may see it.
func shownAttempt(sc scope.Scope, row models.DeliveryAttempt) Attempt {
	shown := Attempt{
		Number: row.Attempt, At: row.At, Took: time.Duration(row.Millis) * time.Millisecond,
		Status: row.Status, Request: row.Request, Header: row.Header, Answer: row.Answer, Error: row.Error,
		Code: diagnose.Code(row.Code),
	}
	if webhook.Withheld(sc) {
		shown.Header, shown.Answer = "", ""
	}
	return shown
}

// deliveryRow is a delivery with what its event and endpoint add.
type deliveryRow struct {
	models.Delivery
	EventType    string
	PaymentID    *int64
	Sequence     int
	EventAt      time.Time
	EndpointName *string
	EndpointURL  *string
}

func (s *Service) readDeliveries(sc scope.Scope, query *models.Tx) ([]Delivery, error) {
	var rows []deliveryRow
	err := query.Table("deliveries").
		Select(`deliveries.*, events.type AS event_type, events.payment_id, events.sequence, events.created_at AS event_at,
			endpoints.name AS endpoint_name, endpoints.url AS endpoint_url`).
		Joins("JOIN events ON events.id = deliveries.event_id").
		Joins("LEFT JOIN endpoints ON endpoints.id = deliveries.endpoint_id").
		Where("deliveries.business_id = ? AND deliveries.domain = ?", sc.BusinessID, string(sc.Domain)).
		Order("deliveries.created_at DESC, deliveries.event_id DESC").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	list := make([]Delivery, 0, len(rows))
	for _, row := range rows {
		list = append(list, s.describeDelivery(row))
	}
	return list, nil
}

// describeDelivery returns a row as pages show it: pending with its next time, or sending
// while an attempt holds it.
func (s *Service) describeDelivery(row deliveryRow) Delivery {
	d := Delivery{
		ID: row.ID, EventID: row.EventID, EventType: row.EventType, PaymentID: row.PaymentID, Sequence: row.Sequence,
		EndpointID: row.EndpointID, State: row.Outcome, Attempt: row.Attempt, LastStatus: row.LastStatus,
		LastError: row.LastError, LastCode: row.LastCode,
		EventAt: row.EventAt, CreatedAt: row.CreatedAt, DoneAt: row.DoneAt,
	}
	if row.EndpointName != nil && row.EndpointURL != nil {
		d.EndpointName, d.EndpointURL = *row.EndpointName, *row.EndpointURL
	}
	switch {
	case row.DoneAt != nil:
	case row.ClaimedAt != nil && row.DueAt.After(s.Clock()):
		d.State = webhook.Sending
	default:
		d.State, d.NextAt = webhook.Pending, &row.DueAt
	}
	return d
}
