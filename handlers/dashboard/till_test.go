package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/till"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const tillPIN = "4711"

// formOn is a form with the token of a page.
func formOn(b *servertest.Browser, path string, values url.Values) url.Values {
	body := b.Get(path).Body
	values.Set("csrf", formToken.FindStringSubmatch(body)[1])
	if once := nonce.FindStringSubmatch(body); once != nil {
		values.Set("once", once[1])
	}
	return values
}

// lockTill has the owner who uses a browser set the PIN and put it into till mode.
func lockTill(t testing.TB, b *servertest.Browser) {
	t.Helper()
	const settings = "/dashboard/till/settings"
	leads(t, b.Post("/dashboard/till/pin", formOn(b, settings, url.Values{"pin": {tillPIN}, "domain": {"test"}})), settings)
	leads(t, b.Post("/dashboard/till/lock", formOn(b, "/dashboard/till", url.Values{})), "/dashboard/till")
}

// TestTillTakesAPayment: the keypad starts a payment, its page shows where to pay and then that it is paid, and the day's sum
// has it. It is the engine's: the merchant sees it among the payments.
func TestTillTakesAPayment(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		lockTill(t, b)
		expect(t, b.Get("/dashboard/till"), 200, "Nothing received yet")
		expect(t, b.Post("/dashboard/till", formOn(b, "/dashboard/till", url.Values{"amount": {"0.5"}, "currency": {"USD"}, "method": {"crypto_bitcoin"}})),
			422, "Enter a whole number from 1 to 1,000,000.")
		form := formOn(b, "/dashboard/till", url.Values{"amount": {"25"}, "currency": {"USD"}, "method": {"crypto_bitcoin"}})
		started := b.Post("/dashboard/till", form)
		reference := started.Location[strings.LastIndex(started.Location, "/")+1:]
		at := "/dashboard/till/payments/" + reference
		leads(t, started, at)
		leads(t, b.Post("/dashboard/till", form), at) // sent twice, it starts one
		if text := b.Get("/dashboard/till").VisibleText(); strings.Contains(text, "No payments") || !strings.Contains(text, "Nothing received yet") {
			t.Errorf("the day of a payment that waits says there is none, or not that nothing was received: %s", text)
		}
		waiting := b.Get(at)
		expect(t, waiting, 200, "Waiting for the payment", "$25.00")
		if !strings.Contains(waiting.Body, `class="qr"`) || !strings.Contains(waiting.Body, `http-equiv="refresh"`) {
			t.Error("the page of a waiting payment has no code, or no refresh for browsers without JavaScript")
		}
		s.UpdatePayment(reference, map[string]any{"status": string(payment.Successful)})
		paid := b.Get(at)
		expect(t, paid, 200, "Paid", "$25.00")
		if strings.Contains(paid.Body, `class="qr"`) || strings.Contains(paid.Body, `http-equiv="refresh"`) {
			t.Error("the page of a paid payment has a code, or is loaded again")
		}
		expect(t, b.Get("/dashboard/till"), 200, "$25.00", "1 payment")
		v, err := s.Payments.Verify(t.Context(), sc, reference)
		s.FailOn(err)
		if v.State() != payment.Successful || v.Payment.CustomerEmail != ama {
			t.Errorf("the payment is %s of %s, want successful with the receipt to the owner %s", v.State(), v.Payment.CustomerEmail, ama)
		}
		s.Clock.Advance(24 * time.Hour)
		if text := s.SignIn(ama).Get("/dashboard/till").VisibleText(); strings.Contains(text, "$25.00") {
			t.Errorf("yesterday's payment counts today: %s", text)
		}
	})
}

// TestTillAsksForNoRestAtOneAddress: a part has come. The till shows the code for the rest, but not where payments are
// told apart by their amounts: the rest may be another payment's amount.
func TestTillAsksForNoRestAtOneAddress(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		form := formOn(b, "/dashboard/till", url.Values{"amount": {"25"}, "currency": {"USD"}, "method": {"crypto_ethereum"}})
		started := b.Post("/dashboard/till", form)
		at := started.Location
		s.UpdatePayment(at[strings.LastIndex(at, "/")+1:], map[string]any{"paid": money.Units(1_000_000)})
		for exact, says := range map[bool]string{false: "Let the customer send the rest.",
			true: "The rest can’t go to the same address"} {
			s.UpdatePayment(at[strings.LastIndex(at, "/")+1:], map[string]any{"exact_amount": exact})
			page := b.Get(at)
			expect(t, page, 200, "Part of it has arrived", says)
			if strings.Contains(page.Body, `class="qr"`) == exact {
				t.Errorf("where amounts tell payments apart: %v, the page has a code: %v", exact, !exact)
			}
		}
	})
}

