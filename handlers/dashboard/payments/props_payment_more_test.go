package payments

import (
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
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
