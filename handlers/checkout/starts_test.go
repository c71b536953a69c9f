package checkout_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestStartsAreBounded (BTC-14): one client begins and opens sixty payments a minute,
// of whichever link, and no more, so that nobody has a merchant's addresses given
// out by the thousand. What was begun can still be read.
func TestStartsAreBounded(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		first, second := aLink(t, s, sc, link.Draft{}), aLink(t, s, sc, link.Draft{})
		waiting := "/pay/" + s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).AccessToken
		b, page := s.NewBrowser(), ""
		for i := range 30 {
			started := b.Post("/l/"+[]models.Link{first, second}[i%2].Code, customerScope())
			if started.Status != 303 {
				t.Fatalf("start %d: %d", i+1, started.Status)
			}
			page = strings.TrimPrefix(started.Location, servertest.Base)
			expect(t, b.Post(page+"/open", nil), 303)
		}
		for path, form := range map[string]map[string][]string{"/l/" + first.Code: customerScope(), "/l/" + second.Code: customerScope(), waiting + "/open": nil} {
			if a := b.Post(path, form); a.Status != 429 || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %d", path, a.Status)
			}
		}
		expect(t, b.Get(page), 200)
		var given, begun int64
		s.FailOn(s.DB.Read(t.Context()).Model(&models.Destination{}).Count(&given).Error)
		s.FailOn(s.DB.Read(t.Context()).Model(&models.Payment{}).Count(&begun).Error)
		if given != 30 || begun != 31 {
			t.Errorf("%d addresses were given out, %d payments begun", given, begun)
		}
		s.Clock.Advance(time.Minute)
		expect(t, b.Post(waiting+"/open", nil), 303)
	})
}
