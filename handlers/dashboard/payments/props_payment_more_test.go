package payments

import (
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook/delivery"
)

// TestTimelineNamesTheDelivery: the timeline says which event was delivered to
// which endpoint, or failed. A role that can't see webhooks doesn't see the name.
func TestTimelineNamesTheDelivery(t *testing.T) {
	inLive := owner
	inLive.Role, inLive.Domain = scope.Finance, scope.Live
	d := delivery.Delivery{EventType: "payment.initiated", EndpointName: "orders", EndpointID: "whk_1", EventID: "evt_1"}
	sent := delivery.Attempt{Number: 1, Status: 200, Took: 4 * time.Millisecond}
	failed := delivery.Attempt{Number: 2, Error: "No answer.", Took: 10 * time.Second}
	for _, c := range []struct {
		attempt             delivery.Attempt
		sc                  scope.Scope
		title, text, linked string
	}{
		{sent, owner, "payment.initiated delivered to orders (200, 4 ms)", "", "Request and response"},
		{sent, inLive, "payment.initiated delivered (200, 4 ms)", "", ""},
		{failed, owner, "Delivery of payment.initiated to orders failed", "Attempt 2: No answer. (10.0 s)", "Request and response"},
		{failed, inLive, "Delivery of payment.initiated failed", "Attempt 2: No answer. (10.0 s)", ""},
	} {
		got := attemptStep(t.Context(), d, c.attempt, c.sc, time.UTC)
		if got.Title != c.title || got.Text != c.text || got.HrefText != c.linked {
			t.Errorf("attempt %d for %s: %q, %q, link %q; want %q, %q, link %q", c.attempt.Number, c.sc.Role, got.Title, got.Text, got.HrefText, c.title, c.text, c.linked)
		}
	}
}
