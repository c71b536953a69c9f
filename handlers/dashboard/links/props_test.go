package links

import (
	"strings"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/handlers/page"
	"cointill/models"
)

func TestLinkRow(t *testing.T) {
	amount, limit, past := int64(5000), int64(10), noon.Add(-time.Minute)
	for want, l := range map[string]models.Link{
		"open ₦5,000.00 3 of 10":              {Active: true, Currency: "NGN", Amount: &amount, UsageLimit: &limit, Used: 3},
		"used_up ₦5,000.00 10 of 10":          {Active: true, Currency: "NGN", Amount: &amount, UsageLimit: &limit, Used: 10},
		"expired ₦5,000.00 0":                 {Active: true, Currency: "NGN", Amount: &amount, ExpiresAt: &past},
		"inactive Open, $1.00 to $1,000.00 0": {Currency: "USD", MinAmount: 1, MaxAmount: 1000},
		"open Open, KSh 2.00 to KSh 9.00 100": {Active: true, Currency: "KES", MinAmount: 2, MaxAmount: 9, Used: 100},
	} {
		row := linkRow(t.Context(), l, nil, link.StateOf(l, noon), time.UTC)
		if got := row.State + " " + row.Amount + " " + row.Used; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLinkDraftAndBack(t *testing.T) {
	lagos := page.LoadZone(models.Business{TimeZone: "Africa/Lagos"})
	values := map[string]string{"title": "Yoga", "currency": "GHC", "amount_kind": "open", "min_amount": "10", "max_amount": "50",
		"amount": "not read", "usage_limit": "3", "expires_at": "2026-04-01T10:00", "description": "", "redirect_url": ""}
	d, errors := linkDraft(t.Context(), values, []string{"crypto_bitcoin"}, nil, lagos)
	if len(errors) != 0 || d.Amount != nil || d.MinAmount != 10 || *d.UsageLimit != 3 || d.ExpiresAt.UTC().Hour() != 9 {
		t.Fatalf("%+v %v", d, errors)
	}
	back := linkValues(models.Link{Title: "Yoga", Currency: "GHC", MinAmount: 10, MaxAmount: 50, UsageLimit: d.UsageLimit, ExpiresAt: d.ExpiresAt}, lagos)
	delete(values, "amount")
	for name, value := range values {
		if back[name] != value {
			t.Errorf("%s: %q, want %q", name, back[name], value)
		}
	}
	d, errors = linkDraft(t.Context(), map[string]string{"amount_kind": "fixed", "amount": ""}, nil, nil, lagos)
	if d.Amount == nil || *d.Amount != 0 || len(errors) != 0 {
		t.Errorf("an empty fixed amount: %+v %v", d, errors)
	}
	if _, errors = linkDraft(t.Context(), map[string]string{"amount": "9999999999999999999999", "usage_limit": "0", "expires_at": "soon"}, nil, nil, lagos); len(errors) != 3 {
		t.Errorf("%v", errors)
	}
	if len(ticked(nil)) != 5 || len(ticked([]string{"crypto_bitcoin"})) != 1 {
		t.Error("the ticks are wrong")
	}
}

// TestCoinsNameTheirNetworks: a coin of a link has the names of all networks that it can be paid on now, unless it has
// one network at all. A link for all coins names those that can be paid.
func TestCoinsNameTheirNetworks(t *testing.T) {
	tether := money.USDT.Info()
	tether.Network = "Ethereum (ERC-20), Tron (TRC-20)"
	payable := []money.CoinInfo{money.BTC.Info(), tether}
	for methods, want := range map[string]string{
		"": "BTC | USDT · Ethereum (ERC-20), Tron (TRC-20)",
		"crypto_tether,crypto_ethereum,crypto_ripple": "ETH | USDT · Ethereum (ERC-20), Tron (TRC-20) | XRP",
		"crypto_bitcoin": "BTC",
	} {
		if got := strings.Join(listCoins(models.Link{Methods: methods}, payable), " | "); got != want {
			t.Errorf("the coins of a link for %q are %q, want %q", methods, got, want)
		}
	}
}
