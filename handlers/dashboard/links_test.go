package dashboard_test

import (
	"html"
	"image/png"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/views/ui"
	"cointill/views/words"
)

// TestLinkCollected: what a link brought in, apart for each currency that it had.
func TestLinkCollected(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		amount := int64(20)
		made, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Yoga class", Currency: "GHC", Amount: &amount})
		s.FailOn(err)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/links"), 200, "GH₵0.00")
		for i, currency := range []string{"GHC", "USD", "GHC", "KES"} {
			r := servertest.NewRequest(money.CryptoBitcoin)
			r.LinkID, r.BusinessReference, r.Currency, r.Amount = &made.ID, "", currency, int64(10+i)
			started := s.InitiatePayment(sc, r)
			if currency != "KES" { // which no customer paid
				s.UpdatePayment(started.Reference, map[string]any{"status": string(payment.Successful)})
			}
		}
		for _, at := range []string{"/dashboard/links", "/dashboard/links/1"} {
			a := b.Get(at)
			expect(t, a, 200, "GH₵22.00", "$11.00")
			if at == "/dashboard/links" && strings.Contains(a.Body, "KSh") {
				t.Error("money that never came is counted")
			}
		}
	})
}

// TestLinkPoster: the sheet says who asks, for what and how much, in the chosen
// size and language, and warns when it would lead nowhere.
func TestLinkPoster(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		amount, end := int64(20), s.Clock.Now().Add(10*time.Minute)
		fixed, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Yoga <b>", Currency: "GHC", Amount: &amount, ExpiresAt: &end, Methods: []string{"crypto_bitcoin", "crypto_ripple"}})
		s.FailOn(err)
		_, err = s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD", MinAmount: 2, MaxAmount: 50})
		s.FailOn(err)
		b := s.SignIn(ama)
		at := "/dashboard/links/1/poster"
		expect(t, b.Get("/dashboard/links/1"), 200, `href="`+at+`"`)
		expect(t, b.Get(at), 200, "poster-a5", "Ama&#39;s Shop", "Yoga &lt;b&gt;", "GH₵20.00", "Scan to pay", "Pay with BTC, XRP", "/l/"+fixed.Code, "TEST DATA", "<svg")
		leads(t, upload(t, b, picture(t, "png", 64, 64)), "/dashboard/settings#logo")
		expect(t, b.Get(at), 200, `src="/logo/`+business(s).Code+"/"+business(s).LogoHash+`.png"`)
		if strings.Contains(b.Get(at).Body, "can&#39;t be paid right now") {
			t.Error("a link that is open is warned about")
		}
		for _, lang := range words.Languages {
			expect(t, b.Get(at+"?size=a4&lang="+lang), 200, "poster-a4", `lang="`+lang+`" dir="`+words.Direction(lang)+`"`, html.EscapeString(words.Say(lang, "poster_scan")))
		}
		expect(t, b.Get(at+"?size=a0&lang=xx"), 200, "poster-a5", "Scan to pay")
		expect(t, b.Get("/dashboard/links/2/poster"), 200, "Any amount", "$2.00 – $50.00", "BTC, ETH, USDT, XRP, DOGE")
		for _, nowhere := range []string{"9", "x", "0"} {
			expect(t, b.Get("/dashboard/links/"+nowhere+"/poster"), 404)
		}
		s.Clock.Advance(11 * time.Minute)
		expect(t, b.Get(at), 200, "can&#39;t be paid right now")
	})
}

// TestLinkIsShared: the page of a link opens what customers see beside itself, offers WhatsApp, and
// has the QR code of its address as a picture.
func TestLinkIsShared(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		amount := int64(20)
		made, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Yoga & tea", Currency: "GHC", Amount: &amount})
		s.FailOn(err)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/links/1"), 200, `href="/l/`+made.Code+`" target="_blank"`,
			`href="https://wa.me/?text=`+url.QueryEscape("Yoga & tea: "+s.Links.URL(made))+`"`, `href="/dashboard/links/1/qr.png"`)
		a := b.Get("/dashboard/links/1/qr.png")
		drawn, err := png.Decode(strings.NewReader(a.Body))
		if err != nil || a.Header.Get("Content-Type") != "image/png" {
			t.Fatalf("the picture is %q: %v", a.Header.Get("Content-Type"), err)
		}
		_, modules, err := ui.QRPath(s.Links.URL(made))
		s.FailOn(err)
		if size := drawn.Bounds().Size(); size.X != 16*modules || size.Y != size.X {
			t.Errorf("the picture has %v pixels, want 16 for each of %d modules with the quiet zone", size, modules)
		}
		expect(t, b.Get("/dashboard/links/9/qr.png"), 404)
	})
}

// TestLinksForFinance: finance staff see links and print them, and are offered
// nothing that they may not do.
func TestLinksForFinance(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		s.SetRole(sc, scope.Finance)
		expect(t, b.Get("/dashboard/links"), 200, "No payment links yet", "An owner or an admin creates one")
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Link{BusinessID: sc.BusinessID, Domain: "test", Code: "abcdefgh12345678", Title: "Yoga", Currency: "GHC", MinAmount: 1, MaxAmount: 5, Active: true}).Error)
		for _, at := range []string{"/dashboard/links", "/dashboard/links/1"} {
			a := b.Get(at)
			expect(t, a, 200, "Yoga", "disabled")
			if strings.Contains(a.Body, "/dashboard/links/new") || strings.Contains(a.Body, "/edit") {
				t.Errorf("%s offers what finance may not do", at)
			}
		}
		expect(t, b.Get("/dashboard/links/1/poster"), 200, "Yoga")
		expect(t, b.PostFrom("/dashboard/links", "/dashboard/links/1/toggle", url.Values{"active": {"false"}}), 403)
	})
}

