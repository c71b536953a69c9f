package dashboard_test

import (
	"testing"

	"cointill/core/money"
	"cointill/internal/testing/servertest"
)

// TestCustomerKeepsName: a later payment with the same e-mail address and another name, which
// everybody can start by a link, doesn't rename the customer; it keeps the name given with it.
func TestCustomerKeepsName(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		first := servertest.NewRequest(money.CryptoBitcoin)
		first.FirstName, first.LastName, first.Email = "Ngozi", "Okafor", "ngozi@example.com"
		s.InitiatePayment(sc, first)
		second := servertest.NewRequest(money.CryptoBitcoin)
		second.BusinessReference, second.FirstName, second.LastName, second.Email = "", "Mallory", "Other", "NGOZI@example.com"
		later := s.InitiatePayment(sc, second)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/customers"), 200, "Ngozi Okafor", "ngozi@example.com")
		lacks(t, b.Get("/dashboard/customers"), "Mallory Other")
		expect(t, b.Get("/dashboard/payments/"+later.Reference), 200, "Mallory Other")
	})
}
