package rates

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/views/layout"
	"cointill/views/ui"
)

func TestPolicyDraft(t *testing.T) {
	p, unreadable := policyDraft(t.Context(), map[string]string{"market": "street", "spread": "-0.25", "manual": "1525.50", "manual_until": "2026-03-05T13:00"}, lagos)
	if len(unreadable) != 0 || p.Market != quote.Street || p.Spread != -25 || p.Manual.String() != "1525.5" || !p.ManualUntil.Equal(time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v %v", p, unreadable)
	}
	if p, unreadable = policyDraft(t.Context(), map[string]string{"spread": "0"}, lagos); len(unreadable) != 0 || !p.Manual.IsZero() || !p.ManualUntil.IsZero() || p.Market != "" {
		t.Errorf("%+v %v", p, unreadable)
	}
	// What can't be read is nothing that core takes.
	p, unreadable = policyDraft(t.Context(), map[string]string{"spread": "1e1", "manual": "1e3", "manual_until": "tomorrow"}, lagos)
	if len(unreadable) != 3 || p.Spread <= quote.MaxSpread || p.Manual.IsPositive() || p.Manual.IsZero() || p.ManualUntil.IsZero() || p.ManualUntil.After(noon) {
		t.Errorf("%+v %v", p, unreadable)
	}
	for _, text := range []string{"0", "0.00", "-5", "1,525", "٣", "Inf", strings.Repeat("9", 13)} {
		if p, _ = policyDraft(t.Context(), map[string]string{"spread": "0", "manual": text}, lagos); !p.Manual.IsNegative() {
			t.Errorf("%q is read as %s", text, p.Manual)
		}
	}
}

func TestPolicyValues(t *testing.T) {
	p := quote.Policy{Market: quote.Street, Spread: -25, Manual: dec("1525.5"), ManualUntil: noon.Add(time.Hour)}
	values := policyValues(p, noon, lagos)
	back, unreadable := policyDraft(t.Context(), values, lagos)
	if len(unreadable) != 0 || back.Market != p.Market || back.Spread != p.Spread || !back.Manual.Equal(p.Manual) || !back.ManualUntil.Equal(p.ManualUntil) {
		t.Errorf("%v comes back as %+v %v", values, back, unreadable)
	}
	if values = policyValues(p, noon.Add(time.Hour), lagos); values["manual"] != "" || values["manual_until"] != "" || values["market"] != "street" {
		t.Errorf("a rate that is over: %v", values)
	}
}

// facts of NGN at 1,500 with BTC at 60,000 dollars.
func policyOf(p quote.Policy, own string) policyFacts {
	return policyFacts{Scope: liveOwner, Currency: money.NGN, Policy: p, Now: noon, Own: priced{Coin: money.BTC.Info(), Currency: money.NGN, Quote: quote.Quote{Price: dec(own)}},
		Official: priced{Coin: money.BTC.Info(), Currency: money.NGN, Quote: quote.Quote{Price: dec("90000000")}}, Fiat: pairFacts{Leg: quote.Leg{Value: dec("1500")}}}
}

func TestPolicyProps(t *testing.T) {
	p := policyProps(t.Context(), layout.Page{}, ui.Form{}, policyOf(quote.Policy{Spread: 200}, "88200000"), lagos)
	if p.Sample != "₦100,000.00" || len(p.Samples) != 2 || p.Samples[0].Amount != "0.00113379" || p.Samples[0].Price != "₦88,200,000.00" || p.Samples[1].Amount != "0.00111112" {
		t.Errorf("%+v", p.Samples)
	}
	if p.Difference != "A customer pays 2.04 % more BTC than at the official rate." || !p.Editable || p.Zone != "WAT" || len(p.Markets) != 0 || !strings.Contains(p.MarketText, "No source of a street rate") {
		t.Errorf("%+v", p)
	}
	f := policyOf(quote.Policy{Market: quote.Street}, "99000000")
	f.Street, f.Scope.Role = true, scope.Finance
	if p = policyProps(t.Context(), layout.Page{}, ui.Form{}, f, lagos); len(p.Markets) != 2 || p.Editable || p.Warning != "" || p.Difference != "A customer pays 9.09 % less BTC than at the official rate." {
		t.Errorf("%+v", p)
	}
	f.Street, f.Own = false, priced{Why: "No rate for USDT/NGN."}
	p = policyProps(t.Context(), layout.Page{}, ui.Form{}, f, lagos)
	if len(p.Markets) != 2 || !strings.Contains(p.Warning, "any more") || len(p.Samples) != 1 || !strings.Contains(p.Difference, "No rate for USDT/NGN.") {
		t.Errorf("%+v", p)
	}
	f.Official.Why = "None."
	if p = policyProps(t.Context(), layout.Page{}, ui.Form{}, f, lagos); len(p.Samples) != 0 || p.Problem != "No rate for USDT/NGN." {
		t.Errorf("%+v", p)
	}
	same := policyProps(t.Context(), layout.Page{}, ui.Form{}, policyOf(quote.Policy{}, "90000000"), lagos)
	if same.Difference != "A customer pays the same as at the official rate." || same.Own != "" {
		t.Errorf("%+v", same)
	}
	for currency, want := range map[money.Currency]string{money.GHC: "GH₵100.00", money.KES: "KSh 100.00", money.USD: "$100.00"} {
		f.Currency = currency
		if p = policyProps(t.Context(), layout.Page{}, ui.Form{}, f, lagos); p.Sample != want || p.Dollar != (currency == money.USD) {
			t.Errorf("%s: %+v", currency, p)
		}
	}
}

func TestOwnWords(t *testing.T) {
	own := quote.Policy{Manual: dec("1700"), ManualUntil: noon.Add(time.Hour)}
	p := policyProps(t.Context(), layout.Page{}, ui.Form{}, policyOf(own, "102000000"), lagos)
	if p.Own != "After that, the official rate is used." || !strings.Contains(p.Warning, "13.3 % above") {
		t.Errorf("%+v", p)
	}
	own.Market = quote.Street
	if p = policyProps(t.Context(), layout.Page{}, ui.Form{}, policyOf(own, "102000000"), lagos); p.Own != "After that, the street rate is used." {
		t.Errorf("%+v", p)
	}
	own.ManualUntil = noon.Add(-time.Hour)
	if p = policyProps(t.Context(), layout.Page{}, ui.Form{}, policyOf(own, "102000000"), lagos); p.Own != "Your own rate of ₦1,700 ended on 1 Mar 2026, 12:00." {
		t.Errorf("%+v", p)
	}
	if !sampleAmount(money.NGN).Equal(decimal.NewFromInt(100_000)) {
		t.Error("the sample in naira")
	}
}
