package dashboard_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/journal"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/core/send/rules"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// network lets the simulated Bitcoin network go on.
type network struct {
	*servertest.Server
	chain    *simulated.Chain
	follower *chain.Follower
}

func followBitcoin(s *servertest.Server) *network {
	s.T.Helper()
	c, err := simulated.Open(s.T.Context(), s.DB, money.Bitcoin, s.Clock.Now)
	s.FailOn(err)
	observer := observe.New(s.Payments, s.Sends, new(chain.WatchSet))
	n := &network{s, c, chain.NewFollower(chain.FollowerConfig{Network: c.Network(), Source: c, Store: observer,
		Watch: observer.Watching, Clock: s.Clock.Now,
		Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, c.Network()) }})}
	n.pass(time.Second)
	return n
}

// pass lets time pass in half seconds: blocks come, the follower looks, deadlines take effect.
func (n *network) pass(d time.Duration) {
	n.T.Helper()
	for ; d > 0; d -= 500 * time.Millisecond {
		n.Clock.Advance(500 * time.Millisecond)
		_, _, err := n.chain.MineIfDue(n.T.Context())
		n.FailOn(err)
		_, err = n.follower.Step(n.T.Context())
		n.FailOn(err)
		_, err = n.Payments.Sweep(n.T.Context())
		n.FailOn(err)
		_, err = n.Sends.Evaluator.Sweep(n.T.Context())
		n.FailOn(err)
	}
}

// payPayment has the sandbox pay a payment until it is successful, and returns its page.
func (n *network) payPayment(b *servertest.Browser, sc scope.Scope) (page string) {
	n.T.Helper()
	page = "/dashboard/payments/" + n.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
	leads(n.T, b.PostFrom(page, page+"/simulate", url.Values{"scenario": {"exact"}}), page)
	n.pass(90 * time.Second)
	return page
}

// TestRefundFromFormToSuccessful asks for a refund of a payment by its form, approves it, has the
// sandbox wallet sign it, and follows it to its end on the pages.
func TestRefundFromFormToSuccessful(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		expect(t, b.Get("/dashboard/sends"), 200, "No sends yet", "Transactions")
		page := n.payPayment(b, sc)
		reference := strings.TrimPrefix(page, "/dashboard/payments/")
		form := "/dashboard/sends/new?payment=" + reference
		expect(t, b.Get(page), 200, "Successful", form)
		shown := b.Get(form)
		expect(t, shown, 200, "Left to refund", "ngozi@example.com is asked by e-mail", "Leave both amounts empty")

		wrong := url.Values{"payment": {reference}, "amount": {"7"}, "fiat_amount": {"5"}, "rate": {"payment"},
			"address": {"nowhere"}, "note": {"As agreed"}}
		expect(t, b.PostFrom(form, "/dashboard/sends", wrong), 422, "not both", `value="nowhere"`, "As agreed")
		wrong.Del("fiat_amount")
		expect(t, b.PostFrom(form, "/dashboard/sends", wrong), 422, "Is not an address of Bitcoin", `value="7"`)
		wrong.Set("address", anAddress)
		expect(t, b.PostFrom(form, "/dashboard/sends", wrong), 422, "Is more than is left to refund")

		sent := shownForm(shown, url.Values{"payment": {reference}, "address": {anAddress}, "note": {"As agreed"}})
		made := b.Post("/dashboard/sends", sent)
		at := made.Location
		if made.Status != 303 || !strings.HasPrefix(at, "/dashboard/sends/SND_") {
			t.Fatalf("asking answers %d to %q, want 303 to the send: %.300s", made.Status, at, made.VisibleText())
		}
		leads(t, b.Post("/dashboard/sends", sent), at) // the same form again
		if n := rows(s, &models.Send{}, "1 = 1"); n != 1 {
			t.Errorf("the form sent twice made %d sends, want 1", n)
		}
		asked := b.Get(at)
		expect(t, asked, 200, "To approve", anAddress, "As agreed", "It waits for 1 more approval", "Play the approver")
		expect(t, b.Get("/dashboard/sends?show=approve"), 200, "To approve (1)", "1 send", reference, "Ama Mensah")
		expect(t, b.Get("/dashboard"), 200, "1 send waits for approval")
		expect(t, b.Get(form), 200, "All of this money was refunded, or other sends of it are open")

		approval := url.Values{"version": {hiddenValue(asked, "version")}, "password": {"not the passphrase"}}
		expect(t, b.PostFrom(at, at+"/approve", approval), 422, "Approve this send")
		s.Clock.Advance(time.Minute)
		approval.Set("password", servertest.Password)
		approval.Set("version", "1-0000000000000000")
		expect(t, b.PostFrom(at, at+"/approve", approval), 409, "This send changed since you opened it")
		expect(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"exact"}}), 409, "only one that is ready can be signed")
		approval.Set("version", hiddenValue(asked, "version"))
		leads(t, b.PostFrom(at, at+"/approve", approval), at)
		ready := b.Get(at)
		expect(t, ready, 200, "To sign", "You approved the send.", "1 of 1 needed", "Sandbox wallet", "Exactly as approved")
		expect(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"made_up"}}), 422, "Must be one of exact")
		leads(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"exact"}}), at)
		n.pass(90 * time.Second)
		done := b.Get(at)
		expect(t, done, 200, "Successful", "The recipient has the money", "confirmations", "Transaction seen")
		lacks(t, done, "Sandbox wallet", "Withdraw…")
		expect(t, b.Get(page), 200, at, "Signed by your own wallet")
		expect(t, b.Get("/dashboard/sends?show=done"), 200, at)
		expect(t, b.Get("/dashboard/audit"), 200, "Send asked for", "Send approved")
		var row models.Send
		s.FailOn(s.DB.Read(t.Context()).Take(&row).Error)
		expect(t, b.Get("/dashboard/journal.csv"), 200, ","+reference+","+row.Reference+","+row.Hash+",")
		bank := b.Get("/dashboard/statements/bank.csv?program=xero&currency=NGN")
		expect(t, bank, 200, "Refund ", row.Reference+", "+row.Hash)
		lacks(t, bank, "Left the chain")
	})
}

