package checkout_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	xrpl "cointill/chain/xrpl/params"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/views/words"
)

// The addresses that customers name.
const (
	ownWallet   = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	otherWallet = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	ledgerOwner = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
)

// aRefund asks for a refund of a paid payment whose customer shall name the address, and gives the
// path of its page. The payment was opened in a language.
func aRefund(t *testing.T, s *servertest.Server, sc scope.Scope, method money.Method, lang string) (send.View, string) {
	t.Helper()
	started := s.InitiatePayment(sc, servertest.NewRequest(method))
	opened, err := s.Payments.Open(t.Context(), started.AccessToken, lang, "")
	s.FailOn(err)
	s.UpdatePayment(started.Reference, map[string]any{"status": "successful", "paid": opened.Payment.Due})
	v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Refund, Payment: started.Reference})
	s.FailOn(err)
	return v, strings.TrimPrefix(s.Sends.ClaimURL(v.Send), servertest.Base)
}

// confirmLink is the link in the newest mail to confirm an address, as the mailbox shows it once the
// mail was kept.
func confirmLink(t *testing.T, s *servertest.Server, sc scope.Scope) string {
	t.Helper()
	s.FailOn(s.DB.Exec(t.Context()).Model(&models.Mail{}).Where("outcome = ''").
		Updates(map[string]any{"outcome": mail.Kept, "done_at": s.Clock.Now()}).Error)
	list, _, err := s.Mails.ListMails(t.Context(), sc, 0, 25)
	s.FailOn(err)
	for _, m := range list {
		if m.Kind != "send_confirm" {
			continue
		}
		m, err := s.Mails.FindMail(t.Context(), sc, m.ID)
		s.FailOn(err)
		link := regexp.MustCompile(servertest.Base + `(/refund/confirm/[\w-]{43})`).FindStringSubmatch(m.Text)
		if link == nil {
			t.Fatalf("the mailbox shows no link in %q", m.Text)
		}
		return link[1]
	}
	t.Fatal("no mail asks to confirm an address")
	return ""
}

func named(address, tag string) url.Values { return url.Values{"address": {address}, "tag": {tag}} }

func TestRefundFromAskingToItsEnd(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		v, at := aRefund(t, s, sc, money.CryptoBitcoin, "en")
		b := s.NewBrowser()
		a := b.Get(at)
		expect(t, a, 200, "Where should your refund go?", v.Amount(), "Network: Bitcoin", "n…@example.com", "TEST DATA",
			v.Payment)
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex",
			"Cache-Control": "no-store"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("the header %s is %q, want %q", name, got, want)
			}
		}
		if csp := a.Header.Get("Content-Security-Policy"); csp != b.Get("/pay/x").Header.Get("Content-Security-Policy") {
			t.Errorf("the content security policy is %q, want that of the payment page", csp)
		}
		if a = b.Post(at, named(" "+ownWallet+" ", "")); a.Status != 303 || a.Location != at {
			t.Fatalf("naming an address: %d to %q, want 303 to %q", a.Status, a.Location, at)
		}
		expect(t, b.Get(at), 200, "Check your e-mail", ownWallet)
		expect(t, b.Post(at, named(otherWallet, "")), 429, "wait a minute", otherWallet)
		link := confirmLink(t, s, sc)
		for range 2 { // programs that check mails open links
			expect(t, b.Get(link), 200, "Is this your address?", ownWallet, v.Amount())
			expect(t, b.Head(link), 200)
		}
		expect(t, b.Get(at), 200, "Check your e-mail")
		if a = b.Post(link, nil); a.Status != 303 || a.Location != at {
			t.Fatalf("confirming: %d to %q, want 303 to %q", a.Status, a.Location, at)
		}
		expect(t, b.Get(at), 200, "Your address is confirmed", ownWallet)
		expect(t, b.Post(link, nil), 404, "This link doesn't work any more")
		_, err := s.Sandbox.ApproveSend(t.Context(), sc, v.Send.Reference)
		s.FailOn(err)
		expect(t, b.Get(at), 200, "Your refund is approved", ownWallet)
		expect(t, b.Post(at, named(otherWallet, "")), 409, "Your refund is approved", ownWallet)
		for state, want := range map[send.State]string{send.Processing: "Your refund is on its way",
			send.Successful: "Your refund is complete", send.Failed: "Your refund did not arrive",
			send.Expired: "This refund has expired", send.Rejected: "This refund was withdrawn",
			send.Cancelled: "This refund was withdrawn"} {
			s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
				Updates(map[string]any{"status": state, "hash": strings.Repeat("ab", 32)}).Error)
			expect(t, b.Get(at), 200, want, strings.Repeat("ab", 32))
		}
	})
}

