package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	ama  = "ama@shop.example"
	bayo = "bayo@shop.example"
)

// expect fails unless the answer has the status and holds the texts.
func expect(t testing.TB, a servertest.Answer, status int, texts ...string) {
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

// leads fails unless the answer leads on to the path.
func leads(t testing.TB, a servertest.Answer, path string) {
	t.Helper()
	if a.Status != http.StatusSeeOther || a.Location != path {
		t.Fatalf("%d to %q, want 303 to %q: %.400s", a.Status, a.Location, path, a.VisibleText())
	}
}

func TestFirstRun(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		b := s.NewBrowser()
		leads(t, b.Get("/"), "/dashboard")
		leads(t, b.Get("/sign-in"), "/sign-up")
		expect(t, b.Get("/sign-up"), 200, "Welcome to Cointill")

		refused := b.PostFrom("/sign-up", "/sign-up", url.Values{"business_name": {"Ama’s Shop"}, "email": {"no address"}, "password": {"too short"}})
		expect(t, refused, 422, "Ama’s Shop", "no address", "Must have at least 12 characters.")
		if strings.Contains(refused.Body, "too short") {
			t.Error("a password came back")
		}
		leads(t, b.PostFrom("/sign-up", "/sign-up", url.Values{"business_name": {"Ama’s Shop"}, "name": {"Ama"}, "email": {ama}, "password": {servertest.Password}}), "/dashboard")
		expect(t, b.Get("/dashboard"), 200, "Your business is ready", "Get started", "Ama’s Shop", "TEST DATA")
		if strings.Contains(b.Get("/dashboard").Body, "Your business is ready") {
			t.Error("the flash was shown twice")
		}
		stranger := s.NewBrowser()
		expect(t, stranger.Get("/sign-up"), 200, "Sign-up is closed", "ask one of its owners or admins for an invitation", "cointill business create", `href="/sign-in"`)
		late := stranger.PostFrom("/sign-in", "/sign-up", url.Values{"business_name": {"B"}, "name": {"B"}, "email": {bayo}, "password": {servertest.Password}})
		expect(t, late, 403, "Sign-up is closed", "cointill business create")
	})
}

// TestFirstRunAsksForTheToken: on a server that others may reach, the form asks for the set-up
// token, names the problem of a wrong one, and keeps it with the other fields.
func TestFirstRunAsksForTheToken(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		b := s.NewBrowser()
		if page := b.Get("/sign-up"); strings.Contains(page.Body, "setup_token") || strings.Contains(page.Body, "js/setup.js") {
			t.Error("the form asks for a token although only this machine reaches the server")
		}
		s.Users.AskSetupToken = true
		token, err := s.Users.IssueSetupToken(t.Context())
		s.FailOn(err)
		expect(t, b.Get("/sign-up"), 200, "Set-up token", "The text after #token= in the link", `name="setup_token"`, "js/setup.js")
		form := url.Values{"business_name": {"Ama’s Shop"}, "name": {"Ama"}, "email": {ama}, "password": {servertest.Password}}
		expect(t, b.PostFrom("/sign-up", "/sign-up", form), 422, "Is required. The server printed it", "Ama’s Shop")
		form.Set("setup_token", "setup_GUESSED")
		expect(t, b.PostFrom("/sign-up", "/sign-up", form), 422, "Is not the one that the server printed last", `value="setup_GUESSED"`)
		if n := rows(s, &models.User{}, "1 = 1"); n != 0 {
			t.Fatalf("%d users were made without the token", n)
		}
		for range 19 {
			b.PostFrom("/sign-up", "/sign-up", form)
		}
		limited := b.PostFrom("/sign-up", "/sign-up", form)
		expect(t, limited, 429, "Too many attempts in a short time")
		if limited.Header.Get("Retry-After") == "" {
			t.Error("it doesn't say how long to wait")
		}
		s.Clock.Advance(time.Minute)
		form.Set("setup_token", token)
		leads(t, b.PostFrom("/sign-up", "/sign-up", form), "/dashboard")
		expect(t, b.Get("/dashboard"), 200, "Your business is ready")
		if logged := s.ReadLog(); strings.Contains(logged, token) || strings.Contains(logged, "setup_GUESSED") {
			t.Error("the token is in the log")
		}
	})
}

