package dashboard_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// TestMethodNetworks: each network of a coin has a switch, one of them is shown first, and the last one that is
// on stays on.
func TestMethodNetworks(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		s.Networks.Domains[scope.Test][money.BSC] = "sandbox-bsc"
		s.Networks.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum"}
		const methods, bsc = "/dashboard/methods", "/dashboard/methods/crypto_tether/networks/bsc"
		b := s.SignIn(ama)
		expect(t, b.Get(methods), 200, "BNB Smart Chain (BEP-20)",
			"A transfer of USDT usually costs the customer under 0.10\u00a0USD.",
			"A transfer of USDT usually costs the customer under 2\u00a0USD.", "your wallet needs BNB for fees", "final after 12 blocks, in about 2 min", "Shown first to customers")
		if body := b.Get(methods).Body; strings.Contains(body, "crypto_ethereum/networks/") {
			t.Error("the list has a switch for the only network of ether, want none: it is on by itself")
		}
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

// TestMethodNeedsAWalletWhereItIsOn: a coin whose only network that is on has no wallet can't be paid with, though another
// network that needs none serves it. It can once that one is on.
func TestMethodNeedsAWalletWhereItIsOn(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		s.Networks.Domains[scope.Test][money.Tron] = chain.Sandbox(money.Tron)
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		find := func(want string) {
			t.Helper()
			all, err := s.Accounts.Methods(t.Context(), sc)
			s.FailOn(err)
			at := slices.IndexFunc(all, func(m account.Method) bool { return m.Coin.Method == money.CryptoTether })
			if at < 0 || all[at].Problem.String() != want {
				t.Errorf("the methods are %+v, want USDT with the problem %q", all, want)
			}
		}
		const methods = "/dashboard/methods"
		find("Set up your own wallet first, by its public key or an address: payments go directly to it.")
		leads(t, b.PostFrom(methods, methods+"/crypto_tether/networks/tron", url.Values{"enabled": {"true"}}), methods)
		find("")
	})
}
