package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestStalePages opens pages, has what they are about taken away in another
// window, and uses them: each says what is no longer there, and does nothing.
func TestStalePages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)

		// An endpoint is deleted while its pages are open.
		hooked := b.PostFrom("/dashboard/webhooks/new", "/dashboard/webhooks", url.Values{"type": {"Shop"}, "url": {"https://shop.example/"}})
		at := regexp.MustCompile(`/dashboard/webhooks/whk_\w+`).FindString(hooked.Body)
		open := shownForm(b.Get(at), url.Values{"active": {"false"}, "type": {"Shop"}, "url": {"https://shop.example/"}})
		leads(t, b.PostFrom(at, at+"/delete", nil), "/dashboard/webhooks")
		for _, verb := range []string{"", "/toggle", "/rotate", "/test", "/delete"} {
			expect(t, b.Post(at+verb, open), 404, "Not found", "webhook")
		}
		expect(t, b.Get(at+"/edit"), 404, "Not found", "webhook")

		// A key is revoked, an invitation taken back, while the page is open.
		key, _, err := s.Keys.CreateKey(t.Context(), sc, "Server")
		s.FailOn(err)
		at = fmt.Sprintf("/dashboard/keys/%d", key.ID)
		open = shownForm(b.Get("/dashboard/keys"), nil)
		leads(t, b.Post(at+"/revoke", open), "/dashboard/keys")
		rolled := b.Post(at+"/roll", open)
		if rolled.Status != http.StatusConflict || !strings.Contains(rolled.VisibleText(), "revoked") {
			t.Errorf("a revoked key is rolled: %d %.600s", rolled.Status, rolled.VisibleText())
		}

		// A payment is accepted in one window, and refunded in the other.
		reference := declined(s, sc)
		at = "/dashboard/payments/" + reference
		open = shownForm(b.Get(at+"/refund"), url.Values{"amount": {"0.00000100"}})
		leads(t, b.PostFrom(at, at+"/accept", nil), at)
		expect(t, b.Post(at+"/refund/review", open), 409, "A refund can be recorded for a declined payment only")
	})
}

// TestRemovedMember: who is removed is told so by the next thing they do, and it is not done.
func TestRemovedMember(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		member := hire(t, s, sc, bayo, scope.Admin)
		b, owner := s.SignIn(bayo), s.SignIn(ama)
		page := b.Get("/dashboard/links/new")
		open := shownForm(page, url.Values{"title": {"Mine"}, "amount_kind": {"fixed"}, "currency": {"NGN"}, "amount": {"100"}, "methods": {"crypto_ripple"}})
		for _, gone := range []string{"", " again"} { // sent twice by two clicks
			a := owner.PostFrom(teamAt, fmt.Sprintf("%s/members/%d/remove", teamAt, member.ID), nil)
			if want := map[string]int{"": http.StatusSeeOther, " again": http.StatusNotFound}[gone]; a.Status != want {
				t.Errorf("removed%s: %d %.300s", gone, a.Status, a.VisibleText())
			}
		}
		sent := b.Post("/dashboard/links", open)
		for range 3 { // to where a browser goes by itself
			if sent.Status != http.StatusSeeOther {
				break
			}
			sent = b.Get(strings.TrimPrefix(sent.Location, servertest.Base))
		}
		if !strings.Contains(sent.VisibleText(), "You are no longer a member of a business here") {
			t.Errorf("a removed member is told: %d %.600s", sent.Status, sent.VisibleText())
		}
		if n := rows(s, &models.Link{}, "1 = 1"); n != 0 {
			t.Errorf("%d links by somebody who is no longer there", n)
		}
	})
}

// TestTwice sends the forms that make nothing new twice: the second does nothing
// more, and says so or leads to the same place.
func TestTwice(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		mine := owned(t, s, sc)
		b := s.SignIn(ama)
		reference := declined(s, sc)
		payment := "/dashboard/payments/" + reference
		stray := untagged(s, sc, strings.Repeat("ef", 32), models.Payment{Network: "sandbox-xrpl", Coin: string(money.XRP), Due: money.Units(1_000_000)})
		for _, c := range []struct {
			page, path string
			form       url.Values
			audit      string
			want       int64
		}{
			{"/dashboard/keys", "/dashboard/keys", url.Values{"name": {"Twice"}, "permission.links": {"true"}}, "key.created", 1},
			{"/dashboard/quickstart", "/dashboard/quickstart", nil, "key.created", 1},
			{"/dashboard/keys", mine["/dashboard/keys/:id"] + "/roll", nil, "key.rolled", 1},
			{"/dashboard/keys", mine["/dashboard/keys/:id"] + "/revoke", nil, "key.revoked", 1},
			{"/dashboard/methods", "/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {"false"}}, "method", 1},
			{mine["/dashboard/webhooks/:id"], mine["/dashboard/webhooks/:id"] + "/toggle", url.Values{"active": {"false"}}, "webhook", 1},
			{teamAt, mine["/dashboard/team/members/:id"] + "/role", url.Values{"role": {"finance"}}, "member.role", 1},
			{teamAt, mine["/dashboard/team/members/:id"] + "/remove", nil, "member.removed", 1},
			{teamAt, mine["/dashboard/team/invitations/:id"] + "/revoke", nil, "invitation.revoked", 1},
			{payment, payment + "/accept", nil, "payment.accept", 1},
			{fmt.Sprintf("/dashboard/unmatched/%d", stray.ID), fmt.Sprintf("/dashboard/unmatched/%d/refund", stray.ID), url.Values{"note": {"Cash"}}, "transfer", 1},
			{accountAt, accountAt, url.Values{"name": {"Ama B"}}, "user", 1},
			{"/dashboard/rates/NGN", "/dashboard/rates/NGN", url.Values{"market": {"official"}, "spread": {"1"}}, "rate", 1},
			{mine["/dashboard/webhooks/:id"], mine["/dashboard/webhooks/:id"] + "/delete", nil, "webhook", 1},
		} {
			before := rows(s, &models.Audit{}, "action LIKE ? AND NOT refused", c.audit+"%")
			form := shownForm(b.Get(c.page), c.form)
			first, again := b.Post(c.path, form), b.Post(c.path, form)
			if first.Status >= 400 || again.Status >= 500 || again.Status >= 400 && again.Status != 404 && again.Status != 409 {
				t.Errorf("%s answers %d, then %d: %.300s", c.path, first.Status, again.Status, again.VisibleText())
			}
			if n := rows(s, &models.Audit{}, "action LIKE ? AND NOT refused", c.audit+"%") - before; n != c.want {
				t.Errorf("%s was done %d times, want %d", c.path, n, c.want)
			}
		}
	})
}