func TestSignInAndOut(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.NewBrowser()
		leads(t, b.Get("/dashboard/keys"), "/sign-in?next=%2Fdashboard%2Fkeys")
		wrong := b.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {"not the passphrase"}})
		expect(t, wrong, 401, "address or the password is wrong", ama)
		strange := b.PostFrom("/sign-in", "/sign-in", url.Values{"email": {"nobody\x00\xff@shop.example"}, "password": {"\x00\xff"}})
		expect(t, strange, 401, "address or the password is wrong")
		again := b.PostFrom("/sign-in", "/sign-in", url.Values{"email": {ama}, "password": {"not the passphrase"}})
		expect(t, again, 429, "Too many attempts")
		if again.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
		s.Clock.Advance(5 * time.Second)
		form := url.Values{"email": {ama}, "password": {servertest.Password}, "next": {"/dashboard/keys"}}
		leads(t, b.PostFrom("/sign-in", "/sign-in", form), "/dashboard/keys")
		leads(t, b.PostFrom("/dashboard", "/sign-out", nil), "/sign-in?signed_out=1")
		expect(t, b.Get("/sign-in?signed_out=1"), 200, "You are signed out.")
		leads(t, b.Get("/dashboard"), "/sign-in?next=%2Fdashboard")

		other := s.NewBrowser()
		form.Set("next", "//elsewhere.example/dashboard")
		leads(t, other.PostFrom("/sign-in", "/sign-in", form), "/dashboard")
	})
}

func TestPaymentsListAndDetail(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/payments"), 200, "No payments yet")
		var references []string
		for i, method := range []money.Method{money.CryptoBitcoin, money.CryptoRipple, money.CryptoTether} {
			r := servertest.NewRequest(method)
			r.BusinessReference = fmt.Sprintf("order-%d+x", i)
			references = append(references, s.InitiatePayment(sc, r).Reference)
		}
		expect(t, b.Get("/dashboard"), 200, references[2], "3")
		expect(t, b.Get("/dashboard/payments"), 200, references[0], references[1], references[2], "order-1+x", "₦5,000.00")
		only := b.Get("/dashboard/payments?q=order-1&status=pending&method=crypto_ripple&currency=NGN")
		expect(t, only, 200, references[1], "Status: Pending", "Method: XRP", "Currency: NGN")
		if strings.Contains(only.Body, references[0]) {
			t.Error("the search lets others through")
		}
		expect(t, b.Get("/dashboard/payments?q=nobody%40example.com"), 200, "No payments found for")
		at := "/dashboard/payments/" + references[1]
		if a := b.Get("/dashboard/payments?q=order-1%2Bx"); a.Status != 303 || a.Location != at {
			t.Errorf("a search for a whole reference answers %d to %q, want 303 to %q", a.Status, a.Location, at)
		}
		if a := b.Get("/dashboard/payments?only=open&q=order-1"); a.Status != 303 || a.Location != at {
			t.Errorf("a search that finds one payment answers %d to %q, want 303 to %q", a.Status, a.Location, at)
		}
		v, err := s.Payments.Verify(t.Context(), sc, references[1])
		s.FailOn(err)
		customer := "/dashboard/customers/" + v.Customer.Code
		if a := b.Get("/dashboard/payments?q=" + strings.ToLower(v.Customer.Code)); a.Status != 303 || a.Location != customer {
			t.Errorf("a search for a customer's code answers %d to %q, want 303 to %q", a.Status, a.Location, customer)
		}
		for _, asked := range []string{"only=open", "only=open&q=order-", "q=order-1", "only=open&q=order-9"} {
			if a := b.Get("/dashboard/payments?" + asked); a.Status != 200 {
				t.Errorf("the list for %s answers %d, want 200", asked, a.Status)
			}
		}
		typing := s.NewBrowser()
		*typing = *b
		typing.Header = map[string]string{"HX-Request": "true"}
		if a := typing.Get("/dashboard/payments?q=" + references[1]); a.Status != 200 || a.Header.Get("HX-Redirect") != at {
			t.Errorf("a script that searches for a reference is answered %d, HX-Redirect %q, want %q", a.Status, a.Header.Get("HX-Redirect"), at)
		}
		expect(t, b.Get("/dashboard/payments?currency=NGN&q=order-1%2Bx"), 200, references[1], "Currency: NGN")
		expect(t, b.Get("/dashboard/payments?q=%00%FF&status=nonsense&before=x"), 200, references[0], "There is no status “nonsense”.")

		expect(t, b.Get("/dashboard/payments/"+references[1]), 200, "has not opened the payment page yet", "Initiated by the merchant", "sandbox-a", "XRP Ledger", "order-1+x")
		expect(t, b.Get("/dashboard/payments/order-1+x"), 200, references[1])
		expect(t, b.Get("/dashboard/payments/PAY_NOBODY"), 404)
		expect(t, b.Get("/dashboard/payments/%00%FF"), 404)
	})
}

