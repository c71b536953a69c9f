package dashboard_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestOverview shows figures of the asked days, before and after they were
// folded, and leads to what waits.
func TestOverview(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		old := sell(s, sc, money.CryptoBitcoin, 100, 20*time.Minute)
		s.Clock.Advance(5 * 24 * time.Hour)
		b := s.SignIn(ama)
		sell(s, sc, money.CryptoRipple, 100, 4*time.Second)
		sell(s, sc, money.CryptoRipple, 90, 4*time.Second) // within its tolerance
		short := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple)).Reference
		s.UpdatePayment(short, map[string]any{"status": "declined", "reason": "underpaid"})
		for _, counted := range []bool{false, true} {
			if counted {
				s.FailOn(s.Figures.RecountDue(t.Context()))
			}
			today := b.Get("/dashboard?period=today")
			expect(t, today, 200, "₦9,500.00", "66 %", "of 3 completed", "4 s", `aria-label="Received in NGN by day, 6 Mar 2026; ₦9,500.00 on the best day"`, "Same figures as a table",
				`/dashboard/payments?period=today&amp;status=declined`, "1 declined payment to resolve", "/dashboard/payments?need=decision")
			lacks(t, today, "Bitcoin", "unmatched transfer")
			expect(t, today, 200, `href="/dashboard/statements?from=2026-03-05&amp;to=2026-03-05"`, `href="/dashboard/till"`)
			expect(t, b.Get("/dashboard?period=7d"), 200, "₦14,500.00", "28 Feb – 6 Mar 2026", "Compared with 21 – 27 Feb 2026", "Bitcoin")
			expect(t, b.Get("/dashboard?from=2026-03-01&to=2026-03-01"), 200, "₦5,000.00", "100 %", "20 min")
			expect(t, b.Get("/dashboard?from=2025-03-01&to=2025-03-31"), 200, "none yet", "Recent payments", short)
			expect(t, b.Get("/dashboard?period=soon&currency=EUR"), 200, "There is no period “soon”.", "There is no currency “EUR”.")
			expect(t, b.Get("/dashboard?currency=KES"), 200, "No payments received in this currency.")
		}
		expect(t, b.Get("/dashboard/payments?need=decision"), 200, short, "Declined, unresolved")
		lacks(t, b.Get("/dashboard/payments?need=decision"), old)
		leads(t, b.PostFrom("/dashboard/payments/"+short, "/dashboard/payments/"+short+"/accept", nil), "/dashboard/payments/"+short)
		lacks(t, b.Get("/dashboard"), "Needs your attention")

		hook, _, err := s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Ledger", URL: "https://shop.example/hook", Active: true})
		s.FailOn(err)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Endpoint{}).Where("id = ?", hook.ID).Update("failing_since", s.Clock.Now()).Error)
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.Transfer{Network: "sandbox-xrpl", TxID: "aa", Asset: "XRP", Address: "r", BusinessID: sc.BusinessID, Domain: "test", Unmatched: "missing_tag", FirstSeenAt: s.Clock.Now()}).Error)
		expect(t, b.Get("/dashboard"), 200, "Needs your attention", "Webhook “Ledger” is failing", "/dashboard/webhooks/"+hook.ID, "1 unmatched transfer")
		s.FailOn(s.Webhooks.Delete(t.Context(), sc, hook.ID))
		_, _, err = s.Keys.CreateKey(t.Context(), sc, "Server")
		s.FailOn(err)
		expect(t, b.Get("/dashboard"), 200, "Get started", fmt.Sprintf("%d of %d done", 3, 4))
		hide := func(choice string) {
			t.Helper()
			leads(t, b.PostFrom("/dashboard", "/dashboard/steps", url.Values{"hide": {choice}}), "/dashboard")
		}
		hide("yes")
		hidden := b.Get("/dashboard")
		expect(t, hidden, 200, "Show “Get started”")
		lacks(t, hidden, "of 4 done")
		expect(t, s.SignIn(ama).Get("/dashboard"), 200, "of 4 done") // in another browser they stay
		hide("no")
		expect(t, b.Get("/dashboard"), 200, "of 4 done", "Hide these steps")
		_, _, err = s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Ledger", URL: "https://shop.example/hook", Active: true})
		s.FailOn(err)
		lacks(t, b.Get("/dashboard"), "Get started")

		// What is booked on a day on which no payment was initiated is on that day.
		sell(s, sc, money.CryptoBitcoin, 100, 12*time.Hour)
		s.Clock.Advance(24 * time.Hour)
		next := s.SignIn(ama).Get("/dashboard?from=2026-03-07&to=2026-03-07")
		expect(t, next, 200, "₦5,000.00", "By coin", "Bitcoin")
		lacks(t, next, "By status")
	})
}

