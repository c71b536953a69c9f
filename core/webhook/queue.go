package webhook

import (
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/scope"
	"cointill/models"
)

// The outcomes of a delivery; "" while it is pending.
const (
	Delivered = "delivered" // an attempt was answered 2xx
	Exhausted = "exhausted" // the last attempt failed
	Cancelled = "cancelled" // the endpoint was inactive, deleted or gone
)

// States that are no outcome but are shown like one.
const (
	Pending = "pending" // it waits for its time
	Sending = "sending" // an attempt is under way
	Skipped = "skipped" // the endpoint was off when the event was made
	// Unsubscribed is an event of a type that the endpoint did not receive. Only the page of a payment shows it.
	Unsubscribed = "unsubscribed"
)

// Target is an endpoint that events may be queued for.
type Target struct {
	ID    string
	Types string
}

// Takes reports whether the endpoint receives a type of event.
func (t Target) Takes(kind string) bool {
	return t.Types == "" || kind == WebhookTest || slices.Contains(strings.Split(t.Types, ","), kind)
}

// ActiveTargets are the endpoints of a scope that receive events now.
func ActiveTargets(tx *models.Tx, sc scope.Scope) (found []Target, err error) {
	err = sc.Rows(tx).Model(&models.Endpoint{}).Where("active = ?", true).Order("id").Find(&found).Error
	return found, err
}

// ListTakers returns the ids of the endpoints that take a type.
func ListTakers(targets []Target, kind string) (ids []string) {
	for _, t := range targets {
		if t.Takes(kind) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// QueueEvent queues an event for endpoints, again for those that had it before.
func QueueEvent(tx *models.Tx, now time.Time, event models.Event, endpoints []string) (int, error) {
	rows := make([]models.Delivery, 0, len(endpoints))
	for _, id := range endpoints {
		rows = append(rows, NewDelivery(event, id, "", now))
	}
	return QueueDeliveries(tx, now, rows, models.Resend{})
}

// NewDelivery returns a new row of an event for an endpoint, due now.
func NewDelivery(event models.Event, endpointID, resend string, now time.Time) models.Delivery {
	return models.Delivery{EventID: event.ID, EndpointID: endpointID, BusinessID: event.BusinessID,
		Domain: event.Domain,
		DueAt:  now, CreatedAt: now, ResendID: resend}
}

// QueueDeliveries writes deliveries, and queues existing ones again, for when they are due. One
// whose attempt is under way is left alone: it is being delivered. So is, by an
// order, one that waits for its first attempt: it is on its way; and by one for
// what failed, one that was delivered meanwhile. A zero order is none. It returns
// how many were queued.
func QueueDeliveries(tx *models.Tx, now time.Time, rows []models.Delivery, order models.Resend) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	again := map[string]any{"due_at": clause.Column{Table: "excluded", Name: "due_at"}, "claimed_at": nil,
		"done_at": nil, "outcome": "", "tries": 0,
		"resend_id": order.ID}
	done := tx.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "event_id"}, {Name: "endpoint_id"}}, DoUpdates: clause.Assignments(again),
		Where: clause.Where{Exprs: []clause.Expression{clause.Expr{
			SQL: `deliveries.done_at IS NOT NULL AND (deliveries.outcome <> ? OR NOT ?)
				OR deliveries.done_at IS NULL AND (deliveries.claimed_at IS NULL OR deliveries.due_at <= ?) AND (deliveries.tries > 0 OR ? = '')`,
			Vars: []any{Delivered, order.Failed, now, order.ID},
		}}},
	}).Create(&rows)
	return int(done.RowsAffected), done.Error
}