// TestSurplusIsRefunded refunds what a customer paid too much, by the amount that the form offers. The payment is accepted
// before, as the form advises: once a refund is asked for it can't be. The books hold the refund as an expense.
func TestSurplusIsRefunded(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		overpay := func() (page, form string, v payment.View) {
			reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
			page = "/dashboard/payments/" + reference
			leads(t, b.PostFrom(page, page+"/simulate", url.Values{"scenario": {"overpay"}}), page)
			n.pass(90 * time.Second)
			expect(t, b.Get(page), 200, "Declined", "Accept payment…", "keep or refund the surplus")
			v, err := s.Payments.Verify(t.Context(), sc, reference)
			s.FailOn(err)
			return page, "/dashboard/sends/new?payment=" + reference, v
		}
		format := func(v payment.View, amount money.Amount) string { return v.Coin().Format(amount) }
		ask := func(v payment.View, form, amount string) (at string) {
			return b.PostFrom(form, "/dashboard/sends", url.Values{"payment": {v.Payment.Reference},
				"address": {anAddress}, "amount": {amount}}).Location
		}

		page, form, v := overpay()
		surplus, rest := format(v, v.Payment.Paid.Sub(v.Payment.Due)), format(v, v.Payment.Due)
		offered := []string{`value="` + surplus + `"`, surplus + " BTC is what the customer paid too much"}
		shown := b.Get(form)
		expect(t, shown, 200, append(offered, "Accept the payment first")...)
		leads(t, b.Post(page+"/accept", shownForm(b.Get(page), nil)), page)
		shown = b.Get(form)
		expect(t, shown, 200, offered...)
		lacks(t, shown, "Accept the payment first")
		at := ask(v, form, surplus)
		s.Clock.Advance(time.Minute)
		leads(t, b.PostFrom(at, at+"/approve", url.Values{"version": {hiddenValue(b.Get(at), "version")},
			"password": {servertest.Password}}), at)
		expect(t, b.Get(form), 200, "refund all that is left: "+rest)
		leads(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"exact"}}), at)
		n.pass(90 * time.Second)
		expect(t, b.Get(at), 200, "Successful")
		expect(t, b.Get("/dashboard/sends"), 200, "Completed in 30 days", "1 send")
		journaltest.Check(t, s.DB)
		books, err := (&journal.Service{DB: s.DB, Clock: s.Clock.Now}).ReadStatement(t.Context(), sc, journal.AllDays())
		s.FailOn(err)
		line := books.Coins[0]
		if line.Declined.Sign() != 0 || format(v, line.Refunded) != surplus || line.Sales.Cmp(v.Payment.Paid) != 0 ||
			line.Closing.Cmp(v.Payment.Due) != 0 {
			t.Errorf("the books hold %+v, want nothing declined, the surplus %s refunded, and %s closing", line, surplus, rest)
		}

		page, form, v = overpay()
		at = ask(v, form, format(v, v.Payment.Paid.Sub(v.Payment.Due)))
		open := b.Get(page)
		lacks(t, open, "Accept payment…")
		expect(t, open, 200, "A refund is open or complete")
		expect(t, b.Post(page+"/accept", shownForm(open, nil)), 409, "accepted any more")
		expect(t, b.Get(page+"/refund"), 200, `value="`+format(v, v.Payment.Due)+`"`)
		again := b.Get(form)
		expect(t, again, 200, "Left to refund")
		lacks(t, again, "Accept the payment first")
		leads(t, b.PostFrom(at, at+"/cancel", nil), at)
		expect(t, b.Get(page), 200, "Accept payment…", "keep or refund the surplus")
	})
}

