package checkout_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/views/words"
)

// expect fails unless the answer has the status and holds the texts.
func expect(t *testing.T, a servertest.Answer, status int, texts ...string) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %.400s", a.Status, status, a.VisibleText())
	}
	for _, text := range texts {
		if !strings.Contains(a.VisibleText(), text) && !strings.Contains(a.Body, text) {
			t.Errorf("the page lacks %q: %.1500s", text, a.VisibleText())
		}
	}
}

// status is where a payment stands.
func status(t *testing.T, s *servertest.Server, sc scope.Scope, reference string) models.Payment {
	t.Helper()
	v, err := s.Payments.Verify(t.Context(), sc, reference)
	s.FailOn(err)
	return v.Payment
}

func TestReadingOpensNothing(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		expect(t, b.Get(at), 200, "Ready to pay?", "₦5,000.00", "Ama's Shop", started.Reference, "TEST DATA")
		expect(t, b.Head(at), 200)
		expect(t, b.Get(at+"/status"), 200, "Ready to pay?")
		expect(t, b.Head(at+"/events"), 200)
		expect(t, b.Get(at+"/open"), 405)
		if p := status(t, s, sc, started.Reference); p.Status != string(payment.Pending) || p.Address != "" {
			t.Errorf("reading made it %s with the address %q", p.Status, p.Address)
		}
		b.Header["Sec-Fetch-Site"] = "cross-site"
		expect(t, b.Post(at+"/open", nil), 403)
		if p := status(t, s, sc, started.Reference); p.Status != string(payment.Pending) {
			t.Errorf("another site made it %s", p.Status)
		}
	})
}

func TestOpen(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		for _, coin := range money.Coins() {
			started := s.InitiatePayment(sc, servertest.NewRequest(coin.Method))
			at, b := "/pay/"+started.AccessToken, s.NewBrowser()
			opened := b.Post(at+"/open", nil)
			if opened.Status != http.StatusSeeOther || opened.Location != at {
				t.Fatalf("%d to %q", opened.Status, opened.Location)
			}
			p := status(t, s, sc, started.Reference)
			expect(t, b.Get(at), 200, "Waiting for your payment", p.Address, coin.Coin.Format(p.Due))
			b.Header["HX-Request"] = "true"
			again := b.Post(at+"/open", nil)
			expect(t, again, 200, "Waiting for your payment", p.Address)
			if strings.Contains(again.Body, "<html") {
				t.Error("a script is given a whole page")
			}
		}
		late := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		s.Clock.Advance(8 * time.Minute)
		b := s.NewBrowser()
		b.Header["HX-Request"] = "true"
		expect(t, b.Post("/pay/"+late.AccessToken+"/open", nil), 200, "This payment has expired")
	})
}

// TestUnknownPayments (AP-3): a token that is wrong in any way leads to the same page,
// by every address.
func TestUnknownPayments(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		b := s.NewBrowser()
		var first string
		for _, token := range []string{strings.Repeat("A", 43), "x", strings.Repeat("y", 4000), "%00", "%ff%fe", "..%2f", "PAY_0"} {
			for _, end := range []string{"", "/status", "/events"} {
				a := b.Get("/pay/" + token + end)
				text := strings.ReplaceAll(a.VisibleText(), a.Header.Get("X-Request-Id"), "")
				if first == "" {
					first = text
				}
				if a.Status != http.StatusNotFound || text != first {
					t.Errorf("%.20s%s: %d %.200s", token, end, a.Status, text)
				}
			}
			for _, end := range []string{"/open", "/simulate"} {
				expect(t, b.Post("/pay/"+token+end, nil), 404)
			}
			expect(t, b.Post("/pay/"+token+"/claim", url.Values{"hash": {strings.Repeat("a", 64)}}), 404)
			s.Clock.Advance(time.Minute) // misses are counted
		}
		for _, code := range []string{"nobody", "%00", strings.Repeat("z", 100), "A-B"} {
			expect(t, b.Get("/l/"+code), 404)
			expect(t, b.Post("/l/"+code, nil), 404)
		}
	})
}

