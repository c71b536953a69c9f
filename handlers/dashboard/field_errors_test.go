package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/account/apikey"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// TestFieldErrorsAreInTheReadersLanguage: a member who reads French reads the faults of a form in French, and the API
// refuses the same values in English.
func TestFieldErrorsAreInTheReadersLanguage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		link := url.Values{"title": {""}, "description": {strings.Repeat("x", 2000)}, "currency": {"NGN"},
			"amount_kind": {"fixed"}, "amount": {"0"}, "redirect_url": {"ftp://shop.example"}}
		english := []string{"Is required.", "May have at most 1000 characters.",
			"Must be a full address beginning with https:// or http://."}
		french := []string{"Ce champ est obligatoire.", "1000 caractères au plus.",
			"Indiquez une adresse complète qui commence par https:// ou http://."}
		const form = "/dashboard/links/new"
		expect(t, b.PostFrom(form, "/dashboard/links", link), 422, english...)
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}}), "/dashboard/account")
		refused := b.PostFrom(form, "/dashboard/links", link)
		expect(t, refused, 422, french...)
		for _, sentence := range english {
			if strings.Contains(refused.Body, sentence) {
				t.Errorf("the French form says %q, want it in French alone", sentence)
			}
		}
		expect(t, b.PostFrom("/dashboard/webhooks/new", "/dashboard/webhooks", url.Values{"type": {"a"}, "url": {"http://10.0.0.1#x"},
			"header_name": {"Host"}, "header_value": {"x"}}), 422, "L&#39;adresse ne peut pas contenir de fragment (#).")
		const file = "/dashboard/sends/file"
		expect(t, uploadTo(t, b, file, file, "file", []byte("coin,address\nUSDT,nowhere\nLTC,x\n")), 422,
			"Indiquez BTC, ETH, USDT, XRP ou DOGE.")
		expect(t, uploadTo(t, b, file, file, "file", []byte("coin,iban\n")), 422,
			"Il n&#39;y a pas de colonne &#34;iban&#34;. Les colonnes sont coin, network,", "La colonne manque.")
		expect(t, b.Get("/dashboard/statements?from=2026-02-30&to=x"), 200, "Indiquez un jour, par exemple 2026-03-31.")

		_, key, err := s.Keys.CreateRestrictedKey(t.Context(), sc, "All", apikey.ListPermissions())
		s.FailOn(err)
		api := identity{browser: s.NewBrowser(), key: key}
		api.browser.Header["Accept-Language"] = "fr"
		answer := api.ask("POST", "/v1/payment-links", "application/json", `{"title":"","description":"`+
			strings.Repeat("x", 2000)+`","currency":"NGN","amount":0,"redirect_url":"ftp://shop.example"}`)
		expect(t, answer, 422, `"title":["Is required."]`, `"description":["May have at most 1000 characters."]`,
			`"redirect_url":["Must be a full address beginning with https:// or http://."]`)
	})
}

// TestRefusalsAreInTheReadersLanguage: a member who reads French reads why an action is refused in French, with its
// values, and why a payment method can't be paid with. The API refuses the same action in English.
func TestRefusalsAreInTheReadersLanguage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		reference := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		at := "/dashboard/payments/" + reference
		b := s.SignIn(ama)
		const wallet = "Set up your own wallet first, by its public key or an address"
		expect(t, b.Get("/dashboard/methods"), 200, wallet)
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}}), "/dashboard/account")
		expect(t, b.Get("/dashboard/payments/PAY_NONE"), 404, "Introuvable ici\u00a0: paiement.")
		expect(t, b.PostFrom(at, at+"/accept", nil), 409,
			"Seul un paiement refusé peut être accepté\u00a0; le statut de celui-ci est «\u00a0en attente\u00a0».")
		methods := b.Get("/dashboard/methods")
		expect(t, methods, 200, "Configurez d&#39;abord votre propre portefeuille, par sa clé publique ou une adresse")
		if strings.Contains(methods.Body, wallet) {
			t.Errorf("the French list of payment methods says %q, want it in French alone", wallet)
		}
		expect(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_ethereum", url.Values{"enabled": {"true"}}), 403,
			"Ether ne peut pas être activé ici. Configurez d&#39;abord votre propre portefeuille")

		_, key, err := s.Keys.CreateRestrictedKey(t.Context(), sc, "All", apikey.ListPermissions())
		s.FailOn(err)
		api := identity{browser: s.NewBrowser(), key: key}
		api.browser.Header["Accept-Language"] = "fr"
		expect(t, api.ask("POST", "/v1/payments/"+reference+"/accept", "application/json", ""), 409,
			"Only a declined payment can be accepted; this one is pending.")
	})
}