// TestSendIsAskedForDecidedAndWithdrawn: a refund without an address asks its customer, a payout
// is rejected with a reason, and other roles see no forms of decisions.
func TestSendIsAskedForDecidedAndWithdrawn(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		reference := strings.TrimPrefix(n.payPayment(b, sc), "/dashboard/payments/")
		form := "/dashboard/sends/new?payment=" + reference
		at := b.PostFrom(form, "/dashboard/sends", url.Values{"payment": {reference}, "fiat_amount": {"1,000.00"},
			"rate": {"payment"}}).Location
		v, err := s.Sends.Find(t.Context(), sc, strings.TrimPrefix(at, "/dashboard/sends/"))
		s.FailOn(err)
		page := b.Get(at)
		expect(t, page, 200, "Waiting for an address", "₦999.", s.Sends.ClaimURL(v.Send), "Not known yet")
		lacks(t, page, "Approve this send", "Play the approver", "the money stays in your wallet")
		expect(t, page, 200, "Nothing is sent, and the money can be refunded again.")
		leads(t, b.PostFrom(at, at+"/cancel", nil), at)
		expect(t, b.Get(at), 200, "Withdrawn", "The send was withdrawn.")
		expect(t, b.PostFrom(at, at+"/cancel", nil), 409, "it can't be withdrawn any more")

		payout := url.Values{"payment_method": {"crypto_ripple"}, "amount": {"2"}, "address": {"rrrrrrrrrrrrrrrrrrrrBZbvji"},
			"tag": {"x"}, "business_reference": {"invoice 7"}}
		expect(t, b.PostFrom("/dashboard/sends/new", "/dashboard/sends", payout), 422, "Must be a whole number from 0",
			`value="invoice 7"`)
		payout.Set("tag", "12")
		payout.Set("business_reference", "invoice-7")
		made := b.PostFrom("/dashboard/sends/new", "/dashboard/sends", payout).Location
		expect(t, b.Get(made), 200, "2.000000 XRP", "invoice-7", "Payout",
			"Nothing is sent, and the money stays in your wallet.")
		lacks(t, b.Get(made), "can be refunded again")
		expect(t, b.PostFrom("/dashboard/sends/new", "/dashboard/sends", payout), 409, "Has been used before")
		expect(t, b.PostFrom(made, made+"/reject", url.Values{"note": {"a\u202eb"}}), 422, "May not hold invisible")
		s.SetRole(sc, scope.Finance)
		seen := b.Get(made)
		expect(t, seen, 200, "An owner or an admin approves it", "Withdraw…")
		lacks(t, seen, "Approve this send", "Reject…", "Play the approver")
		s.SetRole(sc, scope.Owner)
		leads(t, b.PostFrom(made, made+"/reject", url.Values{"note": {"Unknown supplier"}}), made)
		expect(t, b.Get(made), 200, "Rejected", "by Ama Mensah: Unknown supplier")
		expect(t, b.Get("/dashboard/sends/SND_NOBODY"), 404)
		expect(t, b.Get("/dashboard/sends/new?payment=PAY_NOBODY"), 404)
		expect(t, b.Get("/dashboard/sends?payment="+reference), 200, "Sends of payment", at)
	})
}

// TestSendRules: rules are changed with a proof, and looser ones wait a day in the live domain.
func TestSendRules(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		at := "/dashboard/sends/rules"
		expect(t, b.Get(at), 200, "Every send", "Never", "No limit")
		wanted := url.Values{"one_from": {"100.001"}, "two_from": {"many"}, "password": {servertest.Password}}
		expect(t, b.PostFrom(at, at, wanted), 422, "at most two decimals", `value="many"`)
		wanted = url.Values{"one_from": {"100"}, "two_from": {"1,000"}, "day_limit": {"5000.50"}}
		expect(t, b.PostFrom(at, at, wanted), 422, `value="1,000"`)
		s.Clock.Advance(time.Minute)
		wanted.Set("password", servertest.Password)
		leads(t, b.PostFrom(at, at, wanted), at)
		expect(t, b.Get(at), 200, "$100.00 and more", "$1,000.00 and more", "$5,000.50")
		leads(t, b.PostFrom(at, "/dashboard/domain", url.Values{"domain": {"live"}, "next": {at}}), "/dashboard/sends")
		leads(t, b.PostFrom(at, at, wanted), at)
		expect(t, b.Get(at), 200, "Every send", "These rules wait until", "$100.00 and more")
		now, planned, err := s.Sends.Rules.ReadRules(t.Context(), live(sc))
		s.FailOn(err)
		if now != (rules.Rules{}) || planned == nil || planned.OneFrom != 10_000 {
			t.Errorf("the live rules are %v and %v wait, want the usual ones and one approver from 10000", now, planned)
		}
		s.SetRole(sc, scope.Finance)
		expect(t, b.Get(at), 200, "Owners and admins change these rules.")
	})
}
