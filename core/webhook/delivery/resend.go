package delivery

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// Order is what to send again.
type Order struct {
	EndpointID string     // "" for every endpoint that is active
	Types      []string   // empty for all
	From       time.Time  // events made at or after it; at most 60 days ago
	Before     *time.Time // events made before it; nil for up to now
	// only what did not arrive: given up, cancelled, skipped, or failed and waiting for its next attempt
	Failed bool
}

// Resend is an order at work.
type Resend struct {
	ID         string // rsd_…
	EndpointID string
	Types      []string
	From       time.Time
	Before     time.Time
	Failed     bool
	Payments   int    // that were chosen; 0 for all events of the range
	State      string // queueing, sending, done or stopped
	Total      int    // events in the range
	Walked     int    // of these, looked at
	Made       int    // deliveries queued
	Delivered  int    // of these, delivered
	Failures   int    // of these, given up or cancelled
	Superseded int    // of these, sent again by something later, which counts them from then on
	CreatedAt  time.Time
	DoneAt     *time.Time
}

// Resends takes orders and carries them out. Its fields are set once, before use.
type Resends struct {
	DB    *models.DB
	Clock clock.Clock
	// Wake is called after a commit that made deliveries; it may be nil.
	Wake func()
}

// The states of a resend.
const (
	ResendQueueing = "queueing" // deliveries are being made, in small batches
	ResendSending  = "sending"  // all are made; some wait to be delivered
	ResendDone     = "done"     // nothing waits any more
	ResendStopped  = "stopped"  // its endpoints were switched off or deleted before its end
)

// Bounds of resends.
const (
	MaxResend   = 100_000 // events of one order
	MaxResends  = 5       // orders of a business and domain that are being queued
	resendBatch = 200     // deliveries made in one transaction
	// deliveries of an order that wait for their first attempt: new events must not wait behind many
	resendAhead = 200
	resendPause = 100 * time.Millisecond // between looks at an order that is being queued
	resendRest  = 5 * time.Second        // between looks at one whose deliveries are under way
	resendLater = time.Minute            // … when they have been for long
	maxOpen     = 20                     // orders of a business and domain that are not done
	resendLook  = time.Second            // between looks for orders
)

// checkOrder reports the errors of an order.
func (o Order) checkOrder(now time.Time) fault.Fields {
	fields := fault.Fields{}
	webhook.CheckTypes(o.Types, fields)
	switch {
	case o.From.IsZero():
		fields.Add("created_after", "Is required.")
	case o.From.Before(now.Add(-KeepBodies)):
		fields.Add("created_after", "May be at most 60 days ago: older events are no longer kept.")
	case o.From.After(now):
		fields.Add("created_after", "May not be in the future.")
	case o.Before != nil && !o.Before.After(o.From):
		fields.Add("created_before", "Must be after created_after.")
	}
	return fields
}

// Check reports the errors of an order, all fields at once.
func (s *Resends) Check(o Order) fault.Fields { return o.checkOrder(s.Clock()) }

// Create orders that many events are sent again, with the same ids and bytes. Run
// carries it out in small batches. Faults: Invalid, NotFound, Forbidden, Conflict when no
// endpoint would receive them or too many orders are open.
func (s *Resends) Create(ctx context.Context, sc scope.Scope, o Order) (Resend, error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return Resend{}, err
	}
	now := s.Clock()
	if err := fault.Validation(o.checkOrder(now)); err != nil {
		return Resend{}, err
	}
	row := o.newResend(sc, now)
	row.ID, row.Actor, row.CountedAt, row.CreatedAt = ident.New("rsd_"), sc.Actor, now, now
	return idempotency.Do(ctx, s.DB, func(tx *models.Tx) (Resend, error) {
		err := admitOrder(tx, sc, &row)
		return shownResend(row), err
	})
}

// newResend returns the order as it is stored, without its id.
func (o Order) newResend(sc scope.Scope, now time.Time) models.Resend {
	until := now.UnixMicro() + 1
	if o.Before != nil {
		until = min(until, o.Before.UnixMicro())
	}
	return models.Resend{BusinessID: sc.BusinessID, Domain: string(sc.Domain), EndpointID: o.EndpointID,
		Types:  strings.Join(o.Types, ","),
		Failed: o.Failed, Since: o.From.UnixMicro(), Until: until}
}

// admitOrder stores an order unless it is too large, too many are open, or no endpoint would
// receive it.
func admitOrder(tx *models.Tx, sc scope.Scope, row *models.Resend) error {
	if _, err := admitReceivers(tx, sc, *row); err != nil {
		return err
	}
	total, err := countEvents(tx, resendEvents(tx, *row))
	if err != nil {
		return err
	}
	row.Total = total
	return storeOrder(tx, sc, row)
}

// admitReceivers returns the endpoints of a new order, unless too many orders are open or no endpoint would
// receive it.
func admitReceivers(tx *models.Tx, sc scope.Scope, row models.Resend) ([]webhook.Target, error) {
	if err := webhook.LockBusiness(tx, sc); err != nil {
		return nil, err
	}
	targets, err := readReceivers(tx, sc, row)
	if err != nil {
		return nil, err
	}
	var queueing, open int64
	if err := sc.Rows(tx).Model(&models.Resend{}).Where("done_at IS NULL AND queued_at IS NULL").
		Count(&queueing).Error; err != nil {
		return nil, err
	}
	if err := sc.Rows(tx).Model(&models.Resend{}).Where("done_at IS NULL").Count(&open).Error; err != nil {
		return nil, err
	}
	if queueing >= MaxResends || open >= maxOpen {
		return nil, fault.New(fault.Conflict, "too_many_resends",
			"%d resends are at work already. Wait until one of them has queued its events, or is done.", open)
	}
	return targets, nil
}

