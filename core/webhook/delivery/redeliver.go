package delivery

import (
	"context"
	"slices"

	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// Redeliver sends an event again, with the same id and bytes, to each endpoint
// that is active now and takes its type; a test event only to the one it was
// for. With an endpointID it goes to that one alone. It returns how many that
// are. Faults: NotFound, Forbidden, Conflict when none is active, Gone when the event's body is
// no longer kept.
func (s *Service) Redeliver(ctx context.Context, sc scope.Scope, eventID, endpointID string) (n int, err error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return 0, err
	}
	n, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (int, error) {
		event, err := webhook.FindEvent(tx, sc, eventID)
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
		n, err := webhook.QueueEvent(tx, s.Clock(), event, ids)
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
		row, err := webhook.FindEndpoint(tx, sc, only)
		if err == nil && !row.Active {
			err = errInactive()
		}
		return []string{only}, err
	}
	targets, err := webhook.ActiveTargets(tx, sc)
	if err != nil {
		return nil, err
	}
	ids := webhook.ListTakers(targets, event.Type)
	if event.Type == webhook.WebhookTest {
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
func (s *Service) SendTest(ctx context.Context, sc scope.Scope, id string) (eventID string, err error) {
	if err := sc.CheckAction(scope.ManageWebhooks); err != nil {
		return "", err
	}
	eventID, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (string, error) {
		row, err := webhook.FindEndpoint(tx, sc, id)
		if err != nil {
			return "", err
		}
		if !row.Active {
			return "", errInactive()
		}
		event := webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: webhook.WebhookTest, Data: testData{
			Message: "This is a test event. Nothing happened to any payment.",
			Webhook: testWebhook{ID: row.ID, Type: row.Name, URL: row.URL},
		}}
		written, err := s.Events.WriteEvent(tx, event)
		if err != nil {
			return "", err
		}
		_, err = webhook.QueueEvent(tx, s.Clock(), written, []string{row.ID})
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