// TestTillRefusesTooSmallAmounts: an amount that the coin's network can't carry starts no payment.
func TestTillRefusesTooSmallAmounts(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.PostFrom("/dashboard/till", "/dashboard/till", url.Values{"amount": {"5"}, "currency": {"NGN"},
			"method": {"crypto_bitcoin"}}), 409, "This amount is too small for the coin's network.", `value="5"`)
		for name, table := range map[string]any{"payments": &models.Payment{}, "sales": &models.CounterPayment{},
			"customers": &models.Customer{}} {
			var n int64
			s.FailOn(s.DB.Read(t.Context()).Model(table).Count(&n).Error)
			if n != 0 {
				t.Errorf("the refused sale leaves %d %s behind, want none", n, name)
			}
		}
	})
}

// TestTillSeesNothingElse (TL-1): a browser in till mode has the rights of the till role, also when an owner put it
// there, and with it the forms that its member had open before are worth nothing. It sees no payment that was not
// started at the counter.
func TestTillSeesNothingElse(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Accounts.Operators = []string{ama}
		things := owned(t, s, sc)
		before := s.SignIn(ama)
		b := s.SignIn(ama)
		stale := formOn(b, "/dashboard/account", url.Values{"name": {"Taken"}})
		lockTill(t, b)
		own := formOn(b, "/dashboard/till", url.Values{"active": {"true"}, "enabled": {"true"}, "domain": {"live"}})
		for _, r := range rowsOf(t) {
			if strings.HasPrefix(r.path, "/dashboard/till") && r.allows(scope.Till, scope.Test) || r.path == "/dashboard" {
				continue
			}
			at := r.at(things)
			if r.method == http.MethodGet {
				expect(t, b.Get(at), 403)
			} else {
				expect(t, b.Post(at, own), 403)
				expect(t, b.Post(at, stale), 403)
			}
		}
		leads(t, b.Get("/dashboard"), "/dashboard/till")
		other := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		expect(t, b.Get("/dashboard/till/payments/"+other.Reference), 404)
		expect(t, b.Head("/dashboard/till/live?payment="+other.Reference), 404)
		expect(t, before.Get("/dashboard/account"), 200) // another browser of the member stays what it is
	})
}

// TestTillRoleHasOneDomain: a member with the till role takes payments in the domain that an owner chose, whatever their
// session showed before.
func TestTillRoleHasOneDomain(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		hire(t, s, sc, bayo, scope.Till)
		b := s.SignIn(bayo)
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			owner := sc
			owner.Role = scope.Owner
			s.FailOn(s.Tills.SaveSettings(t.Context(), owner, till.Settings{PIN: tillPIN, Domain: domain}))
			if text := b.Get("/dashboard/till").Body; strings.Contains(text, "TEST DATA") != (domain == scope.Test) {
				t.Errorf("the till role in %s has the band of test data: %t", domain, strings.Contains(text, "TEST DATA"))
			}
		}
		expect(t, b.Post("/dashboard/domain", formOn(b, "/dashboard/till/leave", url.Values{"domain": {"test"}})), 403)
		if text := b.Get("/dashboard/till").Body; strings.Contains(text, "TEST DATA") {
			t.Error("the till role changed its domain")
		}
	})
}

