package diagnose

import (
	"context"
	"strings"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/paging"
	"cointill/models"
)

// Service explains the signatures of deliveries. Its fields are set once, before use.
type Service struct {
	DB        *models.DB
	Clock     clock.Clock
	Endpoints *webhook.Service
}

// ExplainSignature says why the signature of a delivery to an endpoint doesn't
// verify. The pasted text is not stored. The verdict shows where the body differs from the sent
// one only to roles that see payments. Faults: Invalid, NotFound, Forbidden.
func (s *Service) ExplainSignature(ctx context.Context, sc scope.Scope, endpointID string, p Pasted) (Verdict, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return Verdict{}, err
	}
	if len(p.Body) > MaxPasted {
		return Verdict{}, fault.RefuseField("body", "May have at most 24,576 bytes here.")
	}
	chosen, err := webhook.FindEndpoint(s.DB.Read(ctx), sc, endpointID)
	if err != nil {
		return Verdict{}, err
	}
	var rows []models.Endpoint
	if err := sc.Rows(s.DB.Read(ctx)).Where("id <> ?", chosen.ID).Order("created_at DESC, id DESC").Limit(webhook.MaxEndpoints).
		Find(&rows).Error; err != nil {
		return Verdict{}, err
	}
	var known Known
	known.Chosen, _ = s.Endpoints.OpenSecrets(chosen) // a secret that can't be read signs nothing
	for _, row := range rows {
		keys, _ := s.Endpoints.OpenSecrets(row)
		known.Others = append(known.Others, keys...)
	}
	if err := s.recallEvent(ctx, sc, chosen.ID, strings.TrimSpace(trimHeaderName("webhook-id", p.ID)), &known); err != nil {
		return Verdict{}, err
	}
	v := Explain(p, known, s.Clock())
	if v.Diff != nil && webhook.Withheld(sc) { // it shows a piece of the sent body, and each try would show the next byte
		v.Diff, v.DiffWithheld = nil, true
	}
	return v, nil
}

// recallEvent adds the event and its requests to the endpoint's keys.
func (s *Service) recallEvent(ctx context.Context, sc scope.Scope, endpointID, eventID string, known *Known) error {
	if !paging.IsPlainID(eventID) {
		return nil
	}
	var events []models.Event
	if err := sc.Rows(s.DB.Read(ctx)).Where("id = ?", eventID).Limit(1).Find(&events).Error; err != nil ||
		len(events) == 0 {
		return err
	}
	known.Found, known.Body = true, events[0].Body
	var requests []string
	err := s.DB.Read(ctx).Model(&models.DeliveryAttempt{}).Where("delivery_id IN (?)",
		sc.Rows(s.DB.Read(ctx)).Model(&models.Delivery{}).Select("id").
			Where("event_id = ? AND endpoint_id = ?", eventID, endpointID)).
		Order("attempt DESC").Limit(50).Pluck("request", &requests).Error
	for _, request := range requests {
		for line := range strings.Lines(request) {
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Webhook-Timestamp") {
				known.Times = append(known.Times, strings.TrimSpace(value))
			}
		}
	}
	return err
}
