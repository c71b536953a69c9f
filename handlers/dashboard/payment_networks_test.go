package dashboard_test

import (
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// TestPaymentsByNetwork: the list names the network of coins that have several, can be narrowed to one, and
// its file holds the same payments; so does the page of a payment link.
func TestPaymentsByNetwork(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.Networks.Domains[scope.Test][money.BSC] = "sandbox-bsc"
		s.Networks.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum"}
		b := s.SignIn(ama)
		usual := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoTether)).Reference
		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_tether/networks/bsc",
			map[string][]string{"enabled": {"true"}}), "/dashboard/methods")
		r := servertest.NewRequest(money.CryptoTether)
		r.Network = "bsc"
		other := s.InitiatePayment(sc, r).Reference
		const list = "/dashboard/payments"
		expect(t, b.Get(list), 200, usual, other, "Ethereum (ERC-20)", "BNB Smart Chain (BEP-20)")
		shown := b.Get(list + "?network=bsc")
		expect(t, shown, 200, other, "Network: BNB Smart Chain", list+"/export?network=bsc")
		if strings.Contains(shown.Body, usual) {
			t.Errorf("the list of bsc shows %s, which is on ethereum", usual)
		}
		expect(t, b.Get(list+"?network=celo"), 200, "Network: Celo")
		expect(t, b.Get(list+"?network=moon"), 200, usual, other, "There is no network “moon”.")
		if file := b.Get(list + "/export.csv?network=bsc").Body; strings.Count(file, "\n") != 2 ||
			!strings.Contains(file, ",sandbox-bsc,") {
			t.Errorf("the file of bsc holds %q, want one payment on sandbox-bsc", file)
		}
	})
}
