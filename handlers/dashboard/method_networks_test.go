package dashboard_test

import (
	"net/url"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// TestMethodNetworks: each network of a coin has a switch, one of them is shown first, and the last one that is
// on stays on.
func TestMethodNetworks(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		s.Registry.Domains[scope.Test][money.BSC] = "sandbox-bsc"
		s.Registry.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum"}
		const methods, bsc = "/dashboard/methods", "/dashboard/methods/crypto_tether/networks/bsc"
		b := s.SignIn(ama)
		expect(t, b.Get(methods), 200, "BNB Smart Chain (BEP-20)",
			"your wallet needs BNB for fees", "Shown first to customers")
		expect(t, b.PostFrom(methods, bsc+"/preselect", nil), 409, "Switch the network on first.")
		leads(t, b.PostFrom(methods, bsc, url.Values{"enabled": {"true"}}), methods)
		leads(t, b.PostFrom(methods, bsc+"/preselect", nil), methods)
		expect(t, b.Get(methods), 200, `action="/dashboard/methods/crypto_tether/networks/ethereum/preselect"`)
		leads(t, b.PostFrom(methods,
			"/dashboard/methods/crypto_tether/networks/ethereum", url.Values{"enabled": {"false"}}), methods)
		expect(t, b.PostFrom(methods, bsc, url.Values{"enabled": {"false"}}), 409, "only network that is on")
		expect(t, b.PostFrom(methods, "/dashboard/methods/crypto_tether/networks/moon", url.Values{"enabled": {"true"}}), 404)
		expect(t, b.PostFrom(methods,
			"/dashboard/methods/crypto_ethereum/networks/bsc", url.Values{"enabled": {"true"}}), 404)
	})
}