func TestPagesOfPayments(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		for range 28 {
			s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		}
		b := s.SignIn(ama)
		first := b.Get("/dashboard/payments")
		expect(t, first, 200, "25 payments", "Next page")
		next := regexp.MustCompile(`/dashboard/payments\?older=PAY_\w+`).FindString(first.Body)
		last := b.Get(next)
		expect(t, last, 200, "3 payments", "Back to the first page")
		back := regexp.MustCompile(`/dashboard/payments\?newer=PAY_\w+`).FindString(last.Body)
		expect(t, b.Get(back), 200, "25 payments", "Next page")
	})
}

func TestSimulateAndAccept(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		at := "/dashboard/payments/" + s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		expect(t, b.Get(at), 200, "Simulate", "Underpaid")
		leads(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"exact"}}), at)
		expect(t, b.Get(at), 200, "becomes processing", "Opened by the customer")
		expect(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"made_up"}}), 422, "Must be one of exact")

		expect(t, b.PostFrom(at, at+"/accept", nil), 409, "Only a declined payment can be accepted")
		s.UpdatePayment(strings.TrimPrefix(at, "/dashboard/payments/"), map[string]any{"status": "declined", "reason": "underpaid", "remark": "Underpaid by 0.1 BTC."})
		expect(t, b.Get(at), 200, "Underpaid by 0.1 BTC.", "Accept payment")
		s.SetRole(sc, scope.Finance)
		if strings.Contains(b.Get(at).VisibleText(), "Accept payment") {
			t.Error("finance is offered to accept a payment")
		}
		expect(t, b.PostFrom(at, at+"/accept", nil), 403)
		s.SetRole(sc, scope.Owner)
		expect(t, b.Get("/dashboard"), 200, "1 declined payment")
		leads(t, b.PostFrom(at, at+"/accept", nil), at)
		expect(t, b.Get(at), 200, "Successful", "Accepted by a person of the business.")
	})
}

func TestMethods(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/methods"), 200, "Bitcoin", "Tether USD", "Customers can choose it")
		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {"false"}}), "/dashboard/methods")
		expect(t, b.Get("/dashboard/methods"), 200, "Ready, on the sandbox")
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_gold", url.Values{"enabled": {"true"}}), 404)

		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/methods"}}), "/dashboard/methods")
		expect(t, b.Get("/dashboard/methods"), 200, "No live network is configured")
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {"true"}}), 403, "can't be enabled here")
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {"moon"}}), 404)
	})
}