// TestTillPIN (TL-2): the right PIN leaves till mode, wrong ones don't, and after five in a row none is looked at for a while that
// doubles, however many are tried at once. The PIN stands nowhere.
func TestTillPIN(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		lockTill(t, b)
		guess := func(pin string) servertest.Answer {
			return b.Post("/dashboard/till/leave", formOn(b, "/dashboard/till/leave", url.Values{"pin": {pin}}))
		}
		for range 4 {
			expect(t, guess("0815"), 422, "This isn't the PIN.")
		}
		leads(t, guess(tillPIN), "/dashboard")
		expect(t, b.Get("/dashboard/payments"), 200)

		leads(t, b.Post("/dashboard/till/lock", formOn(b, "/dashboard/till", url.Values{})), "/dashboard/till")
		var wait sync.WaitGroup
		looked := make(chan bool, 40)
		cashier := sc
		cashier.Role = scope.Till
		for range cap(looked) {
			wait.Go(func() {
				err := s.Tills.Unlock(t.Context(), cashier, "0815")
				looked <- fault.KindOf(err) == fault.Invalid
			})
		}
		wait.Wait()
		close(looked)
		n := 0
		for was := range looked {
			if was {
				n++
			}
		}
		if n != 5 {
			t.Errorf("%d PINs of 40 at once were looked at, want 5", n)
		}
		for _, pause := range []time.Duration{15 * time.Minute, 30 * time.Minute} {
			s.Clock.Advance(pause - time.Second)
			b = lockedAgain(t, s)
			if a := guess(tillPIN); a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" {
				t.Errorf("the right PIN a second before %s are over: %d, Retry-After %q, want 429 and 1", pause, a.Status, a.Header.Get("Retry-After"))
			}
			s.Clock.Advance(time.Second)
			expect(t, guess("0815"), 422)
		}
		s.Clock.Advance(time.Hour)
		b = lockedAgain(t, s)
		leads(t, guess(tillPIN), "/dashboard")

		var row models.Till
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		if strings.Contains(row.Hash, tillPIN) || len(row.Hash) != 64 || row.Tries != 0 {
			t.Errorf("the row is %+v, want a hash of 64 digits and no tries", row)
		}
		for _, pin := range []string{"123", "1234", "8765", "7777", "123456789", "12a4", "１２３４"} {
			if err := s.Tills.SaveSettings(t.Context(), sc, till.Settings{PIN: pin, Domain: scope.Test}); err == nil {
				t.Errorf("the PIN %q is taken", pin)
			}
		}
		if err := s.Tills.SaveSettings(t.Context(), sc, till.Settings{PIN: "2580", Domain: "moon"}); err == nil {
			t.Error("the domain moon is taken")
		}
		var kept models.Till
		s.FailOn(s.DB.Read(t.Context()).Take(&kept).Error)
		if kept.Hash != row.Hash {
			t.Error("a PIN was stored although the domain beside it was refused")
		}
	})
}

// lockedAgain is a new browser of the owner in till mode: the session before ended in the meantime.
func lockedAgain(t testing.TB, s *servertest.Server) *servertest.Browser {
	t.Helper()
	b := s.SignIn(ama)
	leads(t, b.Post("/dashboard/till/lock", formOn(b, "/dashboard/till", url.Values{})), "/dashboard/till")
	return b
}

// TestTillWithoutCoin: members with the right to switch coins on are led to its page, in live to what going live needs;
// others are told whom to ask.
func TestTillWithoutCoin(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		hire(t, s, sc, bayo, scope.Till)
		s.FailOn(s.DB.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Model(&models.Method{}).Where("business_id = ?", sc.BusinessID).Update("enabled", false).Error
		}))
		const none, ask = "No coin can be paid with now", "Ask an owner or an admin."
		b := s.SignIn(ama)
		for domain, link := range map[string]string{"live": "/dashboard/going-live", "test": "/dashboard/methods"} {
			b.PostFrom("/dashboard", "/dashboard/domain", url.Values{"domain": {domain}})
			a := b.Get("/dashboard/till")
			expect(t, a, 200, none, `href="`+link+`"`)
			if strings.Contains(a.VisibleText(), ask) {
				t.Errorf("the %s till tells an owner to ask an owner", domain)
			}
		}
		a := s.SignIn(bayo).Get("/dashboard/till")
		expect(t, a, 200, none, ask)
		if strings.Contains(a.Body, `href="/dashboard/methods"`) {
			t.Error("the till leads the till role to the payment methods, which it can't open")
		}
	})
}

// TestTillWithoutPIN: a browser isn't put into a mode that it could not leave.
func TestTillWithoutPIN(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		leads(t, b.Post("/dashboard/till/lock", formOn(b, "/dashboard/till", url.Values{})), "/dashboard/till/settings")
		expect(t, b.Get("/dashboard/till/settings"), 200, "There is no PIN yet")
		expect(t, b.Get("/dashboard/payments"), 200)
	})
}

