package display

import (
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
)

func TestDeliveryResult(t *testing.T) {
	for want, d := range map[string]delivery.Delivery{
		"Delivered (204)":              {State: webhook.Delivered, LastStatus: 204},
		"Given up: Response 500":       {State: webhook.Exhausted, LastStatus: 500},
		"Not sent: It was inactive.":   {State: webhook.Cancelled, LastError: "It was inactive."},
		"Being sent":                   {State: "sending"},
		"Waiting to be sent":           {State: "pending"},
		"Response 503":                 {State: "pending", Attempt: 1, LastStatus: 503},
		"The host name was not found.": {State: "pending", Attempt: 1, LastError: "The host name was not found."},
	} {
		if got, _ := DeliveryResult(t.Context(), d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	next := noon.Add(time.Hour)
	row := DeliveryRow(t.Context(), delivery.Delivery{State: "pending", Attempt: 1, NextAt: &next, CreatedAt: noon, EndpointID: "whk_1", EndpointName: "Shop"}, time.UTC)
	if !row.Next.Equal(next) || row.EndpointHref != "/dashboard/webhooks/whk_1" {
		t.Errorf("%+v", row)
	}
}
