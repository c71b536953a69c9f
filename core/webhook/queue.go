package webhook

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/models"
)

// target is an endpoint that events may be queued for.
type target struct {
	ID    string
	Types string
}

// takesEvent reports whether the endpoint receives a type of event.
func (t target) takesEvent(kind string) bool {
	return t.Types == "" || kind == WebhookTest || slices.Contains(strings.Split(t.Types, ","), kind)
}

// activeTargets are the endpoints of a scope that receive events now.
func activeTargets(tx *models.Tx, sc scope.Scope) (found []target, err error) {
	err = sc.Rows(tx).Model(&models.Endpoint{}).Where("active = ?", true).Order("id").Find(&found).Error
	return found, err
}

// listTakers returns the ids of the endpoints that take a type.
func listTakers(targets []target, kind string) (ids []string) {
	for _, t := range targets {
		if t.takesEvent(kind) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Redeliver sends an event again, with the same id and bytes, to each endpoint
// that is active now and takes its type; a test event only to the one it was
// for. With an endpointID it goes to that one alone. It returns how many that
// are. Faults: NotFound, Forbidden, Conflict when none is active, Gone when the event's body is
// no longer kept.
func (s *Deliveries) Redeliver(ctx context.Context, sc scope.Scope, eventID, endpointID string) (n int, err error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return 0, err
	}
	n, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (int, error) {
		event, err := findEvent(tx, sc, eventID)
		if err != nil {
			return 0, err
		}
		if event.Pruned {
			return 0, fault.New(fault.Gone, "event_pruned",
				"The event is older than 60 days: its content is no longer kept.")
		}
		ids, err := listResendEndpoints(tx, sc, event, endpointID)
		if err != nil {
			return 0, err
		}
		n, err := deliverTo(tx, s.Clock(), event, ids)
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "delivery_under_way",
				"It is being delivered at this moment. Look in a moment whether it has arrived, and send it again "+
					"if not.")
		}
		return n, err
	})
	if err == nil {
		s.wakeWorker()
	}
	return n, err
}

// listResendEndpoints returns the endpoints that an event is sent to once more.
func listResendEndpoints(tx *models.Tx, sc scope.Scope, event models.Event, only string) ([]string, error) {
	if only != "" {
		row, err := findEndpoint(tx, sc, only)
		if err == nil && !row.Active {
			err = errInactive()
		}
		return []string{only}, err
	}
	targets, err := activeTargets(tx, sc)
	if err != nil {
		return nil, err
	}
	ids := listTakers(targets, event.Type)
	if event.Type == WebhookTest {
		var had []string
		if err := sc.Rows(tx).Model(&models.Delivery{}).Where("event_id = ?", event.ID).
			Pluck("endpoint_id", &had).Error; err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(had, id) })
	}
	if len(ids) == 0 {
		return nil, errNobodyReceives()
	}
	return ids, nil
}

func errNobodyReceives() error {
	return fault.New(fault.Conflict, "no_active_webhook",
		"No active webhook would receive this. Register one, switch one on, or have it receive the type.")
}

func errInactive() error {
	return fault.New(fault.Conflict, "webhook_inactive",
		"The webhook is inactive and receives no events. Switch it on first.")
}

// SendTest makes a webhook.test event for this endpoint alone and returns the
// event's id. Faults: NotFound, Forbidden, Conflict when it is inactive.
func (s *Deliveries) SendTest(ctx context.Context, sc scope.Scope, id string) (eventID string, err error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return "", err
	}
	eventID, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (string, error) {
		row, err := findEndpoint(tx, sc, id)
		if err != nil {
			return "", err
		}
		if !row.Active {
			return "", errInactive()
		}
		event := Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: WebhookTest, Data: testData{
			Message: "This is a test event. Nothing happened to any payment.",
			Webhook: testWebhook{ID: row.ID, Type: row.Name, URL: row.URL},
		}}
		written, err := s.Events.writeEvent(tx, event)
		if err != nil {
			return "", err
		}
		_, err = deliverTo(tx, s.Clock(), written, []string{row.ID})
		return written.ID, err
	})
	if err == nil {
		s.wakeWorker()
	}
	return eventID, err
}

type testData struct {
	Message string      `json:"message"`
	Webhook testWebhook `json:"webhook"`
}

type testWebhook struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// deliverTo queues an event for endpoints, again for those that had it before.
func deliverTo(tx *models.Tx, now time.Time, event models.Event, endpoints []string) (int, error) {
	rows := make([]models.Delivery, 0, len(endpoints))
	for _, id := range endpoints {
		rows = append(rows, newDelivery(event, id, "", now))
	}
	return queueDeliveries(tx, now, rows, models.Resend{})
}

// newDelivery returns a new row of an event for an endpoint, due now.
func newDelivery(event models.Event, endpointID, resend string, now time.Time) models.Delivery {
	return models.Delivery{EventID: event.ID, EndpointID: endpointID, BusinessID: event.BusinessID,
		Domain: event.Domain,
		DueAt:  now, CreatedAt: now, ResendID: resend}
}

// queueDeliveries writes deliveries, and queues existing ones again. One
// whose attempt is under way is left alone: it is being delivered. So is, by an
// order, one that waits for its first attempt: it is on its way; and by one for
// what failed, one that was delivered meanwhile. A zero order is none. It returns
// how many were queued.
func queueDeliveries(tx *models.Tx, now time.Time, rows []models.Delivery, order models.Resend) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	again := map[string]any{"due_at": now, "claimed_at": nil, "done_at": nil, "outcome": "", "tries": 0,
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
