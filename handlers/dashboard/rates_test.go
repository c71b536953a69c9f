package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// goLive switches a browser to the live domain.
func goLive(b *servertest.Browser) {
	b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/methods"}})
}

// switchOn turns a live method on, whatever it lacks.
func switchOn(s *servertest.Server, sc scope.Scope, method money.Method) {
	s.T.Helper()
	s.FailOn(s.DB.Exec(s.T.Context()).Model(&models.Method{}).Where("business_id = ? AND domain = 'live' AND code = ?", sc.BusinessID, string(method)).Update("enabled", true).Error)
}

// say lets two sources agree on a pair now, and a third be off.
func say(s *servertest.Server, pair, value, off string) {
	now := s.Clock.Now()
	s.Market.SetPrice("kraken", pair, value, now.Add(-4*time.Second))
	s.Market.SetPrice("er-api", pair, value, now.Add(-9*time.Second))
	if off != "" {
		s.Market.SetPrice("okx", pair, off, now)
	}
}

// lacks fails when the page holds one of the texts.
func lacks(t *testing.T, a servertest.Answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.VisibleText(), text) || strings.Contains(a.Body, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func TestRatesInTest(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		s.Quotes.Asked = source.All() // the street is not in the fixed table
		b := s.SignIn(ama)
		rates := b.Get("/dashboard/rates")
		expect(t, rates, 200, "fixed table", "Bitcoin BTC", "₦89", "GH₵", "KSh ", "$0.12", "The official rate", "USD/GHS", "3 of 3", "sandbox-b", "Median: 59,", `aria-current="page"`)
		lacks(t, rates, "No price", "<figure", "Sources answer", "Kraken", "USDT/NGN", "No rates are fetched")
		chosen := b.Get("/dashboard/rates?pair=USD%2FGHS&range=90d")
		expect(t, chosen, 200, "Median: 12.", "range=90d")
		for _, odd := range []string{"?pair=BTC", "?pair=%00%FF&range=9y", "?pair=USDT%2FNGN"} {
			expect(t, b.Get("/dashboard/rates"+odd), 200, "Median: 59,")
		}
	})
}

func TestRatesInLive(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		goLive(b)
		idle := b.Get("/dashboard/rates")
		expect(t, idle, 200, "No rates are fetched while no live payment method is on", "No price", "There is no trustworthy rate for BTC/USD now: no rate source is reachable", "No source has reported this rate", "No request yet", "No rates were recorded")
		lacks(t, idle, "Problems with the rates", "fixed table", "no trustworthy rate for ETH/USD") // once is enough

		switchOn(s, sc, money.CryptoBitcoin)
		say(s, "BTC/USD", "60000", "66000")
		say(s, "USD/NGN", "1500", "")
		now := s.Clock.Now()
		s.FailOn(s.DB.Exec(t.Context()).Create(&[]models.RateMinute{
			{Base: "BTC", Quote: "USD", Minute: now.Unix()/60 - 5, Value: "59000", Sources: 2}, {Base: "BTC", Quote: "USD", Minute: now.Unix() / 60, Value: "60000", Sources: 3},
			{Base: "BTC", Quote: "USD", Minute: now.Unix()/60 - 1445, Value: "10", Sources: 3}}).Error)
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.RateSource{Name: "kraken", AskedAt: now.Add(-9 * time.Second), NextAt: now.Add(6 * time.Second), Failures: 3, Problem: "answers 502"}).Error)
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Rate{Source: "kraken", Base: "BTC", Quote: "USD", At: now, FetchedAt: now, Refused: "upside down", RefusedValue: "0.0000166", RefusedAt: &now}).Error)
		live := b.Get("/dashboard/rates")
		expect(t, live, 200, "₦90,000,000.00", "$60,000.00", "Not used: off by 10 %", "2 of 3", "ExchangeRate-API", `href="https://www.exchangerate-api.com"`, "4 s old",
			"Highest 60,000.00", "Lowest 59,000.00", "1 Mar, 13:00", "Problems with the rates", "Kraken failed 3 times in a row", "no trustworthy rate for ETH/USD",
			"Kraken answers 502.", "Last request 9 s ago", "Next request in 6 s", "0.0000166", "upside down", "Terms")
		lacks(t, live, "No rates are fetched", "Lowest 10.0")
		if n := strings.Count(live.Body, "There is no trustworthy rate for USD/KES"); n != 2 { // the alarm, and the pair's own row
			t.Errorf("a missing rate is told %d times", n)
		}
		expect(t, b.Get("/dashboard/rates?pair=USD%2FNGN&range=7d"), 200, "Median: 1,500.00", "No rates were recorded in this period")
		expect(t, b.Get("/dashboard/rates?pair=BTC%2FUSD&range=7d"), 200, "over the last 7 days")

		s.Quotes.Asked, s.Quotes.Sources = nil, nil
		expect(t, b.Get("/dashboard/rates"), 200, "No source of live prices is configured")
	})
}

