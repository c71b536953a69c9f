package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// declined is a payment of which less came, by one transfer.
func declined(s *servertest.Server, sc scope.Scope) string {
	s.T.Helper()
	r := servertest.NewRequest(money.CryptoBitcoin)
	started := s.InitiatePayment(sc, r)
	opened, err := s.Payments.Open(s.T.Context(), started.AccessToken, "", "")
	s.FailOn(err)
	p, height := opened.Payment, int64(1)
	paid := p.Due.Sub(money.Units(1000))
	s.FailOn(s.DB.Exec(s.T.Context()).Create(&models.Transfer{Network: p.Network, TxID: strings.Repeat("cd", 32), Asset: p.Coin, Address: p.Address, Amount: paid, Height: &height,
		BusinessID: p.BusinessID, Domain: p.Domain, PaymentID: &p.ID, FirstSeenAt: s.Clock.Now(), SeenAt: p.OpenedAt}).Error)
	s.UpdatePayment(p.Reference, map[string]any{"status": "declined", "reason": "underpaid", "paid": paid, "remark": "Underpaid by 0.00001000 BTC."})
	return p.Reference
}

// form is a page's form as it was shown, with its token and what tells it from others.
func shownForm(a servertest.Answer, values url.Values) url.Values {
	form := url.Values{}
	for _, name := range []string{"csrf", "once"} {
		if value := hiddenValue(a, name); value != "" {
			form.Set(name, value)
		}
	}
	for name, list := range values {
		form[name] = list
	}
	return form
}

// hiddenValue returns the first value of a form's hidden field; "" for none.
func hiddenValue(a servertest.Answer, name string) string {
	_, rest, _ := strings.Cut(a.Body, `name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// TestRefundOnce: a refund is asked for, reviewed, and recorded once, however
// often its form is sent.
func TestRefundOnce(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, reference := s.SignIn(ama), declined(s, sc)
		at := "/dashboard/payments/" + reference
		expect(t, b.Get(at), 200, "Next step: Accept it as it is, or refund it.", "Record a refund", strings.Repeat("cd", 32), "Block 1", "Copy receiving address")
		expect(t, b.Get(at+"/refund"), 200, "Cointill holds no money", "0.0")
		wrong := b.PostFrom(at+"/refund", at+"/refund/review", url.Values{"amount": {"7"}, "hash": {"no hash"}})
		expect(t, wrong, 422, "Is more than is left to refund", "Must be a transaction hash", `value="no hash"`)
		values := url.Values{"amount": {"0.00000100"}, "note": {"=cash <b>\u200fback</b>"}}
		expect(t, b.PostFrom(at+"/refund", at+"/refund/review", values), 422, "May not hold invisible")
		values.Set("note", "=cash <b>back</b>")
		review := b.PostFrom(at+"/refund", at+"/refund/review", values)
		expect(t, review, 200, "Record this refund?", "0.00000100 BTC", "=cash &lt;b&gt;back&lt;/b&gt;")
		expect(t, b.Get(at), 200, "Accept payment…")
		sent := shownForm(review, values)
		leads(t, b.Post(at+"/refund", sent), at)
		leads(t, b.Post(at+"/refund", sent), at) // the same form again
		page := b.Get(at)
		expect(t, page, 200, "Refunds", "Refund recorded", "Next step: Nothing")
		if n := rows(s, &models.Resolution{}, "kind = 'refunded'"); n != 1 {
			t.Errorf("%d refunds", n)
		}
		if n := rows(s, &models.Audit{}, "action = 'payment.refund_recorded'"); n != 1 {
			t.Errorf("%d audits", n)
		}
		expect(t, b.Get(at+"/receipt"), 200, "Payment record", "Underpaid by 0.00001000 BTC.", "Refunded", "=cash &lt;b&gt;back&lt;/b&gt;", "TEST DATA")
		lacks(t, page, "Accept payment…")
		expect(t, b.Post(at+"/accept", shownForm(page, nil)), 409, "Money of this payment was refunded")
	})
}

// TestAcceptOnce: a declined payment is accepted once, however often its form is sent, and no
// refund is recorded for it any more.
func TestAcceptOnce(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, reference := s.SignIn(ama), declined(s, sc)
		at := "/dashboard/payments/" + reference
		accept := shownForm(b.Get(at), nil)
		leads(t, b.Post(at+"/accept", accept), at)
		leads(t, b.Post(at+"/accept", accept), at)
		expect(t, b.Get(at+"/refund"), 200, "A refund can be recorded for a declined payment only")
		expect(t, b.Get(at+"/receipt"), 200, "Receipt", "Accepted by a person")
		values := url.Values{"amount": {"0.00000100"}, "note": {"cash"}}
		expect(t, b.PostFrom(at, at+"/refund", values), 409, "A refund can be recorded for a declined payment only")
	})
}

// TestWhoResolves: finance staff see what to do, and nothing to do it with.
func TestWhoResolves(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, reference := s.SignIn(ama), declined(s, sc)
		s.SetRole(sc, scope.Finance)
		page := b.Get("/dashboard/payments/" + reference)
		expect(t, page, 200, "An owner or an admin accepts it")
		lacks(t, page, "/accept", "/refund")
		expect(t, b.Get("/dashboard/payments/"+reference+"/refund"), 403)
	})
}