func TestClaim(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		good := url.Values{"hash": {strings.Repeat("ab", 32)}}
		expect(t, b.Post(at+"/claim", good), 409)
		b.Post(at+"/open", nil)
		expect(t, b.Post(at+"/claim", url.Values{"hash": {"<b>my hash"}}), 422, "Must be a transaction hash")
		for _, private := range []string{"L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ", "legal winner thank year wave sausage worth useful legal winner thank yellow",
			"tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"} {
			if a := b.Post(at+"/claim", url.Values{"hash": {private}}); a.Status != 422 || strings.Contains(a.Body, private) {
				t.Errorf("a private key as a hash: %d, given back: %v", a.Status, strings.Contains(a.Body, private))
			}
		}
		if a := b.Post(at+"/claim", good); a.Status != 303 || a.Location != at+"?claimed=1" {
			t.Fatalf("%d to %q", a.Status, a.Location)
		}
		expect(t, b.Get(at+"?claimed=1"), 200, "We look for this transaction")
		b.Header["HX-Request"] = "true"
		expect(t, b.Post(at+"/claim", good), 200, "We look for this transaction")
		steps, err := s.Payments.Timeline(t.Context(), sc, started.Reference)
		s.FailOn(err)
		if last := steps[len(steps)-1]; last.Actor != "customer" || !strings.Contains(last.Detail, "abab") {
			t.Errorf("%+v", last)
		}
		for range 8 {
			expect(t, b.Post(at+"/claim", good), 200)
		}
		expect(t, b.Post(at+"/claim", good), 429, "Too many hashes were entered")
	})
}

func TestSimulate(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		expect(t, b.Get(at), 200, "Sandbox: simulate a payment", "Exact amount")
		expect(t, b.Post(at+"/simulate", url.Values{"scenario": {"missing_tag"}}), 422)
		if a := b.Post(at+"/simulate", url.Values{"scenario": {"exact"}}); a.Status != 303 || a.Location != at {
			t.Fatalf("%d to %q", a.Status, a.Location)
		}
		if p := status(t, s, sc, started.Reference); p.Status != string(payment.Initiated) {
			t.Errorf("the simulation left it %s", p.Status)
		}
		b.Header["HX-Request"] = "true"
		s.UpdatePayment(started.Reference, map[string]any{"status": "successful", "paid": "1"})
		expect(t, b.Post(at+"/simulate", url.Values{"scenario": {"two_parts"}}), 409, "Paid. Thank you!")
		s.UpdatePayment(started.Reference, map[string]any{"domain": "live"})
		expect(t, b.Post(at+"/simulate", url.Values{"scenario": {"exact"}}), 404)
		if strings.Contains(b.Get(at).VisibleText(), "Sandbox") {
			t.Error("a live payment offers the sandbox")
		}
	})
}

func TestLanguages(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		at := "/pay/" + s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).AccessToken
		for _, c := range []struct{ query, accept, want string }{
			{"", "", "en"}, {"", "fr-CA,en;q=0.5", "fr"}, {"", "sw", "sw"}, {"", "ha,en;q=0.1", "ha"}, {"", "zh", "en"},
			{"?lang=fr", "sw", "fr"}, {"?lang=xx", "sw", "sw"}, {"", strings.Repeat("fr,", 5000), "fr"},
		} {
			b := s.NewBrowser()
			b.Header["Accept-Language"] = c.accept[:min(len(c.accept), 4000)]
			expect(t, b.Get(at+c.query), 200, `<html lang="`+c.want+`"`)
		}
		b := s.NewBrowser()
		if strings.Contains(b.Get(at).Body, at+"/open?") {
			t.Error("a language that nobody chose is carried on")
		}
		expect(t, b.Get(at+"?lang=sw"), 200, at+"/open?lang=sw", at+"/status?lang=sw", at+"/events?lang=sw", at+"/simulate?lang=sw")
		if a := b.Post(at+"/open?lang=sw", nil); a.Location != at+"?lang=sw" {
			t.Errorf("opened in Swahili, led to %q", a.Location)
		}
		expect(t, b.Get(at+"?lang=sw"), 200, "15; url="+at+"?lang=sw")
		refused := b.Post(at+"/claim?lang=sw", url.Values{"hash": {"x"}})
		expect(t, refused, 422, `<html lang="sw"`, at+"/claim?lang=sw", `href="`+at+`?lang=fr"`)
		expect(t, b.Get(at+"/status?lang=sw"), 200, at+"/claim?lang=sw")

		link := "/l/" + aLink(t, s, sc, link.Draft{}).Code
		expect(t, b.Get(link+"?lang=fr"), 200, `action="`+link+`?lang=fr"`)
		if a := b.Post(link+"?lang=fr", customerScope()); !strings.HasSuffix(a.Location, "?lang=fr") {
			t.Errorf("a link in French leads to %q", a.Location)
		}
	})
}