// TestRatePolicy sets a rule, sees what it does, and takes it back.
func TestRatePolicy(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		at := "/dashboard/rates/GHC"
		expect(t, b.Get(at), 200, "Prices in GHC", "Price of GH₵100.00 right now", "the same as at the official rate", "No source of a street rate is configured for GHC", "Africa/Lagos", "Change rule")
		// An own rate far from the market's is stored, and warned of. 30 days are up at 13:00 in Lagos.
		leads(t, b.PostFrom(at, at, url.Values{"spread": {"1.5"}, "manual": {"13.90"}, "manual_until": {"2026-03-31T13:00"}}), at)
		expect(t, b.Get(at), 200, "Saved. New payments in GHC use this rule.", "Your own: GH₵13.9 for one US dollar, until 31 Mar 2026, 13:00", "1.52 % more",
			"% above the market's", `value="1.5"`, `value="13.9"`, `value="2026-03-31T13:00"`, "After that, the official rate is used.")
		expect(t, b.Get("/dashboard/rates"), 200, "Your own: GH₵13.9", "% above the market's")

		r := servertest.NewRequest(money.CryptoBitcoin)
		r.Currency = "GHC"
		expect(t, b.Get("/dashboard/payments/"+s.InitiatePayment(sc, r).Reference), 200, "Your own rate", "1.5 %", "Price before the spread", "13.9", `data-copy="13.9"`, "USD/GHS", "sandbox-a", "before")

		leads(t, b.PostFrom(at, at, url.Values{"spread": {"-5"}, "manual": {""}, "manual_until": {""}}), at)
		expect(t, b.Get(at), 200, "The official rate", "−5 %: a customer pays 4.76 % less", "4.76 % less BTC")
		lacks(t, b.Get(at), "13.9")
		if rows(s, &models.Audit{}, "action = 'rates.changed'") != 2 || rows(s, &models.RatePolicy{}, "1 = 1") != 1 {
			t.Error("two changes of one rule are not two rows of the audit log")
		}
		usd := "/dashboard/rates/USD"
		leads(t, b.PostFrom(usd, usd, url.Values{"spread": {"10"}}), usd)
		lacks(t, b.Get(usd), "Your own rate", "manual_until", "street")
		for _, nowhere := range []string{"GHS", "EUR", "ngn", "%00"} {
			expect(t, b.Get("/dashboard/rates/"+nowhere), 404)
			expect(t, b.PostFrom(usd, "/dashboard/rates/"+nowhere, url.Values{"spread": {"1"}}), 404)
		}
	})
}

// TestRatePolicyStreet: the street is offered where a source of it is set up, in
// live; a rule whose source is gone says so.
func TestRatePolicyStreet(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		s.Quotes.Asked = source.All()
		b := s.SignIn(ama)
		at := "/dashboard/rates/NGN"
		expect(t, b.PostFrom(at, at, url.Values{"market": {"street"}, "spread": {"0"}}), 422, "No source of a street rate is set up for this currency")
		goLive(b)
		say(s, "BTC/USD", "60000", "")
		say(s, "USDT/USD", "1", "")
		say(s, "USD/NGN", "1500", "")
		s.Market.SetPrice("quidax", "USDT/NGN", "1660", s.Clock.Now())
		s.Market.SetPrice("luno", "USDT/NGN", "1670", s.Clock.Now())
		expect(t, b.Get(at), 200, "Street rate", "people buy a dollar coin (USDT)")
		lacks(t, b.Get("/dashboard/rates/KES"), "Street rate")
		leads(t, b.PostFrom(at, at, url.Values{"market": {"street"}, "spread": {"0"}}), at)
		expect(t, b.Get(at), 200, "The street rate", "₦99,900,000.00", "₦90,000,000.00", "9.91 % less BTC", `value="street" selected`)
		expect(t, b.Get("/dashboard/rates?pair=USDT%2FNGN"), 200, "Median: 1,665.00", "Quidax", "street rates")
		expect(t, b.PostFrom(at, at, url.Values{"market": {"black"}, "spread": {"0"}}), 422, "Must be official or street.")

		s.Quotes.Asked = source.Standard()
		s.Market.RemovePrice("USDT/NGN")
		expect(t, b.Get(at), 200, "No source of a street rate is configured any more", "With this rule, there is no price at the moment", `value="street" selected`)
	})
}

