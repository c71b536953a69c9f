package dashboard

import (
	"strconv"
	"time"

	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// webhookRow is an endpoint in the list; last is its latest delivery, if any.
func webhookRow(e webhook.Endpoint, last *webhook.Delivery, zone *time.Location) dashboard.WebhookRow {
	row := dashboard.WebhookRow{ID: e.ID, Name: e.Name, URL: e.URL, Active: e.Active}
	if e.OffReason != "" {
		row.OffWhy = "Switched off by Cointill: " + e.OffReason
	}
	if last != nil {
		shown := deliveryRow(*last, zone)
		row.LastResult, row.LastTone, row.LastAt = shown.Result, shown.Tone, shown.At
	}
	return row
}

// deliveryRow is a delivery as pages show it.
func deliveryRow(d webhook.Delivery, zone *time.Location) dashboard.DeliveryRow {
	row := dashboard.DeliveryRow{Event: d.EventType, Endpoint: d.EndpointName, Attempt: d.Attempt, At: d.CreatedAt.In(zone)}
	if d.EndpointName != "" {
		row.EndpointHref = "/dashboard/webhooks/" + d.EndpointID
	} else {
		row.Endpoint = ""
	}
	if d.DoneAt != nil {
		row.At = d.DoneAt.In(zone)
	}
	if d.NextAt != nil && d.Attempt > 0 {
		row.Next = d.NextAt.In(zone)
	}
	row.Result, row.Tone = deliveryResult(d)
	return row
}

// deliveryResult is a short sentence about how a delivery stands.
func deliveryResult(d webhook.Delivery) (string, ui.Tone) {
	answer := d.LastError
	if d.LastStatus != 0 {
		answer = "Answered " + strconv.Itoa(d.LastStatus)
	}
	switch d.State {
	case webhook.Delivered:
		return "Delivered (" + strconv.Itoa(d.LastStatus) + ")", ui.Good
	case webhook.Exhausted:
		return "Given up: " + answer, ui.Bad
	case webhook.Cancelled:
		return "Not sent: " + d.LastError, ui.Mute
	case "sending":
		return "Being sent", ui.Info
	}
	if d.Attempt == 0 {
		return "Waits to be sent", ui.Info
	}
	return answer, ui.Warn
}

func deliveryRows(deliveries []webhook.Delivery, zone *time.Location) (rows []dashboard.DeliveryRow) {
	for _, d := range deliveries {
		rows = append(rows, deliveryRow(d, zone))
	}
	return rows
}

// webhookProps is the page of one endpoint. The form holds what it is called
// now, or what was typed and refused.
func webhookProps(page layout.Page, e webhook.Endpoint, deliveries []webhook.Delivery, form ui.Form, zone *time.Location) dashboard.WebhookProps {
	if form.Values == nil {
		form.Values = map[string]string{"type": e.Name, "url": e.URL}
	}
	props := dashboard.WebhookProps{
		Page: page, Form: form, WebhookRow: webhookRow(e, nil, zone), Created: e.CreatedAt.In(zone), Deliveries: deliveryRows(deliveries, zone),
	}
	if e.OverlapUntil != nil {
		props.OldUntil = e.OverlapUntil.In(zone)
	}
	return props
}
