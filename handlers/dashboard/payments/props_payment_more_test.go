package payments

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/views/words"
)

// TestEndpointHasOneLine: the deliveries of a payment stand under their endpoint, whose line says
// how the last one went. A role that can't see webhooks sees no name and no link.
func TestEndpointHasOneLine(t *testing.T) {
	inLive := owner
	inLive.Role, inLive.Domain = scope.Finance, scope.Live
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	made := []delivery.Delivery{
		{ID: 3, EndpointID: "whk_1", EndpointName: "orders", EventID: "evt_2", EventType: "payment.successful", State: "pending", Attempt: 2, LastStatus: 503, CreatedAt: at.Add(time.Minute)},
		{ID: 1, EndpointID: "whk_1", EndpointName: "orders", EventID: "evt_1", EventType: "payment.initiated", State: webhook.Delivered, LastStatus: 200, CreatedAt: at},
		{ID: 2, EndpointID: "whk_2", EndpointName: "books", EventID: "evt_1", EventType: "payment.initiated", State: webhook.Delivered, LastStatus: 204, CreatedAt: at},
	}
	for _, c := range []struct {
		sc   scope.Scope
		want string
	}{
		{owner, "orders /dashboard/webhooks/whk_1 2 Response 503|books /dashboard/webhooks/whk_2 1 Delivered (204)"},
		{inLive, "  2 Response 503|  1 Delivered (204)"},
	} {
		var lines []string
		for _, row := range endpointRows(t.Context(), made, c.sc, time.UTC) {
			lines = append(lines, strings.Join([]string{row.Name, row.Href, string(rune('0' + len(row.Deliveries))), row.Last.Result}, " "))
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("endpoints for %s = %q, want %q", c.sc.Role, got, c.want)
		}
	}
}

// TestEndpointLineSaysWhatWasSkipped: an event that an endpoint was off for stands in its line in the words of the
// endpoint's page. One that it doesn't receive stands below, without a link, unless the endpoint received nothing.
func TestEndpointLineSaysWhatWasSkipped(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	event := func(endpoint string, minute int, state string) delivery.Delivery {
		return delivery.Delivery{EndpointID: endpoint, EndpointName: endpoint, EventID: "evt",
			EventType: "payment.initiated", State: state, LastStatus: 200, CreatedAt: at.Add(time.Duration(minute) * time.Minute)}
	}
	made := []delivery.Delivery{event("delivered", 0, webhook.Delivered), event("delivered", 1, webhook.Unsubscribed),
		event("skipped", 0, webhook.Delivered), event("skipped", 2, webhook.Skipped), event("narrow", 3, webhook.Unsubscribed),
		event("narrow", 4, webhook.Unsubscribed), event("first", 5, webhook.Unsubscribed), event("first", 6, webhook.Delivered)}
	for lang, want := range map[string]string{
		"en": "delivered 2 Delivered (200)|skipped 2 Skipped: the endpoint was off|" +
			"narrow 2 Not sent: the endpoint doesn’t receive this event|first 2 Delivered (200)",
		"fr": "delivered 2 Livré (200)|skipped 2 Sauté\u00a0: l'endpoint était désactivé|" +
			"narrow 2 Non envoyé\u00a0: l'endpoint ne reçoit pas cet événement|first 2 Livré (200)",
	} {
		var lines []string
		for _, row := range endpointRows(words.WithLanguage(t.Context(), lang), made, owner, time.UTC) {
			lines = append(lines, fmt.Sprint(row.Name, " ", len(row.Deliveries), " ", row.Last.Result))
			for _, one := range row.Deliveries {
				if linked := one.Href != ""; linked == strings.HasPrefix(one.Result, "No") {
					t.Errorf("%s: %q has the link %q", row.Name, one.Result, one.Href)
				}
			}
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%s: the endpoints are %q, want %q", lang, got, want)
		}
	}
}