func TestWebhooks(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const list, form = "/dashboard/webhooks", "/dashboard/webhooks/new"
		expect(t, b.Get(list), 200, "No endpoints yet")
		refused := b.PostFrom(form, list, url.Values{"url": {"nowhere"}, "active": {"true"}})
		expect(t, refused, 422, "nowhere", "Not saved yet")

		made := b.PostFrom(form, list, url.Values{"type": {"Shop server"}, "url": {"https://shop.example/hook"}, "active": {"true"}})
		expect(t, made, 201, "Shop server", "whsec_", "it is not shown again")
		at := regexp.MustCompile(`/dashboard/webhooks/whk_\w+`).FindString(made.Body)
		shown := b.Get(at)
		expect(t, shown, 200, "https://shop.example/hook")
		if strings.Contains(shown.Body, "whsec_") {
			t.Error("the secret is shown again")
		}
		expect(t, b.PostFrom(at, at, url.Values{"type": {""}, "url": {"ftp://x"}}), 422, "ftp://x")
		leads(t, b.PostFrom(at, at, url.Values{"type": {"Renamed"}, "url": {"https://shop.example/hook"}}), at)
		leads(t, b.PostFrom(at, at+"/test", nil), at)
		expect(t, b.Get(at), 200, "Renamed", "webhook.test", "Waiting to be sent")
		expect(t, b.Get(list), 200, "Renamed", "Waiting to be sent")

		leads(t, b.PostFrom(at, at+"/toggle", url.Values{"active": {"false"}}), at)
		expect(t, b.PostFrom(at, at+"/test", nil), 409, "inactive and receives no events")
		b.Header["HX-Current-URL"] = servertest.Base + list
		leads(t, b.PostFrom(list, at+"/toggle", url.Values{"active": {"true"}}), list)
		b.Header["HX-Current-URL"] = "https://elsewhere.example/dashboard/webhooks"
		leads(t, b.PostFrom(list, at+"/toggle", url.Values{"active": {"false"}}), list) // the path only
		delete(b.Header, "HX-Current-URL")

		expect(t, b.PostFrom(at, at+"/rotate", nil), 200, "whsec_", "The old secret also signs until")
		leads(t, b.PostFrom(at, at+"/delete", nil), list)
		expect(t, b.Get(at), 404)
		expect(t, b.Get(list), 200, "No endpoints yet", "The endpoint was deleted.")
	})
}

func TestLinks(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const list, form = "/dashboard/links", "/dashboard/links/new"
		expect(t, b.Get(list), 200, "No payment links yet")
		expect(t, b.Get(form), 200, "Bitcoin (BTC)")
		refused := b.PostFrom(form, list, url.Values{"title": {""}, "currency": {"EUR"}, "amount_kind": {"fixed"}, "amount": {"12.50"},
			"usage_limit": {"many"}, "expires_at": {"tomorrow"}, "redirect_url": {"javascript:alert(1)"}, "methods": {"crypto_gold"}})
		expect(t, refused, 422, "Is required.", "12.50", "Must be one of NGN", "whole number", "Must be a date with a time", "is no payment method", "Must be a full address")

		good := url.Values{"title": {"Yoga class"}, "currency": {"GHC"}, "amount_kind": {"open"}, "min_amount": {"10"}, "max_amount": {"500"},
			"usage_limit": {"3"}, "expires_at": {"2026-04-01T10:00"}, "methods": {"crypto_bitcoin", "crypto_ripple"}, "redirect_url": {"https://shop.example/thanks"}}
		made := b.PostFrom(form, list, good)
		at := made.Location
		leads(t, made, at)
		expect(t, b.Get(at), 200, "The link is ready", "Yoga class", "Open, GH₵10.00 to GH₵500.00", "0 of 3", "BTC XRP", "https://shop.example/thanks")
		expect(t, b.Get(list), 200, "Yoga class", `aria-checked="true"`)
		expect(t, b.Get(at+"/edit"), 200, "Edit payment link", "Yoga class", "2026-04-01T10:00", `action="`+at+`"`)
		good.Set("title", "Yoga")
		good.Set("min_amount", "600")
		expect(t, b.PostFrom(form, at, good), 422, "The least amount is above the most.")
		good.Set("min_amount", "20")
		leads(t, b.PostFrom(form, at, good), at)
		expect(t, b.Get(at), 200, "GH₵20.00")
		expect(t, b.Get(at), 200, "No payments with this link yet")
		code := regexp.MustCompile(`/l/([a-z0-9]{16})`).FindStringSubmatch(b.Get(at).Body)[1]
		_, err := s.Links.StartPayment(t.Context(), code, link.Form{Amount: 50, Method: "crypto_bitcoin", FirstName: "Ngozi", LastName: "Okafor", Email: "ngozi@example.com"})
		s.FailOn(err)
		expect(t, b.Get(at), 200, "Ngozi Okafor", "GH₵50.00", "1 of 3")
		leads(t, b.PostFrom(at, at+"/toggle", url.Values{"active": {"false"}}), at)
		expect(t, b.Get(at), 200, "Inactive")
		for _, nowhere := range []string{"/dashboard/links/999", "/dashboard/links/x", "/dashboard/links/0"} {
			expect(t, b.Get(nowhere), 404)
			expect(t, b.PostFrom(form, nowhere, good), 404)
		}
	})
}

