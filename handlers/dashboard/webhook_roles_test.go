package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/internal/testing/servertest"
)

// TestWebhookRoles: who may not change webhooks sees no way to, and is refused;
// another business finds nothing.
func TestWebhookRoles(t *testing.T) {
	eachHooked(t, 404, func(t *testing.T, s *hooked) {
		s.pay()
		one := s.delivery()
		order, err := s.Resends.Create(t.Context(), s.sc, delivery.Order{From: s.Clock.Now().Add(-time.Hour)})
		s.FailOn(err)
		live := s.sc
		live.Domain = scope.Live
		there, _, err := s.Webhooks.Create(t.Context(), live, webhook.Create{Name: "Live", URL: "https://shop.example/", Active: true})
		s.FailOn(err)
		liveAt := "/dashboard/webhooks/" + there.ID
		gets := func(at string) []string {
			return []string{at, "/dashboard/webhooks/check", "/dashboard/webhooks/resends", at + "/edit", "/dashboard/webhooks/resends/review?created_after=2026-03-01T11:30"}
		}
		posts := func(at string) []string {
			return []string{"/dashboard/webhooks/check", at, at + "/toggle", at + "/deliveries/evt_1/resend", "/dashboard/webhooks/resends", at + "/rotate", at + "/delete"}
		}
		want := map[scope.Role][2][2]string{ // gets and posts, in test and in live: a letter for each
			scope.Developer: {{"✓✓✓✓✓", "✓✓✓✓✓✓✓"}, {"✓✓✓––", "✓––––––"}},
			scope.Finance:   {{"–––––", "–––––––"}, {"–––––", "–––––––"}},
		}
		for role, both := range want {
			for i, domain := range []string{"test", "live"} {
				s.SetRole(s.sc, role)
				s.b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {domain}})
				at := map[string]string{"test": s.at, "live": liveAt}[domain]
				var got [2]string
				mark := func(status int) string {
					if status == http.StatusForbidden {
						return "–"
					}
					return "✓"
				}
				for _, path := range gets(at) {
					got[0] += mark(s.b.Get(path).Status)
				}
				if role == scope.Developer && domain == "test" { // its own, as others look at s.at afterwards
					own, _, err := s.Webhooks.Create(t.Context(), s.sc, webhook.Create{Name: "Own", URL: "https://own.example/", Active: true})
					s.FailOn(err)
					at = "/dashboard/webhooks/" + own.ID
				}
				for _, path := range posts(at) {
					got[1] += mark(s.b.PostFrom("/dashboard/methods", path, url.Values{"active": {"true"}}).Status)
				}
				if got != both[i] {
					t.Errorf("%s in %s: %s, want %s", role, domain, got, both[i])
				}
			}
		}
		s.SetRole(s.sc, scope.Developer)
		seen := s.b.Get(liveAt) // still in live
		expect(t, seen, 200, "disabled")
		for _, way := range []string{liveAt + "/edit", liveAt + "/rotate", liveAt + "/delete", liveAt + "/test"} {
			if strings.Contains(seen.Body, way) {
				t.Errorf("it offers %s", way)
			}
		}
		s.SetRole(s.sc, scope.Owner)
		for _, path := range []string{s.at, one, "/dashboard/webhooks/resends/" + order.ID} {
			expect(t, s.b.Get(path), 404) // of the other domain
		}
		s.CreateBusiness("Bayo's Shop", bayo)
		stranger := s.SignIn(bayo)
		for _, path := range []string{s.at, s.at + "/edit", one, "/dashboard/webhooks/resends/" + order.ID, "/dashboard/webhooks/resends/review?created_after=2026-03-01T11:30&endpoint=" + s.id()} {
			expect(t, stranger.Get(path), 404)
		}
		for _, path := range []string{s.at, s.at + "/toggle", one + "/resend"} {
			expect(t, stranger.PostFrom("/dashboard/methods", path, url.Values{"active": {"true"}}), 404)
		}
		expect(t, stranger.PostFrom("/dashboard/methods", "/dashboard/webhooks/check", url.Values{"endpoint": {s.id()}}), 404)
		expect(t, stranger.PostFrom("/dashboard/methods", "/dashboard/webhooks/resends", url.Values{"endpoint": {s.id()}, "created_after": {"2026-03-01T11:30"}}), 404)
		for _, path := range posts(s.at) {
			expect(t, stranger.Post(path, url.Values{"csrf": {"forged"}}), 403)
		}
	})
}

// TestLiveDeliveryWithoutBodies: in live a developer sees how a delivery went and which headers
// were sent, and reads why the bodies and the place where they differ aren't there. Roles that
// see payments have them.
func TestLiveDeliveryWithoutBodies(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		v := plantedVillage(t, s)
		at := v.things[scope.Live]["/dashboard/webhooks/:id/deliveries/:event"]
		withheld := []string{"The body holds customer data", "The answer may hold customer data", "Where the body differs is not shown"}
		b := s.SignIn(ama)
		for _, role := range []scope.Role{scope.Owner, scope.Developer} {
			s.SetRole(v.sc, role)
			form := asking(t, b, scope.Live)
			for name, value := range v.guesses(scope.Live) {
				form.Set(name, value)
			}
			delivery, check := b.Get(at), b.Post("/dashboard/webhooks/check", form)
			expect(t, delivery, 200, "The endpoint answered 500 Internal Server Error.", "Request and response")
			expect(t, check, 200, "The signature is not valid")
			for _, sentence := range withheld {
				said := strings.Contains(delivery.VisibleText()+check.VisibleText(), sentence)
				if said != (role == scope.Developer) {
					t.Errorf("%s in live reads %q: %t", role, sentence, said)
				}
			}
			if differs := strings.Contains(check.VisibleText(), "The first difference is at byte 0"); differs != (role == scope.Owner) {
				t.Errorf("%s in live reads where the body differs: %t", role, differs)
			}
		}
	})
}
