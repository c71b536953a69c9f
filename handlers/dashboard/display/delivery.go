package display

import (
	"context"
	"strconv"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// DeliveryRow is a delivery as pages of other things show it.
func DeliveryRow(ctx context.Context, d delivery.Delivery, zone *time.Location) dashboard.DeliveryRow {
	row := dashboard.DeliveryRow{Event: d.EventType, Endpoint: d.EndpointName, Attempt: d.Attempt,
		At: d.CreatedAt.In(zone)}
	if d.EndpointName != "" {
		row.EndpointHref = WebhookPath(d.EndpointID)
	}
	if d.EndpointName != "" && d.State != webhook.Unsubscribed { // it has no delivery to show
		row.Href = DeliveryPath(d.EndpointID, d.EventID)
	}
	if d.DoneAt != nil {
		row.At = d.DoneAt.In(zone)
	}
	if d.NextAt != nil && d.Attempt > 0 {
		row.Next = d.NextAt.In(zone)
	}
	row.Result, row.Tone = DeliveryResult(ctx, d)
	return row
}

// DeliveryResult is a short sentence about how a delivery stands.
func DeliveryResult(ctx context.Context, d delivery.Delivery) (string, ui.Tone) {
	problem := words.Problem(ctx, d.LastCode, d.LastError)
	if d.LastCode == "" && d.LastStatus != 0 {
		problem = words.Translate(ctx, diagnose.DescribeStatus(d.LastStatus))
	}
	answer := problem
	if d.LastStatus != 0 {
		answer = words.T(ctx, "webhook.answered", "Status", strconv.Itoa(d.LastStatus))
	}
	switch d.State {
	case webhook.Delivered:
		return words.T(ctx, "webhook.delivered_with", "Status", strconv.Itoa(d.LastStatus)), ui.Good
	case webhook.Exhausted:
		return words.T(ctx, "webhook.given_up", "Why", answer), ui.Bad
	case webhook.Cancelled:
		if d.Attempt > 0 {
			return words.T(ctx, "webhook.ended", "Why", problem), ui.Mute
		}
		return words.T(ctx, "webhook.not_sent", "Why", problem), ui.Mute
	case webhook.Skipped:
		return words.T(ctx, "webhook.skipped"), ui.Mute
	case webhook.Unsubscribed:
		return words.T(ctx, "webhook.unsubscribed"), ui.Mute
	case webhook.Sending:
		return words.T(ctx, "webhook.being_sent"), ui.Info
	}
	if d.Attempt == 0 || answer == "" {
		return words.T(ctx, "webhook.waits"), ui.Info
	}
	return answer, ui.Warn
}

const WebhooksPath = "/dashboard/webhooks"

func WebhookPath(id string) string { return WebhooksPath + "/" + id }

func DeliveryPath(endpointID, eventID string) string {
	return WebhookPath(endpointID) + "/deliveries/" + eventID
}
