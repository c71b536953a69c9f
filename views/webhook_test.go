package views_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/account/auth"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/views/mail"
)

// TestWebhookOffText: both forms of the notice say why the webhook is off, and escape what a merchant chose.
func TestWebhookOffText(t *testing.T) {
	zone := time.FixedZone("WAT", 3600)
	n := webhook.Notice{Owner: auth.User{Name: "Amara Okafor"}, Business: `Ama's <script>alert(1)</script>`, Domain: scope.Live,
		Endpoint: webhook.Endpoint{Name: "orders", URL: "https://shop.example/hook?a=1&b=2", OffReason: "Every delivery failed for 5 days."},
		Since:    now.Add(-120 * time.Hour).In(zone), At: now.In(zone), URL: "https://till.example/dashboard/webhooks/whk_1"}
	subject, text, html := mail.RenderWebhookOff(n)
	escaped := strings.NewReplacer("&", "&amp;", "'", "&#39;", "<", "&lt;", ">", "&gt;")
	for _, want := range []string{"the webhook “orders” is off", n.Endpoint.URL, n.Endpoint.OffReason, "16 November 2026", "21 November 2026", n.URL, "Amara Okafor"} {
		if !strings.Contains(subject+text, want) || !strings.Contains(html, escaped.Replace(want)) {
			t.Errorf("a form lacks %q:\n%s\n%s", want, text, html)
		}
	}
	if strings.Contains(html, "<script>") || strings.Contains(subject+text, "TEST") {
		t.Errorf("html = %v", html)
	}
	n.Domain = scope.Test
	if subject, text, _ = mail.RenderWebhookOff(n); !strings.HasPrefix(subject, "[TEST] ") || !strings.HasPrefix(text, "TEST DATA") {
		t.Errorf("mail.RenderWebhookOff(n): subject = %v, text = %v", subject, text)
	}
}