// TestUnavailable: while the network can't be followed no customer is asked to send money.
func TestUnavailable(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		at, b := "/pay/"+s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).AccessToken, s.NewBrowser()
		closed := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		b.Post(at+"/open", nil)
		// The chain is served by another network from now on, as when nodes are configured.
		s.Networks.Domains[scope.Test][money.Bitcoin] = "bitcoin-regtest"
		page := b.Get(at)
		expect(t, page, 200, "BTC can't be paid right now")
		if strings.Contains(page.Body, "bitcoin:") {
			t.Error("the page still asks for money")
		}
		expect(t, b.Post("/pay/"+closed.AccessToken+"/open", nil), 503, "BTC can't be paid right now")
		if v, err := s.Payments.ByToken(t.Context(), closed.AccessToken); err != nil || v.Payment.Address != "" {
			t.Errorf("it was opened all the same: %q %v", v.Payment.Address, err)
		}
	})
}

// TestEvents: the first message is the state as it is; after a final one comes the close.
func TestEvents(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Post(at+"/open", nil)
		s.UpdatePayment(started.Reference, map[string]any{"status": "successful", "paid": "10"})
		a := b.Get(at + "/events") // comes to its end by itself
		events := strings.Split(strings.TrimSpace(strings.TrimPrefix(a.Body, ": open")), "\n\n")
		if a.Status != 200 || a.Header.Get("Content-Type") != "text/event-stream" || len(events) != 2 {
			t.Fatalf("%d %q: %d events: %s", a.Status, a.Header.Get("Content-Type"), len(events), a.Body)
		}
		name, data, _ := strings.Cut(events[0], "\n")
		if name != "event: status" || !strings.HasPrefix(data, "data: <div") || strings.Contains(data, "\n") || !strings.Contains(data, "data-final") {
			t.Errorf("%.200q", events[0])
		}
		if !strings.HasPrefix(events[1], "event: close\n") {
			t.Errorf("%q", events[1])
		}
	})
}

// aLink makes a payment link.
func aLink(t *testing.T, s *servertest.Server, sc scope.Scope, d link.Draft) models.Link {
	t.Helper()
	d.Title, d.Currency = "Yoga class", "GHC"
	made, err := s.Links.CreateLink(t.Context(), sc, d)
	s.FailOn(err)
	return made
}

func customerScope() url.Values {
	return url.Values{"amount": {"50"}, "payment_method": {"crypto_bitcoin"}, "first_name": {"Ngozi"}, "last_name": {"Okafor"}, "email": {"ngozi@example.com"}}
}