func TestKeys(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/keys"
		expect(t, b.PostFrom(at, at, url.Values{"name": {" "}}), 422, "No API keys yet")
		refused := b.PostFrom(at, at, url.Values{"name": {"Shop server"}, "permission.all": {"true"}})
		expect(t, refused, 422, "Choose at least one", "No API keys yet")
		made := b.PostFrom(at, at, url.Values{"name": {"Shop server"}, "permission.payments:write": {"true"}, "permission.links": {"true"}})
		expect(t, made, 201, "Shop server", "payments:write, links", "curl -sS "+servertest.Base+"/v1/payment/initiate")
		secret := regexp.MustCompile(`sk_test_\w{20,}`).FindString(made.Body)
		if _, _, err := s.Keys.Authenticate(t.Context(), "Bearer "+secret); err != nil {
			t.Errorf("the key that was shown: %v", err)
		}
		listed := b.Get(at)
		expect(t, listed, 200, secret[len(secret)-4:])
		if strings.Contains(listed.Body, secret) {
			t.Error("the key is shown again")
		}
		key := regexp.MustCompile(`/dashboard/keys/\d+`).FindString(listed.Body)
		expect(t, b.PostFrom(at, key+"/roll", nil), 201, "sk_test_", "Valid until")
		expect(t, b.PostFrom(at, key+"/roll", nil), 409, "has been rolled already")
		leads(t, b.PostFrom(at, key+"/revoke", nil), at)
		expect(t, b.Get(at), 200, "Revoked")
		expect(t, b.PostFrom(at, at+"/77/revoke", nil), 404)
		for domain, want := range map[string]string{"test": "checked", "live": ""} {
			b.PostFrom(at, "/dashboard/domain", url.Values{"domain": {domain}})
			box := regexp.MustCompile(`name="permission.sends:write" value="true" ?(\w*)`).FindStringSubmatch(b.Get(at).Body)
			if box == nil || box[1] != want {
				t.Errorf("in %s the box of sends:write is %q, want %q", domain, box, want)
			}
		}
	})
}

func TestMailbox(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/mailbox"), 200, "No e-mails yet", "COINTILL_SMTP_URL")
		reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		s.UpdatePayment(reference, map[string]any{"status": "declined", "reason": "underpaid"})
		s.FailOn(s.Resolver.Resolve(t.Context(), sc, reference))

		list := b.Get("/dashboard/mailbox")
		expect(t, list, 200, "Receipt "+reference, "ngozi@example.com")
		at := regexp.MustCompile(`/dashboard/mailbox/\d+`).FindString(list.Body)
		expect(t, b.Get(at), 200, "Thank you, Ngozi Okafor", reference, "Not sent", "Not sent: no mail server was configured")
		expect(t, b.Get("/dashboard/payments/"+reference), 200, at, "Not sent")
		expect(t, b.PostFrom(at, at+"/resend", nil), 409, "No mail server is configured")
		expect(t, b.Get("/dashboard/mailbox/999"), 404)
		expect(t, b.Get("/dashboard/mailbox?before=-1"), 200, "Receipt "+reference)
	})
}

// things of one business, by the address of their page.
func things(t testing.TB, s *servertest.Server, sc scope.Scope) []string {
	t.Helper()
	reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
	s.UpdatePayment(reference, map[string]any{"status": "declined", "reason": "underpaid"})
	s.FailOn(s.Resolver.Resolve(t.Context(), sc, reference))
	mails, _, err := s.Mails.ListMails(t.Context(), sc, 0, 1)
	s.FailOn(err)
	amount := int64(5)
	made, err := s.Links.CreateLink(t.Context(), sc, link.Draft{Title: "Yoga", Currency: "USD", Amount: &amount})
	s.FailOn(err)
	hook, _, err := s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Hook", URL: "https://shop.example/hook", Active: true})
	s.FailOn(err)
	return []string{"/dashboard/payments/" + reference, fmt.Sprintf("/dashboard/links/%d", made.ID),
		"/dashboard/webhooks/" + hook.ID, fmt.Sprintf("/dashboard/mailbox/%d", mails[0].ID)}
}

