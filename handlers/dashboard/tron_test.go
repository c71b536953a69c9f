package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// TestTronHasItsOwnWallet: the methods page leads to a wallet of Tron, which takes an address with T and no other. A
// payment whose network the request names then goes to it.
func TestTronHasItsOwnWallet(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const at, address = "/dashboard/methods/tron/wallet", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
		s.ConnectNetwork(scope.Test, money.Tron, "nile")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/methods"), 200, "Tron (TRC-20) nile", at, "needs TRX for fees",
			"A transfer of USDT usually costs the customer under 5\u00a0USD.")
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_tether/networks/tron",
			url.Values{"enabled": {"true"}}), 303)
		expect(t, b.Get("/dashboard/methods"), 200, "needs a wallet of its own")
		expect(t, b.Get(at), 200, "An address begins with T", "moving its money takes TRX")
		for key, words := range map[string]string{oneAddress: "", address[:33] + "9": "a character may be missing or mistyped",
			"TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf": "is the contract of"} {
			expect(t, b.PostFrom(at, at+"/review", url.Values{"key": {key}}), 422, words)
		}
		expect(t, b.PostFrom(at, at+"/review", url.Values{"key": {address}}), 200, address, "Open at once at 20 USD")
		leads(t, b.PostFrom(at, at, url.Values{"key": {address}, "password": {servertest.Password}}), at)
		page := b.Get("/dashboard/methods")
		if strings.Contains(page.VisibleText(), "needs a wallet of its own") {
			t.Error("the list says that Tron needs a wallet, want none: it was set up")
		}
		r := servertest.NewRequest(money.CryptoTether)
		r.Network = "tron"
		v, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, r).Reference)
		s.FailOn(err)
		if v.Payment.Address != address || !v.Payment.ExactAmount || v.Payment.Network != "tron-nile" {
			t.Errorf("the payment goes to %s on %s, exact: %v; want the one address on tron-nile", v.Payment.Address,
				v.Payment.Network, v.Payment.ExactAmount)
		}
	})
}

// TestWalletOfEthereumIsNotTrons: where Tron alone serves USDT, the wallet that Ethereum's networks share says that a
// node is missing, and Tron can be switched on and its wallet set up.
func TestWalletOfEthereumIsNotTrons(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Live, money.Tron, money.MainNetwork)
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		asking(t, b, scope.Live)
		expect(t, b.Get("/dashboard/methods"), 200, `href="/dashboard/methods/tron/wallet"`,
			`action="/dashboard/methods/crypto_tether/networks/tron"`)
		expect(t, b.Get("/dashboard/methods/tron/wallet"), 200, `name="key"`)
		page := b.Get("/dashboard/methods/crypto_tether/wallet")
		expect(t, page, 200, "No node for ethereum is configured in live")
		if strings.Contains(page.Body, `name="key"`) {
			t.Error("the page of Ethereum's wallet takes a key, want none: no network of its kind is followed")
		}
	})
}
