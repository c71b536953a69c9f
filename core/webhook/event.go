package webhook

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// Event is something that happened.
type Event struct {
	BusinessID int64
	Domain     scope.Domain
	PaymentID  *int64 // nil when it is about no payment
	SendID     *int64 // nil when it is about no send
	Payment    string // reference of the payment or send, "" when it is about none
	Sequence   int    // rises with each event of the payment or send; 0 for neither
	Type       string // one of Types
	About      string // what else makes it another event of that type than the payment's others, "" for nothing
	At         time.Time
	Data       any // becomes the body's data as JSON
}

// Recorded is an event as it was written.
type Recorded struct {
	ID        string // evt_…
	Domain    scope.Domain
	PaymentID *int64
	Payment   string // the payment's reference, "" where there is none; lists leave it out
	Sequence  int
	Type      string
	// the exact bytes that are sent; "" when they are no longer kept, or the reader may not see payments
	Body      string
	CreatedAt time.Time
}

// Filter narrows a list of events; zero values leave it open.
type Filter struct {
	Type      string
	PaymentID *int64
	Payment   string // either reference of a payment; of one that there isn't there are no events
	From      *time.Time
	Before    *time.Time
}

// body is the body of an event as it is sent, in the contract's order.
type body struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Timestamp string         `json:"timestamp"`
	Domain    scope.Domain   `json:"domain"`
	Sequence  int            `json:"sequence"`
	Data      jsontext.Value `json:"data"`
}

// Emit writes an event and a delivery for each endpoint of its business and
// domain that is active and takes its type, in the caller's transaction. After the commit the
// caller wakes the worker.
func (s *Service) Emit(tx *models.Tx, e Event) error {
	written, err := s.WriteEvent(tx, e)
	if err != nil {
		return err
	}
	targets, err := ActiveTargets(tx, scope.Scope{BusinessID: e.BusinessID, Domain: e.Domain})
	if err != nil {
		return err
	}
	_, err = QueueEvent(tx, s.Clock(), written, ListTakers(targets, e.Type))
	return err
}

// WriteEvent puts the event's row in place. Its errors are faults of the program:
// an unknown type, data that is no JSON.
func (s *Service) WriteEvent(tx *models.Tx, e Event) (models.Event, error) {
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
	for again := 0; ; again++ {
		id := s.eventID(e, again)
		text, err := json.Marshal(body{
			ID: id, Type: e.Type, Timestamp: clock.Format(e.At), Domain: e.Domain, Sequence: e.Sequence, Data: data,
		}, lenient...)
		if err != nil {
			return models.Event{}, fmt.Errorf("webhook: body of %s: %w", e.Type, err)
		}
		row := models.Event{
			ID: id, BusinessID: e.BusinessID, Domain: string(e.Domain), Number: now.UnixMicro(), PaymentID: e.PaymentID,
			SendID:   e.SendID,
			Sequence: e.Sequence, Type: e.Type, Body: string(text), CreatedAt: now,
		}
		made := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoNothing: true}).Create(&row)
		if made.Error != nil || made.RowsAffected > 0 {
			return row, made.Error
		}
	}
}

// eventID returns an event's id. It follows from the payment, the type and the transaction, and
// from whether it is the first such event, the second, and so on. So the same events have the
// same ids when a restored backup's network is read again, even if short-lived transactions
// are missing then, and receivers accept each once.
func (s *Service) eventID(e Event, again int) string {
	if e.Payment == "" {
		return ident.New("evt_")
	}
	return s.Secrets.Ident("evt_", fmt.Sprintf("%s %s %d %s", e.Payment, e.Type, again, e.About))
}