// TestTillLeadsToTheCustomersPage: until a sale is final its page leads to the customer's, which is called the sandbox where
// the network is simulated.
func TestTillLeadsToTheCustomersPage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const wallet = "/dashboard/methods/crypto_ethereum/wallet"
		leads(t, b.PostFrom(wallet, wallet, url.Values{"key": {oneAddress}, "password": {servertest.Password}}), wallet)
		for method, want := range map[string]string{"crypto_ripple": "Pay it in the sandbox", "crypto_ethereum": "Open the customer's page"} {
			sale := b.PostFrom("/dashboard/till", "/dashboard/till",
				url.Values{"amount": {"25"}, "currency": {"USD"}, "method": {method}})
			expect(t, sale, 303)
			at := sale.Header.Get("Location")
			expect(t, b.Get(at), 200, want, "/pay/")
			s.UpdatePayment(at[strings.LastIndex(at, "/")+1:], map[string]any{"status": string(payment.Successful)})
			final := b.Get(at)
			expect(t, final, 200, "Paid")
			if strings.Contains(final.Body, "/pay/") {
				t.Errorf("the page of a final sale in %s still leads to the customer's: %.1500s", method, final.Body)
			}
		}
	})
}

// TestTillChoosesTheNetwork: a coin that can be paid on several networks has a choice of them, the preselected one first and
// chosen. The payment is on the chosen one and stays there. One that isn't on is refused in a cashier's words, above the
// form.
func TestTillChoosesTheNetwork(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Networks.Domains[scope.Test][money.BSC] = "sandbox-bsc"
		s.Networks.Domains[scope.Test][money.Polygon] = "sandbox-polygon"
		s.Networks.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum", "sandbox-polygon": "sandbox-ethereum"}
		const keypad, methods, field = "/dashboard/till", "/dashboard/methods", "network_crypto_tether"
		b := s.SignIn(ama)
		sell := func(network ...string) servertest.Answer {
			return b.PostFrom(keypad, keypad, url.Values{"amount": {"25"}, "currency": {"USD"}, "method": {"crypto_tether"},
				field: network})
		}
		expectOn := func(a servertest.Answer, network string, fixed bool) {
			t.Helper()
			expect(t, a, 303)
			v, err := s.Payments.Verify(t.Context(), sc, a.Location[strings.LastIndex(a.Location, "/")+1:])
			s.FailOn(err)
			if v.Payment.Network != network || v.Payment.NetworkFixed != fixed {
				t.Errorf("the payment is on %s, fixed %t, want %s and %t", v.Payment.Network, v.Payment.NetworkFixed, network, fixed)
			}
		}
		if page := b.Get(keypad); strings.Contains(page.Body, field) {
			t.Error("the till offers a choice of one network, want none")
		}
		expectOn(sell(), "sandbox-ethereum", false)
		leads(t, b.PostFrom(methods, methods+"/crypto_tether/networks/bsc", url.Values{"enabled": {"true"}}), methods)
		leads(t, b.PostFrom(methods, methods+"/crypto_tether/networks/bsc/preselect", nil), methods)
		page := b.Get(keypad)
		expect(t, page, 200, "Network of USDT", "2 networks", "BNB Smart Chain (BEP-20)", "Fee usually under 0.10\u00a0USD",
			`name="network_crypto_tether" value="bsc" checked`, `name="network_crypto_tether" value="ethereum">`)
		if strings.Index(page.Body, `value="bsc"`) > strings.Index(page.Body, `value="ethereum"`) {
			t.Error("the preselected network isn't first")
		}
		expectOn(sell("ethereum"), "sandbox-ethereum", true)
		expectOn(sell("bsc"), "sandbox-bsc", true)

		for forged, name := range map[string]string{"polygon": "Polygon PoS", "moon": "moon",
			"sandbox-bsc": "sandbox-bsc", "tron": "Tron"} {
			expect(t, sell(forged), 422, "Nothing was charged: "+name+" can’t be paid on now.")
		}
		leads(t, b.PostFrom(methods, methods+"/crypto_tether/networks/bsc", url.Values{"enabled": {"false"}}), methods)
		refused := sell("bsc") // it went off meanwhile, and nothing is left to choose
		expect(t, refused, 422, "Nothing was charged: BNB Smart Chain can’t be paid on now.")
		if strings.Contains(refused.Body, field) {
			t.Error("the refused form offers a choice of one network, want none")
		}
		expectOn(b.PostFrom(keypad, keypad, url.Values{"amount": {"25"}, "currency": {"USD"}, "method": {"crypto_bitcoin"},
			field: {"moon"}}), "sandbox-bitcoin", false) // another coin's choice is nothing to this one

		leads(t, b.PostFrom(methods, methods+"/crypto_tether", url.Values{"enabled": {"false"}}), methods)
		expect(t, sell(), 422, "Nothing was charged: this coin can’t be paid with now.")
	})
}
