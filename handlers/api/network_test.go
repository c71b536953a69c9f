package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// TestNetworks: a payment method lists its networks; a payment is initiated on one that is on, and 422 names
// the field for others.
func TestNetworks(t *testing.T) {
	b := quick(t)
	b.registry.Domains[scope.Test][money.BSC] = "sandbox-bsc"
	b.registry.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum"}
	type network struct {
		Code, Name, Network string
		Enabled, Available  bool
	}
	list := func() (preselected string, networks []network) {
		t.Helper()
		var methods []struct {
			Code, Network string
			Networks      []network
		}
		b.into(b.expect(b.call("GET", "/v1/payment-methods", ""), 200, ""), &methods)
		return methods[2].Network, methods[2].Networks
	}
	ethereum := network{"ethereum", "Ethereum (ERC-20)", "sandbox-ethereum", true, true}
	bsc := network{"bsc", "BNB Smart Chain (BEP-20)", "sandbox-bsc", false, true}
	if preselected, got := list(); preselected != "ethereum" || !slices.Equal(got, []network{ethereum, bsc}) {
		t.Errorf("USDT has %s and %+v, want ethereum, and bsc off", preselected, got)
	}
	ask := func(network string) string {
		return `{"currency":"NGN","amount":25000,"first_name":"Ada","last_name":"Obi","email":"ada@example.com",` +
			`"payment_method":"crypto_tether","network":"` + network + `"}`
	}
	for _, off := range []string{"bsc", "polygon", "bitcoin", "moon"} {
		if a := b.call("POST", "/v1/payment/initiate", ask(off)); a.Status != 422 || len(a.Body.Errors["network"]) != 1 {
			t.Errorf("on %s: %d %v, want 422 that names network", off, a.Status, a.Body.Errors)
		}
	}
	var row models.Business
	b.must(b.db.Exec(t.Context()).Order("id").Take(&row).Error)
	owner := scope.Scope{BusinessID: row.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	key := owner
	key.Actor, key.Role = "key:1", scope.API
	for _, err := range []error{b.accounts.SetNetwork(t.Context(), owner, money.CryptoTether, money.BSC, true),
		b.accounts.PreselectNetwork(t.Context(), owner, money.CryptoTether, money.BSC)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	bsc.Enabled = true
	if preselected, got := list(); preselected != "bsc" || !slices.Equal(got, []network{ethereum, bsc}) {
		t.Errorf("USDT has %s and %+v, want bsc preselected and both on", preselected, got)
	}
	for asked, want := range map[string]string{"bsc": "sandbox-bsc", "ethereum": "sandbox-ethereum"} {
		var started struct{ Reference string }
		b.into(b.expect(b.call("POST", "/v1/payment/initiate", ask(asked)), 201, ""), &started)
		v, err := b.payments.Verify(t.Context(), key, started.Reference)
		if err != nil || v.Payment.Network != want {
			t.Errorf("asked for %s the payment is on %s (%v), want %s", asked, v.Payment.Network, err, want)
		}
	}
	if err := b.accounts.SetNetwork(t.Context(), owner, money.CryptoTether, money.Ethereum, false); err != nil {
		t.Fatal(err)
	}
	if err := b.accounts.SetNetwork(t.Context(), owner, money.CryptoTether, money.BSC, false); err == nil ||
		!strings.Contains(err.Error(), "last_network") {
		t.Errorf("switching the last network off gives %v, want last_network", err)
	}
	if err := b.accounts.SetNetwork(t.Context(), key, money.CryptoTether, money.BSC, false); err == nil {
		t.Error("a key switches a network, want Forbidden")
	}
}

// TestEveryNetworkCanBeNamed: a payment can be initiated on every network of every coin by its code, and the list is
// filtered by it.
func TestEveryNetworkCanBeNamed(t *testing.T) {
	b := quick(t)
	var row models.Business
	b.must(b.db.Exec(t.Context()).Order("id").Take(&row).Error)
	owner := scope.Scope{BusinessID: row.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	b.registry.Homes = map[chain.Network]chain.Network{}
	for _, code := range money.ListNetworks() {
		b.registry.Domains[scope.Test][code] = chain.Sandbox(code)
		if code.IsEVM() {
			b.registry.Homes[chain.Sandbox(code)] = "sandbox-ethereum"
		}
	}
	for _, coin := range money.Coins() {
		for _, code := range coin.Chains() {
			if len(coin.Chains()) > 1 {
				b.must(b.accounts.SetNetwork(t.Context(), owner, coin.Method, code, true))
			}
			a := b.call("POST", "/v1/payment/initiate", `{"currency":"NGN","amount":25000,"first_name":"Ada",`+
				`"last_name":"Obi","email":"ada@example.com","payment_method":"`+string(coin.Method)+`","network":"`+
				string(code)+`"}`)
			if a.Status != 201 {
				t.Errorf("%s on %s: %d %v, want 201", coin.Method, code, a.Status, a.Body.Errors)
				continue
			}
			var started struct{ Reference string }
			b.into(a, &started)
			listed := b.call("GET", "/v1/payments?network="+string(code), "")
			if !strings.Contains(string(listed.Body.Data), started.Reference) {
				t.Errorf("the list of payments on %s lacks %s: %.300s", code, started.Reference, listed.Body.Data)
			}
		}
	}
	b.expect(b.call("GET", "/v1/payment-methods", ""), 200, "")
}

// TestDocumentNamesEveryNetwork: wherever the document lists the codes of networks, it lists all of them.
func TestDocumentNamesEveryNetwork(t *testing.T) {
	var document any
	if err := json.Unmarshal(quick(t).document().JSON, &document); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, code := range money.ListNetworks() {
		want[string(code)] = true
	}
	lists := 0
	var walk func(at string, node any)
	walk = func(at string, node any) {
		switch node := node.(type) {
		case map[string]any:
			for name, value := range node {
				walk(at+"/"+name, value)
			}
		case []any:
			for i, value := range node {
				walk(fmt.Sprint(at, "/", i), value)
			}
			if !slices.Contains(node, any("polygon")) || !strings.HasSuffix(at, "/enum") {
				return
			}
			lists++
			got := map[string]bool{}
			for _, code := range node {
				got[fmt.Sprint(code)] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s lists %v, want %v", at, got, want)
			}
		}
	}
	walk("", document)
	if lists < 5 {
		t.Errorf("the document lists the codes of networks %d times, want 5 at least", lists)
	}
}
