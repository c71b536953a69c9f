package dashboard_test

import (
	"net/url"
	"testing"

	"cointill/core/link"
	"cointill/core/webhook"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestSwitchesNeedTheirValue: a switch without one of the two values that its
// form sends is refused, and everything stays as it was.
func TestSwitchesNeedTheirValue(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		_, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD"})
		s.FailOn(err)
		hook, _, err := s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Shop", URL: "https://shop.example/hook", Active: true})
		s.FailOn(err)
		b := s.SignIn(ama)
		for at, name := range map[string]string{"/dashboard/links/1/toggle": "active", "/dashboard/methods/crypto_bitcoin": "enabled",
			"/dashboard/webhooks/" + hook.ID + "/toggle": "active"} {
			for _, values := range []url.Values{nil, {name: {""}}, {name: {"on"}}, {name: {"TRUE"}}, {"state": {"true"}}} {
				expect(t, b.PostFrom("/dashboard/methods", at, values), 422)
			}
		}
		if rows(s, &models.Link{}, "active = ?", true) != 1 || rows(s, &models.Endpoint{}, "active = ?", true) != 1 ||
			rows(s, &models.Method{}, "code = 'crypto_bitcoin' AND domain = 'test' AND enabled = ?", true) != 1 {
			t.Error("something was switched")
		}
	})
}