// storeOrder stores a new order and records it in the audit log.
func storeOrder(tx *models.Tx, sc scope.Scope, row *models.Resend) error {
	if err := tx.Create(row).Error; err != nil {
		return err
	}
	return audit.Record(tx, sc, row.CreatedAt, "webhook.events_resent", row.ID,
		map[string]string{"events": strconv.Itoa(row.Total), "payments": strconv.Itoa(row.Payments)})
}

// readReceivers returns the endpoints of a new order. Faults: NotFound, Conflict when no endpoint
// would receive it.
func readReceivers(db *models.Tx, sc scope.Scope, row models.Resend) ([]webhook.Target, error) {
	if row.EndpointID != "" {
		if found, err := webhook.FindEndpoint(db, sc, row.EndpointID); err != nil {
			return nil, err
		} else if !found.Active {
			return nil, errInactive()
		}
	}
	targets, err := targetsOf(db, row)
	if err == nil && len(targets) == 0 {
		err = errNobodyReceives()
	}
	return targets, err
}

// countEvents counts what a query of events finds. Invalid when that is more
// than one order may have.
func countEvents(db, query *models.Tx) (int, error) {
	var n int64
	if err := db.Table("(?) AS e", query.Select("id").Limit(MaxResend+1)).Count(&n).Error; err != nil {
		return 0, err
	}
	if n > MaxResend {
		return 0, fault.RefuseField("created_after", "There are more than %d events in this range. Choose a shorter "+
			"one.", MaxResend)
	}
	return int(n), nil
}

// resendEvents are the events of an order.
func resendEvents(db *models.Tx, row models.Resend) *models.Tx {
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)}
	query := sc.Rows(db.Model(&models.Event{})).Where("number >= ? AND number < ? AND type <> ? AND NOT pruned",
		row.Since, row.Until, webhook.WebhookTest)
	if row.Types != "" {
		query = query.Where("type IN ?", webhook.SplitTypes(row.Types))
	}
	return query
}

// Find gives one order. Faults: NotFound, Forbidden.
func (s *Resends) Find(ctx context.Context, sc scope.Scope, id string) (Resend, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Resend{}, err
	}
	var row models.Resend
	if !paging.IsPlainID(id) {
		return Resend{}, fault.Missing("resend")
	}
	err := sc.Rows(s.DB.Read(ctx)).Where("id = ?", id).Take(&row).Error
	return shownResend(row), fault.MissingRow(err, "resend")
}

// List gives a page of the orders, newest first, and the cursor of the next
// page, "" after the last. limit is 1–100, 0 means 25.
func (s *Resends) List(ctx context.Context, sc scope.Scope, after string, limit int) ([]Resend, string, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, "", err
	}
	return paging.ReadRows(sc.Rows(s.DB.Read(ctx)), after, limit, func(r models.Resend) paging.Cursor {
		return paging.Cursor{At: r.CreatedAt.UnixMicro(), ID: r.ID}
	}, shownResend)
}

func shownResend(row models.Resend) Resend {
	r := Resend{
		ID: row.ID, EndpointID: row.EndpointID, Types: webhook.SplitTypes(row.Types), Failed: row.Failed,
		Payments: row.Payments,
		From:     time.UnixMicro(row.Since).UTC(), Before: time.UnixMicro(row.Until).UTC(), Total: row.Total,
		Walked: row.Walked, Made: row.Made,
		Delivered: row.Delivered, Failures: row.Failures, Superseded: row.Superseded, CreatedAt: row.CreatedAt,
		DoneAt: row.DoneAt, State: ResendQueueing,
	}
	switch {
	case row.DoneAt != nil && row.Walked < row.Total:
		r.State = ResendStopped
	case row.DoneAt != nil:
		r.State = ResendDone
	case row.QueuedAt != nil:
		r.State = ResendSending
	}
	return r
}

// pairsOf are the deliveries to make of some events, as an order wants them.
func pairsOf(tx *models.Tx, now time.Time, row models.Resend, events []models.Event,
	targets []webhook.Target) (rows []models.Delivery, err error) {
	had := map[string]bool{}
	if row.Failed && len(events) > 0 {
		ids, endpoints := make([]string, 0, len(events)), make([]string, 0, len(targets))
		for _, e := range events {
			ids = append(ids, e.ID)
		}
		for _, t := range targets {
			endpoints = append(endpoints, t.ID)
		}
		var good []models.Delivery
		err := tx.Select("event_id, endpoint_id").
			Where("event_id IN ? AND endpoint_id IN ? AND (outcome = ? OR done_at IS NULL AND tries = 0)", ids,
				endpoints, webhook.Delivered).
			Find(&good).Error
		if err != nil {
			return nil, err
		}
		for _, d := range good {
			had[d.EventID+" "+d.EndpointID] = true
		}
	}
	for _, e := range events {
		for _, id := range webhook.ListTakers(targets, e.Type) {
			if !had[e.ID+" "+id] {
				rows = append(rows, webhook.NewDelivery(e, id, row.ID, now))
			}
		}
	}
	return rows, nil
}

// targetsOf are the endpoints that an order is for, as far as they are active now.
func targetsOf(tx *models.Tx, row models.Resend) ([]webhook.Target, error) {
	targets, err := webhook.ActiveTargets(tx, scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)})
	if row.EndpointID != "" {
		targets = slices.DeleteFunc(targets, func(t webhook.Target) bool { return t.ID != row.EndpointID })
	}
	return targets, err
}