func TestLink(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		limit := int64(2)
		made := aLink(t, s, sc, link.Draft{MinAmount: 10, MaxAmount: 500, UsageLimit: &limit, Methods: []string{"crypto_bitcoin"}, RedirectURL: "https://shop.example/thanks"})
		at, b := "/l/"+made.Code, s.NewBrowser()
		expect(t, b.Get(at), 200, "Yoga class", "Ama's Shop", "GH₵10.00", "GH₵500.00", "Bitcoin")
		expect(t, b.Get(at+"?lang=fr"), 200, `<html lang="fr"`)

		wrong := url.Values{"amount": {"five"}, "payment_method": {"crypto_dogecoin"}, "first_name": {"N. <i>"}, "email": {"nobody"}}
		refused := b.Post(at, wrong)
		expect(t, refused, 422, "Must be a whole number from 10 to 500.", "Choose one of the coins offered.", "N. &lt;i&gt;", `value="five"`, `value="nobody"`)
		expect(t, b.Post(at, nil), 422)

		started := b.Post(at, customerScope())
		if started.Status != 303 || !strings.HasPrefix(started.Location, servertest.Base+"/pay/") {
			t.Fatalf("%d to %q", started.Status, started.Location)
		}
		page := strings.TrimPrefix(started.Location, servertest.Base)
		expect(t, b.Get(page), 200, "GH₵50.00")
		found, err := s.Lists.Search(t.Context(), sc, list.Filter{Limit: 5})
		s.FailOn(err)
		if len(found.Payments) != 1 || found.Payments[0].LinkID == nil || *found.Payments[0].LinkID != made.ID {
			t.Errorf("%+v", found.Payments)
		}
		paid := map[string]any{"status": "successful", "paid": "1", "settled_at": s.Clock.Now()}
		s.UpdatePayment(found.Payments[0].Reference, paid)
		expect(t, b.Get(page), 200, "https://shop.example/thanks?business_reference=", "Back to Ama's Shop", "Item Yoga class",
			"Date "+words.FormatMoment("en", s.Clock.Now().In(clock.LoadZone("Africa/Lagos"))))

		b.Post(at, customerScope())
		expect(t, b.Get(at), 410, "This link can't be used again")
		expect(t, b.Post(at, customerScope()), 410, "This link can't be used again")
	})
}

// TestRedirect: the page leads to the merchant's address once the payment is final or given up, and
// names the payment there.
func TestRedirect(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		request := servertest.NewRequest(money.CryptoBitcoin)
		request.BusinessReference, request.RedirectURL = "order+1", "https://shop.example/thanks?cart=7&reference=x#end"
		started := s.InitiatePayment(sc, request)
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Post(at+"/open", nil)
		if page := b.Get(at); strings.Contains(page.Body, "shop.example/thanks") {
			t.Error("a page that asks for money leads away")
		}
		want := "https://shop.example/thanks?cart=7&amp;reference=x&amp;business_reference=order%2B1&amp;reference=" +
			started.Reference + "#end"
		for _, state := range []payment.State{payment.Successful, payment.Declined, payment.Failed, payment.Abandoned} {
			s.UpdatePayment(started.Reference, map[string]any{"status": string(state), "settled_at": s.Clock.Now()})
			if page := b.Get(at); !strings.Contains(page.Body, `href="`+want+`"`) {
				t.Errorf("the page of a %s payment has no link to %s", state, want)
			}
		}
	})
}

