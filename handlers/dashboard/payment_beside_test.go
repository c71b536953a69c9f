package dashboard_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/internal/testing/servertest"
)

// TestPaymentLeadsToItsNeighbours: the page of a payment leads to the ones before and after it in
// the list that it was opened from, with the list's filters.
func TestPaymentLeadsToItsNeighbours(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		var made []string // the first is the oldest
		for i, method := range []money.Method{money.CryptoBitcoin, money.CryptoRipple, money.CryptoBitcoin, money.CryptoBitcoin} {
			r := servertest.NewRequest(method)
			r.BusinessReference = "order-" + strconv.Itoa(i)
			made = append(made, s.InitiatePayment(sc, r).Reference)
			s.Clock.Advance(time.Second)
		}
		b, bitcoin := s.SignIn(ama), "?method=crypto_bitcoin"
		at := func(n int) string { return "/dashboard/payments/" + made[n] }
		expect(t, b.Get("/dashboard/payments"+bitcoin), 200, `href="`+at(2)+bitcoin+`"`)
		for _, c := range []struct{ page, previous, next, back string }{
			{at(1), at(2), at(0), "/dashboard/payments"}, {at(3), "", at(2), "/dashboard/payments"},
			{at(2) + bitcoin, at(3) + bitcoin, at(0) + bitcoin, "/dashboard/payments" + bitcoin},
			{at(0) + bitcoin, at(2) + bitcoin, "", "/dashboard/payments" + bitcoin},
		} {
			a := b.Get(c.page)
			expect(t, a, 200, `href="`+c.back+`"`)
			for rel, href := range map[string]string{"prev": c.previous, "next": c.next} {
				link := `rel="` + rel + `" href="` + href + `"`
				if href == "" && strings.Contains(a.Body, `rel="`+rel+`"`) || href != "" && !strings.Contains(a.Body, link) {
					t.Errorf("%s leads %s to another than %q", c.page, rel, href)
				}
			}
		}
	})
}
