package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gorm.io/gorm"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// Event is something that happened.
type Event struct {
	BusinessID int64
	Domain     scope.Domain
	PaymentID  *int64 // nil when it is about no payment
	Sequence   int    // rises per payment
	Type       string // one of Types
	At         time.Time
	Data       any // becomes the body's data as JSON
}

// Recorded is an event as it was written.
type Recorded struct {
	ID        string // evt_…
	Domain    scope.Domain
	PaymentID *int64
	Sequence  int
	Type      string
	Body      string // the exact bytes that are sent
	CreatedAt time.Time
}

// Filter narrows a list of events; zero values leave it open.
type Filter struct {
	Type      string
	PaymentID *int64
}

// body is what is sent, in the contract's order.
type body struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Timestamp string         `json:"timestamp"`
	Domain    scope.Domain   `json:"domain"`
	Sequence  int            `json:"sequence"`
	Data      jsontext.Value `json:"data"`
}

// Emit writes an event and a delivery for each endpoint that is active in its
// business and domain, in the caller's transaction. After the commit the
// caller wakes the worker.
func (s *Service) Emit(tx *models.Tx, e Event) error {
	written, err := s.write(tx, e)
	if err != nil {
		return err
	}
	endpoints, err := activeEndpoints(tx, written)
	if err != nil {
		return err
	}
	return s.deliverTo(tx, written, endpoints)
}

// write puts the event's row in place. Its errors are faults of the program:
// an unknown type, data that is no JSON.
func (s *Service) write(tx *models.Tx, e Event) (models.Event, error) {
	sc := scope.Scope{BusinessID: e.BusinessID, Domain: e.Domain}
	if err := sc.Check(); err != nil {
		return models.Event{}, err
	}
	if !slices.Contains(Types(), e.Type) {
		return models.Event{}, fmt.Errorf("webhook: %q is no event type", e.Type)
	}
	now := s.Clock()
	if e.At.IsZero() {
		e.At = now
	}
	// What a merchant sent as metadata was read strictly when it came; here
	// nothing may stand in the way of a payment's change of state.
	lenient := []json.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	data, err := json.Marshal(e.Data, lenient...)
	if err != nil {
		return models.Event{}, fmt.Errorf("webhook: data of %s: %w", e.Type, err)
	}
	id := ident.New("evt_")
	text, err := json.Marshal(body{
		ID: id, Type: e.Type, Timestamp: clock.Format(e.At), Domain: e.Domain, Sequence: e.Sequence, Data: data,
	}, lenient...)
	if err != nil {
		return models.Event{}, fmt.Errorf("webhook: body of %s: %w", e.Type, err)
	}
	row := models.Event{
		ID: id, BusinessID: e.BusinessID, Domain: string(e.Domain), Number: now.UnixMicro(), PaymentID: e.PaymentID,
		Sequence: e.Sequence, Type: e.Type, Body: string(text), CreatedAt: now,
	}
	return row, tx.Create(&row).Error
}

// activeEndpoints are those of the event's business and domain that receive events now.
func activeEndpoints(tx *models.Tx, event models.Event) (ids []string, err error) {
	sc := scope.Scope{BusinessID: event.BusinessID, Domain: scope.Domain(event.Domain)}
	err = sc.Rows(tx).Model(&models.Endpoint{}).Where("active = ?", true).Order("id").Pluck("id", &ids).Error
	return ids, err
}

// Events gives a page of the events, newest first, those of one payment in the
// order of their sequence, and the cursor of the next page, "" after the last. limit is 1–100, 0 means 25.
func (s *Service) Events(ctx context.Context, sc scope.Scope, f Filter, after string, limit int) ([]Recorded, string, error) {
	if err := sc.Can(scope.SeeWebhooks); err != nil {
		return nil, "", err
	}
	limit, err := limited(limit)
	if err != nil {
		return nil, "", err
	}
	from, err := parseCursor(after)
	if err != nil {
		return nil, "", err
	}
	query := sc.Rows(s.DB.Read(ctx)).Order("number DESC, sequence DESC, id DESC").Limit(limit + 1)
	if f.Type != "" {
		if !slices.Contains(Types(), f.Type) {
			return nil, "", fault.Validation(fault.Fields{"type": {"Is not a type of event."}})
		}
		query = query.Where("type = ?", f.Type)
	}
	if f.PaymentID != nil {
		query = query.Where("payment_id = ?", *f.PaymentID)
	}
	if from != nil {
		query = query.Where("number <= ? AND (number < ? OR sequence < ? OR sequence = ? AND id < ?)", from.at, from.at, from.sequence, from.sequence, from.id)
	}
	var rows []models.Event
	if err := query.Find(&rows).Error; err != nil {
		return nil, "", err
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		next = cursor{at: last.Number, sequence: last.Sequence, id: last.ID}.String()
	}
	list := make([]Recorded, 0, len(rows))
	for _, row := range rows {
		list = append(list, recorded(row))
	}
	return list, next, nil
}

// Event gives one event. Faults: NotFound, Forbidden.
func (s *Service) Event(ctx context.Context, sc scope.Scope, id string) (Recorded, error) {
	if err := sc.Can(scope.SeeWebhooks); err != nil {
		return Recorded{}, err
	}
	row, err := findEvent(s.DB.Read(ctx), sc, id)
	return recorded(row), err
}

// Redeliver sends an event again, with the same id and bytes, to each endpoint
// that is active now; a test event only to the one it was for. It returns how
// many that are. Faults: NotFound, Forbidden, Conflict when none is active.
func (s *Service) Redeliver(ctx context.Context, sc scope.Scope, eventID string) (n int, err error) {
	if err := sc.Can(scope.ManageWebhooks); err != nil {
		return 0, err
	}
	n, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (int, error) {
		event, err := findEvent(tx, sc, eventID)
		if err != nil {
			return 0, err
		}
		endpoints, err := activeEndpoints(tx, event)
		if err != nil {
			return 0, err
		}
		if event.Type == WebhookTest {
			var had []string
			if err := sc.Rows(tx).Model(&models.Delivery{}).Where("event_id = ?", eventID).Pluck("endpoint_id", &had).Error; err != nil {
				return 0, err
			}
			endpoints = slices.DeleteFunc(endpoints, func(id string) bool { return !slices.Contains(had, id) })
		}
		if len(endpoints) == 0 {
			return 0, fault.New(fault.Conflict, "no_active_webhook", "No active webhook would receive this event. Register one or switch one on.")
		}
		return len(endpoints), s.deliverTo(tx, event, endpoints)
	})
	if err == nil {
		s.wake()
	}
	return n, err
}

// findEvent reads an event of the scope.
func findEvent(db *models.Tx, sc scope.Scope, id string) (models.Event, error) {
	var row models.Event
	if !plainID(id) {
		return row, fault.Missing("event")
	}
	err := sc.Rows(db).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, fault.Missing("event")
	}
	return row, err
}

func recorded(row models.Event) Recorded {
	return Recorded{
		ID: row.ID, Domain: scope.Domain(row.Domain), PaymentID: row.PaymentID, Sequence: row.Sequence,
		Type: row.Type, Body: row.Body, CreatedAt: row.CreatedAt,
	}
}
