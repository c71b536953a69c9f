package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cointill/core/webhook"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

var newSecret = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(csrf|once)" value="([^"]*)"`)

// TestOnce sends forms that make something twice, one after the other and both
// at once: they make it once, and lead to it each time. Shown again, a form
// makes another.
func TestOnce(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		s.pay()
		link := url.Values{"title": {"Class"}, "amount_kind": {"fixed"}, "currency": {"NGN"}, "amount": {"100"}, "methods": {"crypto_ripple"}}
		for name, c := range map[string]struct {
			page, path string
			form       url.Values
			count      func() int
		}{
			"link": {"/dashboard/links/new", "/dashboard/links", link, func() int {
				list, _, err := s.Links.ListLinks(t.Context(), s.sc, 0, 100)
				s.FailOn(err)
				return len(list)
			}},
			"resend": {"/dashboard/webhooks/resends/review?created_after=2026-03-01T11:00", "/dashboard/webhooks/resends", url.Values{"created_after": {"2026-03-01T11:00"}}, func() int {
				list, _, err := s.Resends.List(t.Context(), s.sc, "", 100)
				s.FailOn(err)
				return len(list)
			}},
			"endpoint": {"/dashboard/webhooks/new", "/dashboard/webhooks", url.Values{"type": {"Other"}, "url": {"https://other.example/"}}, func() int {
				list, _, err := s.Webhooks.List(t.Context(), s.sc, "", 100)
				s.FailOn(err)
				return len(list) - 1 // the one that there was
			}},
			"rotation": {s.at, s.at + "/rotate", url.Values{}, func() int {
				var n int64
				s.FailOn(s.DB.Read(t.Context()).Model(&models.Audit{}).Where("action = ?", "webhook.secret_rotated").Count(&n).Error)
				return int(n)
			}},
			"test event": {s.at, s.at + "/test", url.Values{}, func() int {
				list, _, err := s.Webhooks.Events(t.Context(), s.sc, webhook.Filter{Type: webhook.WebhookTest}, "", 100)
				s.FailOn(err)
				return len(list)
			}},
		} {
			showing := func() url.Values {
				form := url.Values{}
				for _, found := range hiddenField.FindAllStringSubmatch(s.b.Get(c.page).Body, -1) {
					form.Set(found[1], html.UnescapeString(found[2]))
				}
				for field, values := range c.form {
					form[field] = values
				}
				return form
			}
			form := showing()
			first := s.b.Post(c.path, form)
			form.Set("csrf", showing().Get("csrf")) // masked again for each page
			again := s.b.Post(c.path, form)
			if n := c.count(); n != 1 || first.Status >= 400 || again.Status != first.Status || again.Location != first.Location ||
				newSecret.FindString(again.Body) != newSecret.FindString(first.Body) {
				t.Errorf("%s: %d made, %d to %q, then %d to %q: %.300s", name, n, first.Status, first.Location, again.Status, again.Location, again.VisibleText())
			}
			form = showing()
			var both sync.WaitGroup
			for _, b := range []*servertest.Browser{s.b.NewWindow(), s.b.NewWindow()} {
				both.Go(func() {
					if a := b.Post(c.path, form); a.Status >= 400 {
						t.Errorf("%s at once: %d %.300s", name, a.Status, a.VisibleText())
					}
				})
			}
			both.Wait()
			if n := c.count(); n != 2 {
				t.Errorf("%s: %d made, want 2", name, n)
			}
			for i, odd := range []string{strings.Repeat("x", 300), "é", ""} { // no nonce of ours is none
				if form.Set("once", odd); s.b.Post(c.path, form).Status >= 400 || c.count() != 3+i {
					t.Errorf("%s with nonce %.10q: %d made", name, odd, c.count())
				}
			}
		}
		page := s.b.Get("/dashboard/links/new").Body
		for _, amount := range []string{"200", "300"} { // gone back to and changed, it is another form
			for _, found := range hiddenField.FindAllStringSubmatch(page, -1) {
				link.Set(found[1], html.UnescapeString(found[2]))
			}
			link.Set("amount", amount)
			if a := s.b.Post("/dashboard/links", link); a.Status != http.StatusSeeOther {
				t.Errorf("changed to %s: %d %.300s", amount, a.Status, a.VisibleText())
			}
		}
	})
}