// TestTenancy (AP-1, AP-2): what belongs to one business, or to the other domain, is not
// there.
func TestTenancy(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		mine := s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Bayo's Shop", bayo)
		key, _, err := s.Keys.CreateKey(t.Context(), mine, "Server")
		s.FailOn(err)
		pages := things(t, s, mine)
		acts := append([]string{}, pages[1], pages[2], fmt.Sprintf("/dashboard/keys/%d/roll", key.ID), fmt.Sprintf("/dashboard/keys/%d/revoke", key.ID))
		for at, verbs := range map[string][]string{pages[0]: {"/simulate", "/accept"}, pages[1]: {"/toggle"},
			pages[2]: {"/toggle", "/delete", "/rotate", "/test"}, pages[3]: {"/resend"}} {
			for _, verb := range verbs {
				acts = append(acts, at+verb)
			}
		}
		form := url.Values{"title": {"Taken"}, "currency": {"USD"}, "amount": {"1"}, "type": {"Taken"}, "url": {"https://taken.example"}, "scenario": {"exact"}, "active": {"true"}}
		owner, stranger, elsewhere := s.SignIn(ama), s.SignIn(bayo), s.SignIn(ama)
		leads(t, elsewhere.PostFrom("/dashboard", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {pages[0]}}), "/dashboard/payments")
		for _, at := range pages {
			expect(t, owner.Get(at), 200)
			expect(t, stranger.Get(at), 404)
			expect(t, elsewhere.Get(at), 404)
		}
		for _, at := range acts {
			expect(t, stranger.PostFrom("/dashboard", at, form), 404)
			refused := elsewhere.PostFrom("/dashboard/methods", at, form)
			if refused.Status != 404 && !(refused.Status == 403 && strings.HasSuffix(at, "/simulate")) {
				t.Errorf("%s in live: %d", at, refused.Status)
			}
		}
		for _, list := range []string{"/dashboard/payments", "/dashboard/links", "/dashboard/webhooks", "/dashboard/keys", "/dashboard/mailbox"} {
			if text := stranger.Get(list).Body; strings.Contains(text, "PAY_") || strings.Contains(text, "Yoga") || strings.Contains(text, "shop.example/hook") {
				t.Errorf("%s shows another's things", list)
			}
		}
		for _, at := range pages {
			expect(t, owner.Get(at), 200)
		}
	})
}

// TestRoles is contract section 9: a page that a role may see, in test and in live.
func TestRoles(t *testing.T) {
	pages := []string{"/dashboard/payments", "/dashboard/links", "/dashboard/links/new", "/dashboard/webhooks", "/dashboard/webhooks/new",
		"/dashboard/keys", "/dashboard/methods", "/dashboard/mailbox", "/dashboard/unmatched"}
	want := map[scope.Role][2]string{ // ✓ may see, – may not; in the order of pages
		scope.Owner:     {"✓✓✓✓✓✓✓✓✓", "✓✓✓✓✓✓✓✓✓"},
		scope.Admin:     {"✓✓✓✓✓✓✓✓✓", "✓✓✓✓✓✓✓✓✓"},
		scope.Finance:   {"✓✓––––✓✓✓", "✓✓––––✓✓✓"},
		scope.Developer: {"✓✓✓✓✓✓✓✓✓", "–––✓––✓––"},
	}
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		for role, both := range want {
			for i, domain := range []string{"test", "live"} {
				s.SetRole(sc, role)
				b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {domain}})
				got := ""
				for _, at := range pages {
					mark := map[int]string{200: "✓", 403: "–"}[b.Get(at).Status]
					got += mark
				}
				if got != both[i] {
					t.Errorf("%s in %s: %s, want %s", role, domain, got, both[i])
				}
			}
		}
		s.SetRole(sc, scope.Developer)
		leads(t, b.Get("/dashboard"), "/dashboard/webhooks") // still in live
		s.SetRole(sc, scope.Finance)
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {"false"}}), 403)
	})
}