// TestTooSmallPayments: a payment of less than its network carries shows no address, names the
// coins that carry it, and expires; a link leaves such coins out, and refuses them where the
// customer chooses the amount.
func TestTooSmallPayments(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		request := servertest.NewRequest(money.CryptoBitcoin)
		request.Amount = 1
		started := s.InitiatePayment(sc, request)
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		said := "This amount is too small for Bitcoin"
		if a := b.Get(at); strings.Contains(a.Body, `name="scenario"`) {
			t.Error("its page offers scenarios, which can't happen to it")
		}
		expect(t, b.Get(at), 200, said, "₦1.00", "These coins can carry it: Ether, Tether USD, XRP.", "Ama's Shop")
		b.Post(at+"/open", nil)
		expect(t, b.Get(at), 200, said)
		expect(t, b.Get(at+"?lang=fr"), 200, "Ce montant est trop petit pour Bitcoin")
		if p := status(t, s, sc, started.Reference); p.Status != string(payment.Pending) || p.Address != "" {
			t.Errorf("opening it made it %s with the address %q, want pending without one", p.Status, p.Address)
		}
		s.Clock.Advance(payment.Window + time.Second)
		expect(t, b.Get(at), 200, "This payment has expired")

		few := int64(1)
		fixed := b.Get("/l/" + aLink(t, s, sc, link.Draft{Amount: &few}).Code)
		expect(t, fixed, 200, `value="crypto_ethereum"`, `value="crypto_dogecoin"`)
		if strings.Contains(fixed.Body, `value="crypto_bitcoin"`) {
			t.Error("the link of GH₵1.00 offers bitcoin")
		}
		open := "/l/" + aLink(t, s, sc, link.Draft{MinAmount: 1, MaxAmount: 500}).Code
		form := customerScope()
		form.Set("amount", "1")
		expect(t, b.Post(open, form), 409, "This amount is too small for the coin's network. Choose another coin, or a larger amount.", `value="1"`)
		expect(t, b.Post(open+"?lang=sw", form), 409, "Chagua sarafu nyingine.")
		form.Set("payment_method", "crypto_ethereum")
		if a := b.Post(open, form); a.Status != 303 {
			t.Errorf("GH₵1.00 in ether: %d %s, want a payment", a.Status, a.VisibleText())
		}
	})
}

func TestClosedLinks(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		end, amount := s.Clock.Now().Add(time.Hour), int64(20)
		made := aLink(t, s, sc, link.Draft{Amount: &amount, ExpiresAt: &end})
		at, b := "/l/"+made.Code, s.NewBrowser()
		expect(t, b.Get(at), 200, "GH₵20.00")
		s.FailOn(s.Links.SetActive(t.Context(), sc, made.ID, false))
		expect(t, b.Get(at), 410, "This link is not active")
		expect(t, b.Post(at, customerScope()), 410, "This link is not active")
		var started int64
		if s.FailOn(s.DB.Read(t.Context()).Model(&models.Payment{}).Count(&started).Error); started > 0 {
			t.Errorf("a link that is not active started %d payments", started)
		}
		s.FailOn(s.Links.SetActive(t.Context(), sc, made.ID, true))
		s.FailOn(s.Accounts.SetMethod(t.Context(), scope.Scope{BusinessID: sc.BusinessID, Domain: sc.Domain, Role: scope.Owner}, money.CryptoBitcoin, false))
		expect(t, b.Post(at, customerScope()), 422, "Choose one of the coins offered.")
		s.Clock.Advance(2 * time.Hour)
		expect(t, b.Post(at, customerScope()), 410, "This link has expired")
	})
}

// TestLinkWithoutRate: what core can't do now stands above the form, which keeps what was typed.
func TestLinkWithoutRate(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		amount := int64(20)
		made := aLink(t, s, sc, link.Draft{Amount: &amount})
		s.Links.Networks = nil // as when the coin fails between the page and the form
		delete(s.Networks.Domains[scope.Test], money.Bitcoin)
		expect(t, s.NewBrowser().Post("/l/"+made.Code, customerScope()), 503, "can't take payments there", "ngozi@example.com")
	})
}

// TestEventsFollow: a page that is open is told of a change, then of the end.
func TestEventsFollow(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		go s.Hub.Run(t.Context())
		changed := make(chan error, 1)
		go func() {
			for tick := time.NewTicker(10 * time.Millisecond); s.Hub.CountPages() == 0; <-tick.C { // until the page watches
			}
			_, err := s.Payments.Open(t.Context(), started.AccessToken, "en", "")
			if err == nil {
				err = s.DB.Exec(t.Context()).Model(&models.Payment{}).Where("reference = ?", started.Reference).
					Updates(map[string]any{"status": "successful", "paid": "10", "steps": 9}).Error
			}
			s.Hub.Signal()
			changed <- err
		}()
		a := b.Get(at + "/events")
		s.FailOn(<-changed)
		expect(t, a, 200, "Paid. Thank you!", "event: close")
		if s.Hub.CountPages() != 0 {
			t.Error("the stream ended without leaving the hub")
		}
	})
}