// TestLinkWithoutCoins: a link that no coin can pay is shown as what it is, and
// the form says why there are no coins and where to switch them on.
func TestLinkWithoutCoins(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		_, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD", Methods: []string{"crypto_bitcoin"}})
		s.FailOn(err)
		b := s.SignIn(ama)
		const at, form = "/dashboard/links/1", "/dashboard/links/new"
		const none = "None of the accepted coins"
		for _, page := range []string{"/dashboard/links", at, at + "/poster"} {
			if text := b.Get(page).VisibleText(); strings.Contains(text, "No coin") || strings.Contains(text, none) {
				t.Errorf("%s warns of a link that can be paid", page)
			}
		}
		s.FailOn(s.Accounts.SetMethod(t.Context(), sc, money.CryptoBitcoin, false))
		expect(t, b.Get("/dashboard/links"), 200, "No coin")
		expect(t, b.Get(at), 200, none, "No coin", "Switched on", `href="/dashboard/methods">Open`)
		expect(t, b.Get(at+"/poster"), 200, none, "can&#39;t be paid right now")
		for page, wrong := range map[string]string{at: "Active", at + "/poster": "Pay with"} {
			if strings.Contains(b.Get(page).VisibleText(), wrong) {
				t.Errorf("%s says %q", page, wrong)
			}
		}
		expect(t, b.Get(form), 200, "Untick all to accept every coin")

		leads(t, b.PostFrom(form, "/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/links"}}), "/dashboard/links")
		expect(t, b.Get(form), 200, "No coin is switched on in the live domain", `href="/dashboard/methods">Open`)
		made := b.PostFrom(form, "/dashboard/links", url.Values{"title": {"Tips"}, "currency": {"USD"}, "amount_kind": {"open"}})
		shown := b.Get(made.Location)
		expect(t, shown, 200, none)
		if strings.Contains(shown.Body, "The link is ready") {
			t.Error("a link that nobody can pay is called ready")
		}
	})
}

// TestLinkExpiry: the form takes and shows an expiry in the business's zone, and
// saved as it was shown it stays as it was, to the second, also when it is over.
func TestLinkExpiry(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama) // in Lagos, an hour ahead of UTC
		end := s.Clock.Now().Add(90*time.Minute + 42*time.Second)
		_, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Seats", Currency: "USD", ExpiresAt: &end})
		s.FailOn(err)
		b := s.SignIn(ama)
		const at = "/dashboard/links/1"
		expect(t, b.Get(at+"/edit"), 200, "Time zone: Africa/Lagos", `value="2026-03-01T14:30"`, `maxlength="1000"`)
		stored := func() time.Time {
			l, err := s.Links.FindLink(t.Context(), sc, 1)
			s.FailOn(err)
			return *l.ExpiresAt
		}
		sent := url.Values{"title": {"Seats"}, "currency": {"USD"}, "amount_kind": {"open"}, "expires_at": {"2026-03-01T14:30"}}
		s.Clock.Advance(90*time.Minute + 10*time.Second) // between the minute and the end
		for range 2 {
			b = s.SignIn(ama) // a session ends sooner
			leads(t, b.PostFrom(at+"/edit", at, sent), at)
			if got := stored(); !got.Equal(end) {
				t.Errorf("%s became %s", end, got)
			}
			s.Clock.Advance(time.Hour) // and after it
		}
		b = s.SignIn(ama)
		sent.Set("usage_limit", "many")
		refused := b.PostFrom(at+"/edit", at, sent)
		expect(t, refused, 422, "Must be a whole number")
		if strings.Contains(refused.VisibleText(), "Must be in the future") {
			t.Error("an expiry that was left as it was is refused")
		}
		sent.Del("usage_limit")
		sent.Set("expires_at", "2026-03-02T10:00")
		leads(t, b.PostFrom(at+"/edit", at, sent), at)
		if got, want := stored(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC); !got.Equal(want) {
			t.Errorf("closes at %s, want %s", got, want)
		}
	})
}

// TestLinkNamesNetworksOfItsCoins: the page of a link and its form name all networks that are on and can be paid on.
func TestLinkNamesNetworksOfItsCoins(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		for _, code := range []money.Chain{money.Tron, money.Polygon} {
			s.Networks.Domains[scope.Test][code] = chain.Sandbox(code)
		}
		_, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Yoga", Currency: "USD", MinAmount: 1,
			MaxAmount: 9, Methods: []string{"crypto_bitcoin", "crypto_tether"}})
		s.FailOn(err)
		_, err = s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Tips", Currency: "USD", MinAmount: 1, MaxAmount: 9})
		s.FailOn(err)
		b := s.SignIn(ama)
		for _, c := range []struct {
			switched money.Chain
			names    string
		}{{"", "Ethereum (ERC-20)"}, {money.Tron, "Ethereum (ERC-20), Tron (TRC-20)"},
			{money.Polygon, "Ethereum (ERC-20), Tron (TRC-20), Polygon PoS"}} {
			if c.switched != "" {
				s.FailOn(s.Accounts.SetNetwork(t.Context(), sc, money.CryptoTether, c.switched, true))
			}
			expect(t, b.Get("/dashboard/links/1"), 200, "Coins BTC USDT · "+c.names+" Expires")
			expect(t, b.Get("/dashboard/links/2"), 200,
				"Coins All coins that are switched on BTC ETH · Ethereum USDT · "+c.names+" XRP DOGE Expires")
			for _, form := range []string{"/dashboard/links/new", "/dashboard/links/1/edit"} {
				expect(t, b.Get(form), 200, "Tether USD (USDT) "+c.names, "Bitcoin (BTC) Ether (ETH) Ethereum ")
			}
		}
	})
}