// TestPaymentPageShowsRefund checks what the payment page says of a refund in each state, and that it doesn't lead to
// the page that only the customer's mail leads to.
func TestPaymentPageShowsRefund(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, b := s.CreateBusiness("Ama's Shop", "ama@shop.example"), s.NewBrowser()
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		opened, err := s.Payments.Open(t.Context(), started.AccessToken, "en", "")
		s.FailOn(err)
		page, hash := "/pay/"+started.AccessToken, strings.Repeat("ab", 32)
		paid := opened.Payment.Due.Add(money.Units(9_000))
		s.UpdatePayment(started.Reference, map[string]any{"status": "declined", "reason": "overpaid", "paid": paid})
		none := b.Get(page)
		v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Refund, Payment: started.Reference,
			Amount: "0.00009"})
		s.FailOn(err)
		const amount = "0.00009000 BTC"
		mail := "We sent a mail to n•••@example.com: enter your address with the link in it."
		for _, c := range []struct {
			change map[string]any
			want   string // "" for nothing
			hash   bool
		}{
			{nil, "Ama&#39;s Shop refunds you " + amount + ". " + mail, false},
			{map[string]any{"status": send.AwaitingApproval}, "", false}, // the merchant named the address
			{map[string]any{"address_by": send.ByCustomer}, "Ama&#39;s Shop refunds you " + amount + ".<", false},
			{map[string]any{"status": send.Ready, "address_by": send.ByMerchant},
				"Ama&#39;s Shop refunds you " + amount + ".<", false},
			{map[string]any{"status": send.Processing, "hash": hash}, "Your refund of " + amount + " is on its way.", true},
			{map[string]any{"status": send.Successful}, "Your refund of " + amount + " is complete.", true},
			{map[string]any{"reversed": true}, "", false},
			{map[string]any{"reversed": false, "another_way_at": s.Clock.Now()},
				"Your refund of " + amount + " was sent in another way.", false},
			{map[string]any{"status": send.Failed, "another_way_at": nil},
				"Ama&#39;s Shop refunds you " + amount + ".<", false},
			{map[string]any{"status": send.Cancelled}, "", false},
		} {
			if c.change != nil {
				s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).Updates(c.change).Error)
			}
			a := b.Get(page)
			expect(t, a, 200, "Too much was paid")
			if says := strings.Contains(a.Body, "data-refund"); says != (c.want != "") || !strings.Contains(a.Body, c.want) {
				t.Errorf("after %v the page says of a refund: %t, want %q", c.change, says, c.want)
			}
			if shown := strings.Contains(a.Body, hash); shown != c.hash {
				t.Errorf("after %v the page shows the refund's transaction: %t, want %t", c.change, shown, c.hash)
			}
			if strings.Contains(a.Body, "/refund/") {
				t.Errorf("after %v the page leads to the page of the refund", c.change)
			}
			if grown := len(a.Body) - len(none.Body); grown > 1_500 {
				t.Errorf("after %v the page grew by %d bytes, want at most 1,500", c.change, grown)
			}
		}
	})
}

func TestRefundAddressesAreChecked(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		b := s.NewBrowser()
		v, at := aRefund(t, s, sc, money.CryptoBitcoin, "en")
		var own models.Destination
		s.FailOn(s.DB.Read(t.Context()).Where("network = ?", v.Send.Network).Take(&own).Error)
		for address, want := range map[string]string{
			"": "Enter an address of BTC", "x<b>": "Enter an address of BTC",
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "Enter an address of BTC", // of mainnet
			ledgerOwner: "Enter an address of BTC", own.Address: "This address belongs to Ama's Shop",
		} {
			a := b.Post(at, named(address, ""))
			expect(t, a, 422, want)
			if !strings.Contains(a.Body, `value="`+strings.ReplaceAll(strings.ReplaceAll(address, "<", "&lt;"), ">", "&gt;")+`"`) {
				t.Errorf("the typed address %q is not kept", address)
			}
		}
		expect(t, b.Get(at), 200, "Where should your refund go?")
		const inside = "XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD28Sq49uo34VyjnmK5H" // mainnet's X-address of ledgerOwner, tag 12345
		_, at = aRefund(t, s, sc, money.CryptoRipple, "en")
		for _, wrong := range []url.Values{named(ledgerOwner, "x"), named(ledgerOwner, "4294967296"),
			named(ledgerOwner, "-1")} {
			expect(t, b.Post(at, wrong), 422, "Enter the number from 0 to 4294967295", ledgerOwner)
		}
		expect(t, b.Post(at, named(inside, "")), 422, "Enter an address of XRP")
		expect(t, b.Post(at, named(ledgerOwner, "")), 303)
		s.Clock.Advance(time.Minute)
		expect(t, b.Post(at, named(ledgerOwner, "12345")), 303)
		expect(t, b.Get(confirmLink(t, s, sc)), 200, ledgerOwner, "12345")
		x, err := xrpl.ParseX(inside)
		s.FailOn(err)
		x.Test = true
		s.Clock.Advance(time.Minute)
		expect(t, b.Post(at, named(x.String(), "54321")), 422, "Enter the number from 0 to 4294967295", x.String())
		expect(t, b.Post(at, named(x.String(), "")), 303)
		expect(t, b.Get(confirmLink(t, s, sc)), 200, ledgerOwner, "12345")
	})
}