// TestOverviewShowsMoneyHeld checks the table of money that was not received by Successful payments.
func TestOverviewShowsMoneyHeld(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		sell(s, sc, money.CryptoBitcoin, 100, time.Minute)
		b := s.SignIn(ama)
		lacks(t, b.Get("/dashboard"), "Declined, change")
		endPayment(s, sc, money.CryptoBitcoin, payment.Declined, 40, time.Minute)
		endPayment(s, sc, money.CryptoRipple, payment.Declined, 20, time.Minute)
		sell(s, sc, money.CryptoRipple, 100, time.Minute)
		const want = "Bitcoin ₦5,000.00 ₦1,999.64 ₦0.00 ₦0.00 ₦0.00 XRP ₦5,000.00 ₦1,000.00 ₦0.00 ₦0.00 ₦0.00 Total ₦10,000.00 ₦2,999.64 ₦0.00 ₦0.00 ₦0.00"
		page := b.Get("/dashboard")
		if got := visibleIn(page, `aria-label="Amounts by coin">`, "</table>"); !strings.HasSuffix(got, want) {
			t.Errorf("the table of money is %q, want it to end in %q", got, want)
		}
		expect(t, page, 200, "/dashboard/statements?from=2026-01-31&amp;to=2026-03-01", "Statement of these days")
		lacks(t, b.Get("/dashboard?currency=KES"), "Declined, change")
		endPayment(s, sc, money.CryptoEthereum, payment.Declined, 20, time.Minute)
		page = b.Get("/dashboard")
		if got := visibleIn(page, `id="coins"`, "</section>"); strings.Contains(got, "Ether") || !strings.Contains(got, "XRP") {
			t.Errorf("the coins that received something are %q, want no ether, which is held", got)
		}
	})
}

// readNetworks makes every simulated network one that was read, whose money is booked.
func readNetworks(s *servertest.Server) {
	for _, c := range money.Chains() {
		s.FailOn(s.DB.Exec(s.T.Context()).Create(&models.ChainCursor{Network: string(chain.Sandbox(c))}).Error)
	}
}

// visibleIn returns what people read in a page between two pieces of its source.
func visibleIn(a servertest.Answer, from, to string) string {
	if i := strings.Index(a.Body, from); i >= 0 {
		a.Body, _, _ = strings.Cut(a.Body[i:], to)
		return strings.TrimSpace(a.VisibleText())
	}
	return ""
}

// TestListShowsTotals checks the number and the sums above a list, with and without a filter.
func TestListShowsTotals(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		readNetworks(s)
		sell(s, sc, money.CryptoBitcoin, 90, time.Minute)
		endPayment(s, sc, money.CryptoBitcoin, payment.Declined, 40, time.Minute)
		b := s.SignIn(ama)
		lacks(t, b.Get("/dashboard/payments?status=expired"), `id="totals"`)
		expect(t, b.Get("/dashboard/payments"), 200, "Show number and sums")
		for query, want := range map[string]string{
			"totals=show":           "Transactions 2 Successful 1 Amount due ₦10,000.00 Received ₦4,499.64 Declined, held ₦1,999.64",
			"method=crypto_bitcoin": "Transactions 2 Successful 1 Amount due ₦10,000.00 Received ₦4,499.64 Declined, held ₦1,999.64",
			"status=declined":       "Transactions 1 Amount due ₦5,000.00 Received ₦0.00 Declined, held ₦1,999.64",
		} {
			if got := visibleIn(b.Get("/dashboard/payments?"+query), `<dl id="totals"`, "</dl>"); !strings.HasSuffix(got, want) {
				t.Errorf("the totals of %s are %q, want %q", query, got, want)
			}
		}
	})
}

// sell makes a Successful payment of which a share in percent was received, and books it.
func sell(s *servertest.Server, sc scope.Scope, method money.Method, percent int64, took time.Duration) string {
	s.T.Helper()
	return endPayment(s, sc, method, payment.Successful, percent, took)
}

// endPayment makes a payment in a state that ended it, of which a share in percent was received,
// and books it.
func endPayment(s *servertest.Server, sc scope.Scope, method money.Method, state payment.State, percent int64, took time.Duration) string {
	s.T.Helper()
	started := s.InitiatePayment(sc, servertest.NewRequest(method))
	opened, err := s.Payments.Open(s.T.Context(), started.AccessToken, "", "")
	s.FailOn(err)
	p, height := opened.Payment, int64(1)
	paid := p.Due.MulDiv(percent, 100)
	s.FailOn(s.DB.Exec(s.T.Context()).Create(&models.Transfer{Network: p.Network, TxID: "tx-" + p.Reference, Asset: p.Coin, Address: p.Address, Amount: paid, Height: &height,
		BusinessID: p.BusinessID, Domain: p.Domain, PaymentID: &p.ID, FirstSeenAt: s.Clock.Now(), SeenAt: p.OpenedAt}).Error)
	s.UpdatePayment(p.Reference, map[string]any{"status": string(state), "paid": paid, "settled_at": s.Clock.Now().Add(took)})
	s.FailOn(books.PrepareBooks(s.T.Context(), s.DB, s.Clock.Now, func(int) {}))
	return p.Reference
}
