package checkout_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment/note"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestLogo: customers see the logo of the business as a picture that runs nothing, also from other sites, as in mails.
// One that was replaced or removed is not served.
func TestLogo(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, b := s.CreateBusiness("Ama's Shop", "ama@shop.example"), s.NewBrowser()
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		var shown []string
		for _, width := range []int{64, 128} {
			drawn := image.NewPaletted(image.Rect(0, 0, width, 64), color.Palette{color.White, color.Black})
			var file bytes.Buffer
			s.FailOn(png.Encode(&file, drawn))
			s.FailOn(s.Settings.SetLogo(t.Context(), sc, file.Bytes()))
			var business models.Business
			s.FailOn(s.DB.Read(t.Context()).Take(&business).Error)
			shown = append(shown, settings.LogoPath(business))
		}
		expect(t, b.Get(shown[0]), 404)
		expect(t, b.Get("/pay/"+started.AccessToken), 200, `src="`+shown[1]+`"`)
		a := b.Get(shown[1])
		expect(t, a, 200)
		size, err := png.DecodeConfig(strings.NewReader(a.Body))
		if err != nil || size.Width != 128 || size.Height != 64 {
			t.Errorf("the logo is %+v (%v), want 128 by 64 pixels", size, err)
		}
		for name, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": "cross-origin"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s of the logo is %q, want %q", name, got, want)
			}
		}
		if got, want := a.Header.Get("Content-Security-Policy"), "default-src 'none'; sandbox"; !strings.HasPrefix(got, want) {
			t.Errorf("the policy of the logo is %q, want it to begin with %q", got, want)
		}
		s.FailOn(s.Settings.RemoveLogo(t.Context(), sc))
		expect(t, b.Get(shown[1]), 404)
	})
}

// TestLinkNamesNetworks: the page of a link names all networks of a coin that are on and can be paid on.
func TestLinkNamesNetworks(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		for _, code := range []money.Chain{money.Tron, money.Polygon} {
			s.Networks.Domains[scope.Test][code] = chain.Sandbox(code)
		}
		made, b := aLink(t, s, sc, link.Draft{MinAmount: 1, MaxAmount: 9, Methods: []string{"crypto_bitcoin", "crypto_tether"}}), s.NewBrowser()
		names := "Tether USD USDT Ethereum (ERC-20)"
		expect(t, b.Get("/l/"+made.Code), 200, names)
		for _, code := range []money.Chain{money.Tron, money.Polygon} {
			if a := b.Get("/l/" + made.Code); strings.Contains(a.VisibleText(), names+", ") {
				t.Errorf("before %s is on, the page names more than %s: %.600s", code, names, a.VisibleText())
			}
			s.FailOn(s.Accounts.SetNetwork(t.Context(), sc, money.CryptoTether, code, true))
			names += ", " + map[money.Chain]string{money.Tron: "Tron (TRC-20)", money.Polygon: "Polygon PoS"}[code]
			expect(t, b.Get("/l/"+made.Code), 200, names)
		}
	})
}

// TestScenariosInTheCustomersLanguage: the scenarios of a test payment are in English or French. Pages in other
// languages have them in English, and say so to screen readers.
func TestScenariosInTheCustomersLanguage(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		at, b := "/pay/"+s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple)).AccessToken, s.NewBrowser()
		expect(t, b.Post(at+"/open", nil), 303)
		for _, c := range []struct{ lang, button, written string }{{"en", "Exact amount", "en"}, {"fr", "Montant exact", "fr"},
			{"sw", "Exact amount", "en"}} {
			expect(t, b.Get(at+"?lang="+c.lang), 200, ">"+c.button+"</button>", `lang="`+c.written+`" dir="ltr"><p id="why-exact"`)
		}
		french := b.Get(at + "?lang=fr").VisibleText()
		english := append(slices.Collect(maps.Values(sandbox.Explanations())), "The payment", "confirmations, in about")
		for _, scenario := range sandbox.Scenarios() {
			english = append(english, scenario.Label)
		}
		for _, text := range english {
			if strings.Contains(french, text) {
				t.Errorf("the French page says %q", text)
			}
		}
	})
}

// TestNotesStayInside: the page of a payment has none of the merchant's notes.
func TestNotesStayInside(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		notes := &note.Service{DB: s.DB, Clock: s.Clock.Now}
		_, err := notes.Add(t.Context(), sc, started.Reference, "Inside only")
		s.FailOn(err)
		a := s.NewBrowser().Get("/pay/" + started.AccessToken)
		expect(t, a, 200, "Ama's Shop")
		if strings.Contains(a.Body, "Inside only") {
			t.Errorf("the customer's page has the note: %.600s", a.VisibleText())
		}
	})
}
