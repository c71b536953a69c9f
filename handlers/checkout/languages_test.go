package checkout_test

import (
	"html"
	"net/url"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/views/words"
)

// TestEveryLanguage: each is on the page's switch, written in its direction,
// says what is wrong with a form, and why a link can't be paid any more.
func TestEveryLanguage(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		end := s.Clock.Now().Add(time.Hour)
		made, off := aLink(t, s, sc, link.Draft{MinAmount: 10, MaxAmount: 500, ExpiresAt: &end}), aLink(t, s, sc, link.Draft{MinAmount: 10, MaxAmount: 500})
		s.FailOn(s.Links.SetActive(t.Context(), sc, off.ID, false))
		b := s.NewBrowser()
		for _, lang := range words.Languages {
			at, query := "/l/"+made.Code, "?lang="+lang
			expect(t, b.Get(at+query), 200, `<html lang="`+lang+`" dir="`+words.Direction(lang)+`"`, said(lang, "link_button"), `href="`+at+`?lang=`)
			refused := b.Post(at+query, url.Values{"amount": {"5"}, "payment_method": {"x"}, "email": {"nobody"}})
			if lang == "en" {
				expect(t, refused, 422, "Must be a whole number from 10 to 500.")
			} else {
				expect(t, refused, 422, said(lang, "bad_amount", "Min", "GH₵10.00", "Max", "GH₵500.00"), said(lang, "bad_name"), said(lang, "bad_email"), said(lang, "bad_coin"))
			}
			expect(t, b.Get("/l/"+off.Code+query), 410, said(lang, "link_inactive_title"))
		}
		s.Clock.Advance(2 * time.Hour)
		for _, lang := range words.Languages {
			expect(t, b.Get("/l/"+made.Code+"?lang="+lang), 410, said(lang, "link_expired_title"))
		}
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Link{}).Where("id = ?", made.ID).Updates(map[string]any{"expires_at": nil, "usage_limit": 1, "used": 1}).Error)
		for _, lang := range words.Languages {
			expect(t, b.Get("/l/"+made.Code+"?lang="+lang), 410, said(lang, "link_used_title"))
		}
	})
}

func said(lang, id string, pairs ...string) string {
	return html.EscapeString(words.Say(lang, id, pairs...))
}

// TestLanguageStays: the language in which a payment was opened is kept, for
// its receipt; looking at it keeps nothing, and opening it again changes nothing.
func TestLanguageStays(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Header["Accept-Language"] = "yo"
		for _, step := range []struct {
			act  func() servertest.Answer
			want string
		}{
			{func() servertest.Answer { return b.Get(at) }, ""},
			{func() servertest.Answer { return b.Post(at+"/open", nil) }, "yo"},
			{func() servertest.Answer { return b.Post(at+"/open?lang=ar", nil) }, "yo"},
		} {
			step.act()
			found, err := s.Lists.Search(t.Context(), sc, list.Filter{Limit: 1})
			s.FailOn(err)
			if got := found.Payments[0].Language; got != step.want {
				t.Errorf("kept %q, want %q", got, step.want)
			}
		}
		refused := b.Post(at+"/claim?lang=ar", url.Values{"hash": {"x"}})
		expect(t, refused, 422, said("ar", "bad_hash"))
	})
}
