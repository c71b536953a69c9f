package dashboard_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// subscription is what the script of a browser sends.
func subscription(t *testing.T, b *servertest.Browser, endpoint string) url.Values {
	t.Helper()
	var known struct{ Key, Member string }
	answer := b.Get("/dashboard/notifications/browsers/key")
	if err := json.Unmarshal([]byte(answer.Body), &known); err != nil || answer.Status != 200 || len(known.Member) != 16 {
		t.Fatalf("the key: %d %s (%v), want a key and a mark of the member", answer.Status, answer.Body, err)
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return url.Values{"endpoint": {endpoint}, "key": {known.Key}, "auth": {encode(make([]byte, 16))},
		"p256dh": {encode(private.PublicKey().Bytes())}}
}

// TestBrowsersPage: a member switches notifications on in a browser, chooses what it shows, and switches them off;
// others neither see it nor change it.
func TestBrowsersPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const path, endpoint = "/dashboard/notifications/browsers", "https://push.example/secret-of-this-browser"
		sc := s.CreateBusiness("Ama's Shop", ama)
		hire(t, s, sc, "finance@till.example", scope.Finance)
		b, other := s.SignIn(ama), s.SignIn("finance@till.example")
		expect(t, b.Get(path), 200, `data-push=""`, "Switch on in this browser", "Payment received")
		form := subscription(t, b, endpoint)
		if a := b.PostFrom(path, path, form); a.Status != 204 {
			t.Fatalf("switched on: %d %s, want 204", a.Status, a.Body)
		}
		if a := b.PostFrom(path, path, url.Values{"endpoint": {"http://push.example"}, "key": form["key"]}); a.Status != 422 {
			t.Errorf("an http address: %d, want 422", a.Status)
		}
		page := b.Get(path)
		expect(t, page, 200, `data-push="1"`, "push.example", "this browser", "Hidden")
		if strings.Contains(page.Body, "secret-of-this-browser") {
			t.Error("the page shows the address by which anyone could disturb the browser")
		}
		var row models.PushSubscription
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		if strings.Contains(string(row.Sealed), "push.example") {
			t.Error("the address stands readable in the database")
		}
		leads(t, b.PostFrom(path, path+"/1", url.Values{"amounts": {"show"}}), path)
		expect(t, b.Get(path), 200, "Shown")
		for _, at := range []string{"/1", "/1/remove"} {
			if a := other.PostFrom(path, path+at, nil); a.Status != 404 {
				t.Errorf("another member posts to %s: %d, want 404", at, a.Status)
			}
		}
		expect(t, other.Get(path), 200, `data-push=""`)

		kinds := url.Values{"paid": {"off"}, "declined": {"instant"}, "unmatched": {"instant"}, "refund_claimed": {"off"},
			"endpoint_failing": {"instant"}, "coin_unavailable": {"off"}}
		leads(t, b.PostFrom(path, path+"/kinds", kinds), path)
		kinds.Set("paid", "daily")
		expect(t, b.PostFrom(path, path+"/kinds", kinds), 422, "Choose one of those that are offered.")
		leads(t, b.PostFrom(path, path+"/1/remove", nil), path)
		expect(t, b.Get(path), 200, "Notifications are switched off in that browser.", `data-push=""`)
	})
}

// TestBrowserOfAnotherMember (NOT-2): a browser in which another member signs in no longer shows the first one's
// notifications, and signing out ends them.
func TestBrowserOfAnotherMember(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const path, endpoint = "/dashboard/notifications/browsers", "https://push.example/1"
		sc := s.CreateBusiness("Ama's Shop", ama)
		hire(t, s, sc, "finance@till.example", scope.Finance)
		b := s.SignIn(ama)
		b.PostFrom(path, path, subscription(t, b, endpoint))
		other := s.SignIn("finance@till.example")
		other.PostFrom(path, path, subscription(t, other, endpoint))
		expect(t, b.Get(path), 200, `data-push=""`)
		expect(t, other.Get(path), 200, `data-push="2"`)
		other.PostFrom("/dashboard", "/sign-out", nil)
		browsers := &push.Service{DB: s.DB, Clock: s.Clock.Now, Secrets: s.Payments.Secrets}
		s.FailOn(browsers.Prune(t.Context()))
		if n := rows(s, &models.PushSubscription{}, "true"); n != 0 {
			t.Errorf("%d browsers after signing out, want none", n)
		}
		s.Clock.Advance(time.Minute)
		expect(t, s.SignIn("finance@till.example").Get(path), 200, `data-push=""`)
	})
}