// TestSandboxRefundsCanBeTriedWithoutWallet: the page comes with an address that it takes, in the sandbox only.
func TestSandboxRefundsCanBeTriedWithoutWallet(t *testing.T) {
	methods := []money.Method{money.CryptoBitcoin, money.CryptoDogecoin, money.CryptoEthereum, money.CryptoTether, money.CryptoRipple}
	field := regexp.MustCompile(`name="address"[^>]*? value="([^"]*)"`)
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, b := s.CreateBusiness("Ama's Shop", "ama@shop.example"), s.NewBrowser()
		for _, method := range methods {
			v, at := aRefund(t, s, sc, method, "en")
			found := field.FindStringSubmatch(b.Get(at).Body)
			if found == nil || found[1] == "" {
				t.Fatalf("%s: the page has no address to try, or no field", method)
			}
			if a := b.Post(at, named(found[1], "")); a.Status != 303 {
				t.Errorf("%s: %s is answered with %d, want 303: %s", method, found[1], a.Status, a.Body)
			}
			s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
				Update("network", "bitcoin-mainnet").Error)
			if found = field.FindStringSubmatch(b.Get(at).Body); found != nil && found[1] != "" {
				t.Errorf("%s on a real network: the page comes with the address %s, want none", method, found[1])
			}
		}
	})
}

// TestRefundPagesTakeOnlyOurForms (SD-3): other sites, other methods and guessed tokens change nothing, and
// a client that guesses must wait while a right address still works.
func TestRefundPagesTakeOnlyOurForms(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		v, at := aRefund(t, s, sc, money.CryptoBitcoin, "en")
		b := s.NewBrowser()
		expect(t, b.Post(at, named(ownWallet, "")), 303)
		link := confirmLink(t, s, sc)
		b.Header["Sec-Fetch-Site"] = "cross-site"
		expect(t, b.Post(at, named(otherWallet, "")), 403)
		expect(t, b.Post(link, nil), 403)
		delete(b.Header, "Sec-Fetch-Site")
		b.Header["Origin"] = "null" // of a page that hides its address
		s.Clock.Advance(time.Minute)
		expect(t, b.Post(at, named(otherWallet, "")), 303)
		expect(t, b.Post(link, nil), 404, "a newer mail replaced it")
		for _, token := range []string{"x", strings.Repeat("A", 43), "%00", strings.TrimPrefix(at, "/refund/")} {
			expect(t, b.Get("/refund/confirm/"+token), 404, "This link doesn't work any more")
			expect(t, b.Post("/refund/confirm/"+token, nil), 404)
		}
		for range 60 {
			b.Get("/refund/" + strings.Repeat("B", 43))
		}
		if a := b.Get("/refund/" + strings.Repeat("B", 43)); a.Status != 429 {
			t.Errorf("a guesser is answered %d, want 429", a.Status)
		}
		expect(t, b.Get(at), 200)
		if found, err := s.Sends.Find(t.Context(), sc, v.Send.Reference); err != nil || found.Send.Address != "" {
			t.Errorf("the refund goes to %q (%v), want no address", found.Send.Address, err)
		}
	})
}

// TestRefundPageSpeaksTheCustomersLanguage: that of the payment at first, and each other on request.
func TestRefundPageSpeaksTheCustomersLanguage(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		_, at := aRefund(t, s, sc, money.CryptoBitcoin, "sw")
		b := s.NewBrowser()
		b.Header["Accept-Language"] = "fr"
		expect(t, b.Get(at), 200, `<html lang="sw"`, said("sw", "refund_ask_title"))
		for _, lang := range words.Languages {
			expect(t, b.Get(at+"?lang="+lang), 200, `<html lang="`+lang+`" dir="`+words.Direction(lang)+`"`,
				said(lang, "refund_ask_title"), at+"?lang="+lang)
			expect(t, b.Post(at+"?lang="+lang, named("x", "")), 422,
				said(lang, "refund_bad_address", "Coin", "BTC", "Network", money.BTC.Info().Network))
			expect(t, b.Get("/refund/unknown?lang="+lang), 404, said(lang, "refund_gone_title"))
		}
		if a := b.Post(at+"?lang=ar", named(ownWallet, "")); a.Location != at+"?lang=ar" {
			t.Errorf("named in Arabic, led to %q", a.Location)
		}
		link := confirmLink(t, s, sc)
		expect(t, b.Get(link), 200, `<html lang="sw"`, said("sw", "refund_confirm_title"))
		expect(t, b.Get(link+"?lang=yo"), 200, said("yo", "refund_confirm_title"), link+"?lang=yo")
	})
}