// Events returns a page of events, newest first, or the events of one payment in the order of
// their sequence, and the cursor of the next page, "" after the last. limit is 1–100; 0 means
// 25.
func (s *Service) Events(ctx context.Context, sc scope.Scope, f Filter, after string, limit int) ([]Recorded, string,
	error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, "", err
	}
	limit, err := paging.CheckLimit(limit)
	if err != nil {
		return nil, "", err
	}
	from, err := paging.ParseCursor(after)
	if err != nil {
		return nil, "", err
	}
	query := sc.Rows(s.DB.Read(ctx)).Order("number DESC, sequence DESC, id DESC")
	if query, err = f.applyTo(s.DB.Read(ctx), sc, query); err != nil {
		return nil, "", err
	}
	if from != nil {
		query = query.Where("number <= ? AND (number < ? OR sequence < ? OR sequence = ? AND id < ?)", from.At, from.At,
			from.Sequence, from.Sequence, from.ID)
	}
	return paging.CutPage(query, limit, func(r models.Event) paging.Cursor {
		return paging.Cursor{At: r.Number, Sequence: r.Sequence, ID: r.ID}
	}, func(r models.Event) Recorded { return describeEvent(sc, r) })
}

// applyTo narrows a query for events.
func (f Filter) applyTo(db *models.Tx, sc scope.Scope, query *models.Tx) (*models.Tx, error) {
	if f.Type != "" {
		if !slices.Contains(Types(), f.Type) {
			return nil, fault.RefuseField("type", "Is not a type of event.")
		}
		query = query.Where("type = ?", f.Type)
	}
	if f.PaymentID != nil {
		query = ofPayments(db, query, []int64{*f.PaymentID})
	}
	if f.Payment != "" {
		var ids []int64
		one := sc.Rows(db).Model(&models.Payment{}).Where("reference = ? OR business_reference = ?", f.Payment,
			f.Payment).Limit(2)
		if err := one.Pluck("id", &ids).Error; err != nil {
			return nil, err
		}
		query = ofPayments(db, query, append(ids, 0)) // 0 matches no payment
	}
	if f.From != nil {
		query = query.Where("number >= ?", f.From.UnixMicro())
	}
	if f.Before != nil {
		query = query.Where("number < ?", f.Before.UnixMicro())
	}
	return query, nil
}

// mostOfPayment bounds how many events of a payment are listed: far more than one has.
const mostOfPayment = 10_000

// ofPayments narrows a query to the events of payments. The bound keeps SQLite
// from looking for them among all of the business's instead.
func ofPayments(db, query *models.Tx, ids []int64) *models.Tx {
	return query.Table("(?) AS events", db.Model(&models.Event{}).Where("payment_id IN ?", ids).Limit(mostOfPayment))
}

// Event gives one event. Faults: NotFound, Forbidden.
func (s *Service) Event(ctx context.Context, sc scope.Scope, id string) (Recorded, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Recorded{}, err
	}
	row, err := FindEvent(s.DB.Read(ctx), sc, id)
	if err != nil {
		return Recorded{}, err
	}
	found := describeEvent(sc, row)
	if row.PaymentID != nil && !Withheld(sc) {
		err = sc.Rows(s.DB.Read(ctx)).Model(&models.Payment{}).Where("id = ?", *row.PaymentID).
			Pluck("reference", &found.Payment).Error
	}
	return found, err
}

// FindEvent reads an event of the scope.
func FindEvent(db *models.Tx, sc scope.Scope, id string) (models.Event, error) {
	var row models.Event
	if !paging.IsPlainID(id) {
		return row, fault.Missing("event")
	}
	err := sc.Rows(db).Where("id = ?", id).Take(&row).Error
	return row, fault.MissingRow(err, "event")
}

// describeEvent returns an event as a scope's role may see it.
func describeEvent(sc scope.Scope, row models.Event) Recorded {
	found := Recorded{
		ID: row.ID, Domain: scope.Domain(row.Domain), PaymentID: row.PaymentID, Sequence: row.Sequence,
		Type: row.Type, Body: row.Body, CreatedAt: row.CreatedAt,
	}
	if Withheld(sc) {
		found.Body = ""
	}
	return found
}

// Withheld reports that a scope's role sees deliveries without the bodies of events and
// without what endpoints answered: these hold data of customers, and take the right to
// see payments.
func Withheld(sc scope.Scope) bool { return !sc.Allows(scope.SeePayments) }