// TestRatePolicyRefused: what was typed comes back with a sentence for each
// field, and nothing is stored.
func TestRatePolicyRefused(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const bounds, soon = "Must be from −5 to 10 percent.", "Must be a time within the next 30 days"
		number, plain := "with at most two decimals, such as 1.5", "Must be a plain number such as 1525.50"
		dollar := "Must be what one US dollar costs: from 2 to 1000 GHC."
		for name, c := range map[string]struct{ spread, manual, until, want string }{
			"spread above":      {"10.01", "", "", bounds},
			"spread below":      {"-5.01", "", "", bounds},
			"spread exponent":   {"1e1", "", "", number},
			"spread in Arabic":  {"٣", "", "", number},
			"spread three":      {"1.005", "", "", number},
			"spread empty":      {"", "", "", number},
			"manual zero":       {"0", "0", "2026-03-05T12:00", dollar},
			"manual zero alone": {"0", "0", "", dollar},
			"old cedis":         {"0", "125000", "2026-03-05T12:00", dollar},
			"upside down":       {"0", "0.08", "2026-03-05T12:00", dollar},
			"manual exponent":   {"0", "1e1", "2026-03-05T12:00", plain},
			"seven decimals":    {"0", "12.1234567", "2026-03-05T12:00", "at most six decimals"},
			"until now":         {"0", "12.5", "2026-03-01T13:00", soon},
			"31 days":           {"0", "12.5", "2026-04-01T13:00", soon},
			"a minute too late": {"0", "12.5", "2026-03-31T13:01", soon},
			"no end":            {"0", "12.5", "", soon},
			"no time":           {"0", "12.5", "tomorrow", "Must be a date with a time, or empty."},
			"an end alone":      {"0", "", "2026-03-05T12:00", dollar},
		} {
			at := "/dashboard/rates/GHC"
			a := b.PostFrom(at, at, url.Values{"spread": {c.spread}, "manual": {c.manual}, "manual_until": {c.until}})
			t.Run(name, func(t *testing.T) {
				expect(t, a, 422, c.want, `value="`+c.spread+`"`, `value="`+c.manual+`"`, `value="`+c.until+`"`, "Not saved yet", `aria-invalid="true"`)
			})
		}
		at := "/dashboard/rates/GHC"
		all := b.PostFrom(at, at, url.Values{"market": {"street"}, "spread": {"x"}, "manual": {"y"}, "manual_until": {"z"}})
		expect(t, all, 422, number, plain, "Must be a date with a time, or empty.")
		lacks(t, all, bounds, dollar, soon)
		usd := "/dashboard/rates/USD"
		expect(t, b.PostFrom(usd, usd, url.Values{"spread": {"0"}, "manual": {"1"}, "manual_until": {"2026-03-05T12:00"}}), 422, "The dollar has no rate of its own.")
		if rows(s, &models.RatePolicy{}, "1 = 1") != 0 || rows(s, &models.Audit{}, "action = 'rates.changed'") != 0 {
			t.Error("something was stored")
		}
	})
}

// TestRateRoles: everybody sees the rates and the rules; owners and admins change them.
func TestRateRoles(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		other := s.CreateBusiness("Bayo's Shop", bayo)
		b, at := s.SignIn(ama), "/dashboard/rates/NGN"
		for role, may := range map[scope.Role]bool{scope.Owner: true, scope.Admin: true, scope.Finance: false, scope.Developer: false} {
			s.SetRole(sc, role)
			expect(t, b.Get("/dashboard/rates"), 200, "Pricing rules")
			page := b.Get(at)
			expect(t, page, 200, "Price of ₦100,000.00 right now")
			if strings.Contains(page.Body, `name="spread"`) != may || strings.Contains(page.VisibleText(), "Only an owner or an admin") == may {
				t.Errorf("%s is shown the wrong page", role)
			}
			a := b.PostFrom(at, at, url.Values{"spread": {"2"}})
			if want := map[bool]int{true: http.StatusSeeOther, false: http.StatusForbidden}[may]; a.Status != want {
				t.Errorf("%s: %d, want %d", role, a.Status, want)
			}
		}
		if a := b.Post(at, url.Values{"spread": {"2"}}); a.Status != http.StatusForbidden {
			t.Errorf("without a form token: %d", a.Status)
		}
		lacks(t, s.SignIn(bayo).Get(at), "2.04 % more BTC")
		if rows(s, &models.RatePolicy{}, "business_id = ?", other.BusinessID) != 0 {
			t.Error("another business has a rule")
		}
	})
}

// TestUnpriced (FX-2): a live method that is on without a rate is shown where people
// look.
func TestUnpriced(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		goLive(b)
		lacks(t, b.Get("/dashboard"), "No price for")
		switchOn(s, sc, money.CryptoBitcoin)
		say(s, "ETH/USD", "2500", "")
		overview, methods := b.Get("/dashboard"), b.Get("/dashboard/methods")
		expect(t, overview, 200, "No price for Bitcoin", "There is no trustworthy rate for BTC/USD now", `href="/dashboard/rates"`)
		expect(t, methods, 200, "No price right now", "There is no trustworthy rate for BTC/USD now")
		lacks(t, overview, "No price for Ether")
		say(s, "BTC/USD", "60000", "")
		lacks(t, b.Get("/dashboard"), "No price for Bitcoin")
		lacks(t, b.Get("/dashboard/methods"), "No price right now")
	})
}