// TestUnmatched lists money that credits no payment, page by page.
func TestUnmatched(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/unmatched"), 200, "No unmatched transfers")
		reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple)).Reference
		v, err := s.Payments.Verify(t.Context(), sc, reference)
		s.FailOn(err)
		now, tag := s.Clock.Now(), int64(4_000_000_001)
		for i, why := range append([]string{payment.MissingTag, payment.UnknownTag, payment.AfterFinal, payment.WrongAsset}, make([]string, 24)...) {
			row := models.Transfer{Network: "sandbox-xrp", TxID: fmt.Sprintf("hash%02d", i), Asset: "XRP", Address: "rSample", Amount: money.Units(1_500_000),
				BusinessID: sc.BusinessID, Domain: string(sc.Domain), Unmatched: why, FirstSeenAt: now, CreatedAt: now, UpdatedAt: now}
			switch why {
			case payment.AfterFinal:
				row.PaymentID = &v.Payment.ID
			case payment.UnknownTag:
				row.Tag = &tag
			case payment.WrongAsset:
				row.Asset = "FAKE-XRP"
			case "":
				row.Unmatched = payment.MissingTag
			}
			s.FailOn(s.DB.Exec(t.Context()).Create(&row).Error)
		}
		first := b.Get("/dashboard/unmatched")
		expect(t, first, 200, "25 transfers", "hash27", "1.500000 XRP", "No destination tag", "Each row says where it is")
		next := regexp.MustCompile(`/dashboard/unmatched\?before=\d+`).FindString(first.Body)
		expect(t, b.Get(next), 200, "3 transfers", "Received after the end", reference, "Unknown destination tag", "4000000001", "hash00")
		expect(t, b.Get("/dashboard"), 200, "28 unmatched transfers", `href="/dashboard/unmatched"`)
		doubtful := models.Transfer{Network: "sandbox-xrp", TxID: "doubtful", Asset: "XRP", Address: "rSample", Amount: money.Units(1), BusinessID: sc.BusinessID,
			Domain: string(sc.Domain), Unmatched: payment.Unproved, FirstSeenAt: now, CreatedAt: now, UpdatedAt: now}
		s.FailOn(s.DB.Exec(t.Context()).Create(&doubtful).Error)
		page := b.Get("/dashboard/unmatched")
		if expect(t, page, 200, "Amount not proved", "perhaps nothing arrived", "marked “Amount not proved”"); strings.Contains(page.Body, "Each row says where it is") {
			t.Error("what may not have come is said to be in the wallet")
		}
		s.CreateBusiness("Bayo's Shop", bayo)
		expect(t, s.SignIn(bayo).Get("/dashboard/unmatched"), 200, "No unmatched transfers")
	})
}

// TestForgedForms (AP-5): without the form's token, or from another site, nothing
// happens.
func TestForgedForms(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		for _, at := range []string{"/dashboard/keys", "/dashboard/webhooks", "/dashboard/links", "/dashboard/domain", "/sign-out", "/dashboard/methods/crypto_bitcoin"} {
			expect(t, b.Post(at, url.Values{"name": {"x"}, "csrf": {"forged"}}), 403)
		}
		expect(t, b.Get("/dashboard/keys"), 200, "No API keys yet")
		if n := rows(s, &models.Audit{}, "action = 'access.refused' AND refused AND subject LIKE '/dashboard/%'"); n != 5 {
			t.Errorf("%d of 5 refusals stand in the audit log", n)
		}
	})
}

// TestEveryState: a payment's page and the list have words for each state and reason.
func TestEveryState(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoEthereum)).Reference
		for _, state := range payment.States() {
			for _, reason := range append(payment.Reasons(), payment.NoReason) {
				s.UpdatePayment(reference, map[string]any{"status": string(state), "reason": string(reason), "reversed": reason == payment.ReversedReason})
				expect(t, b.Get("/dashboard/payments/"+reference), 200, reference)
				expect(t, b.Get("/dashboard/payments?status="+string(state)), 200, reference)
			}
		}
	})
}
