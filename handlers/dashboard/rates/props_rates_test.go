package rates

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
	"cointill/views/ui"
)

var (
	lagos     = time.FixedZone("WAT", 3600)
	liveOwner = scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Owner}
	dec       = decimal.RequireFromString
)

func TestFigure(t *testing.T) {
	for value, want := range map[string]string{
		"90012345.678": "90,012,345.68", "1000": "1,000.00", "999.99994": "999.9999", "1": "1.0000", "0.125": "0.125000",
		"0.00012345": "0.00012345", "-1234.5": "−1,234.50", "0": "0.00000000",
	} {
		if got := figure(dec(value)); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	if got := price(money.KES, dec("16.25")) + " " + ownRate(money.NGN, dec("1525.5")); got != "KSh 16.2500 ₦1,525.5" {
		t.Errorf("got = %v", got)
	}
}

func TestSpreadWords(t *testing.T) {
	for basisPoints, want := range map[int]string{
		0: "None", 150: "1.5 %: a customer pays 1.52 % more of a coin than at the market's price",
		1000: "10 %: a customer pays 11.11 % more of a coin than at the market's price",
		-100: "−1 %: a customer pays 0.99 % less of a coin than at the market's price",
	} {
		if got := spreadWords(t.Context(), basisPoints); got != want {
			t.Errorf("%d: %q, want %q", basisPoints, got, want)
		}
	}
}

func TestRateWords(t *testing.T) {
	own := quote.Policy{Market: quote.Street, Manual: dec("1700"), ManualUntil: noon.Add(time.Hour)}
	over := own
	over.ManualUntil = noon
	for name, c := range map[string]struct {
		currency money.Currency
		policy   quote.Policy
		want     string
	}{
		"nothing set": {money.NGN, quote.Policy{}, "The official rate"}, "street": {money.NGN, quote.Policy{Market: quote.Street}, "The street rate"},
		"own": {money.NGN, own, "Your own: ₦1,700 for one US dollar, until 1 Mar 2026, 14:00"}, "over": {money.NGN, over, "The street rate"},
		"dollar": {money.USD, quote.Policy{}, "Not needed: coins are priced in US dollars"},
	} {
		if got := rateWords(t.Context(), c.currency, c.policy, noon, lagos); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOwnRateWarning(t *testing.T) {
	market := pairFacts{Leg: quote.Leg{Value: dec("1500")}}
	for rate, want := range map[string]string{
		"1500": "", "1575": "", "1425": "", "1575.01": "5 % above the market's, which is ₦1,500.00 for one US dollar", "1424": "5.1 % below", "1700": "13.3 % above",
	} {
		p := quote.Policy{Manual: dec(rate), ManualUntil: noon.Add(time.Hour)}
		if got := ownRateWarning(t.Context(), money.NGN, p, market, noon); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", rate, got, want)
		}
		if ownRateWarning(t.Context(), money.NGN, p, pairFacts{Why: "None."}, noon) != "" || ownRateWarning(t.Context(), money.NGN, p, market, noon.Add(time.Hour)) != "" {
			t.Errorf("%s: a warning without a market, or of a rate that is over", rate)
		}
	}
}

// said is what sources say of a pair; those with a reason are left out.
func said(values ...[2]string) (leg quote.Leg) {
	for i, v := range values {
		leg.Readings = append(leg.Readings, quote.Reading{Source: string(rune('a' + i)), Value: dec(v[0]), LeftOut: v[1], At: noon})
	}
	return leg
}

func TestPairRow(t *testing.T) {
	leg := said([2]string{"102", ""}, [2]string{"100", ""}, [2]string{"200", "off by 98 %"}, [2]string{"101", ""})
	leg.Value = dec("101")
	pair := quote.Pair{Base: "USD", Quote: "NGN"}
	row := pairRow(t.Context(), pairFacts{Pair: pair, Leg: leg}, true, chartRanges[2])
	if row.Median != "101.0000" || row.Counted != "3 of 4" || row.Spread != "2.00 %" || row.Href != "/dashboard/rates?pair=USD%2FNGN&range=90d#pair" || !row.Chosen {
		t.Errorf("%+v", row)
	}
	row = pairRow(t.Context(), pairFacts{Pair: pair, Leg: said([2]string{"100", ""}), Why: "One is not enough."}, false, chartRanges[0])
	if row.Median != "" || row.Counted != "1 of 1" || row.Spread != "–" || row.Problem != "One is not enough." || row.Href != "/dashboard/rates?pair=USD%2FNGN#pair" {
		t.Errorf("%+v", row)
	}
	if row = pairRow(t.Context(), pairFacts{Pair: pair}, false, chartRanges[0]); row.Counted != "0 of 0" || row.Spread != "–" {
		t.Errorf("%+v", row)
	}
}

// TestPairDetail: a source has its name for people and the site that its terms
// may ask a link to; charts are of the live domain.
func TestPairDetail(t *testing.T) {
	leg := quote.Leg{Value: dec("1500.5"), Trusted: "er-api", Readings: []quote.Reading{
		{Source: "er-api", Value: dec("1500.5"), At: noon.Add(-9 * time.Hour)}, {Source: "sandbox-a", Value: dec("9"), Via: "8 USDT", LeftOut: "stale", At: noon.Add(time.Second)}}}
	f := ratesFacts{Scope: liveOwner, Now: noon, Range: chartRanges[1], Pairs: []pairFacts{{}, {Pair: quote.Pair{Base: "USD", Quote: "NGN"}, Leg: leg}}, Chosen: 1}
	d := pairDetail(t.Context(), f, lagos)
	first, second := d.Readings[0], d.Readings[1]
	if d.Pair != "USD/NGN" || d.Median != "1,500.50" || d.Trusted != "ExchangeRate-API" || d.Chart != nil || len(d.Ranges) != 3 || !d.Ranges[1].Chosen || d.Ranges[0].Chosen {
		t.Errorf("%+v", d)
	}
	if first.Source != "ExchangeRate-API" || first.Href != "https://www.exchangerate-api.com" || first.Age != "9 h 0 min" || first.At.Format("15:04 MST") != "04:00 WAT" {
		t.Errorf("%+v", first)
	}
	if second.Source != "sandbox-a" || second.Href != "" || second.Via != "8 USDT" || second.LeftOut != "stale" || second.Age != "0 s" {
		t.Errorf("%+v", second)
	}
	f.Points = []quote.Point{{At: noon, Value: dec("1")}}
	if pairDetail(t.Context(), f, lagos).Chart == nil {
		t.Error("no chart of a point")
	}
	f.Scope = owner
	if d = pairDetail(t.Context(), f, lagos); d.Chart != nil || d.Ranges != nil {
		t.Error("a chart in the test domain")
	}
}

func TestRateChart(t *testing.T) {
	for _, r := range chartRanges {
		if r.Span/r.Step > 300 || aDay%r.Step != 0 || rangeNamed(r.Name) != r {
			t.Errorf("%s: %d steps", r.Name, r.Span/r.Step)
		}
	}
	if rangeNamed("1y") != chartRanges[0] {
		t.Error("an unknown range is no range")
	}
	at := func(minutes int, value string) quote.Point {
		return quote.Point{At: noon.Add(time.Duration(minutes-1440) * time.Minute), Value: dec(value), Sources: 3}
	}
	f := ratesFacts{Now: noon, Range: chartRanges[0], Points: []quote.Point{at(0, "61000"), at(5, "59000"), at(720, "60000"), at(1435, "60000"), at(1440, "60500")}}
	chart := rateChart(t.Context(), quote.Pair{Base: "BTC", Quote: "USD"}, f, lagos)
	if chart.Path != "M0 40L3 960M500 500h1M996 500L1000 270" {
		t.Errorf("the line is %s", chart.Path)
	}
	if chart.Title != "BTC/USD over the last 24 hours: lowest 59,000.00, highest 61,000.00" || strings.Join(chart.Marks, " ") != "13:00 21:00 05:00 13:00" {
		t.Errorf("%+v", chart)
	}
	if len(chart.Rows) != 5 || chart.Rows[0] != (ui.LineRow{Label: "1 Mar, 13:00", Text: "60,500.00", Note: "3"}) {
		t.Errorf("%+v", chart.Rows)
	}
	f.Points = []quote.Point{at(0, "1"), at(5, "1")}
	if path := rateChart(t.Context(), quote.Pair{}, f, lagos).Path; path != "M0 500L3 500" {
		t.Errorf("a price that stands still: %s", path)
	}
}

func TestCoinPrices(t *testing.T) {
	btc, doge := money.BTC.Info(), money.DOGE.Info()
	f := ratesFacts{Alarms: []string{"Told above."}, Prices: []priced{{Coin: btc, Currency: money.NGN, Quote: quote.Quote{Price: dec("90000000")}}, {Coin: btc, Currency: money.KES, Why: "No KES."},
		{Coin: doge, Currency: money.NGN, Why: "Told above."}, {Coin: doge, Currency: money.KES, Why: "No KES."}}}
	rows, missing := coinPrices(f)
	if len(rows) != 2 || strings.Join(rows[0].Prices, "|") != "₦90,000,000.00|" || strings.Join(rows[1].Prices, "|") != "|" || strings.Join(missing, "|") != "No KES." {
		t.Errorf("%+v %q", rows, missing)
	}
}

func TestRateRules(t *testing.T) {
	f := ratesFacts{Scope: liveOwner, Now: noon, Policies: map[money.Currency]quote.Policy{money.GHC: {Manual: dec("13.9"), ManualUntil: noon.Add(time.Hour), Spread: -100}},
		Pairs: []pairFacts{{Pair: quote.Pair{Base: "USD", Quote: "GHS"}, Leg: quote.Leg{Value: dec("12.5")}}}}
	rules := rateRules(t.Context(), f, lagos)
	if len(rules) != 4 || rules[1].Currency != "GHC" || !strings.Contains(rules[1].Rate, "GH₵13.9 ") || !strings.Contains(rules[1].Warning, "11.2 % above") || rules[1].Href != "/dashboard/rates/GHC" || rules[1].LinkText != "Change" || rules[0].Warning != "" {
		t.Errorf("%+v", rules)
	}
	f.Scope.Role = scope.Finance
	if got := rateRules(t.Context(), f, lagos)[0].LinkText; got != "View" {
		t.Errorf("finance is offered to %s", got)
	}
}

func TestRatesNote(t *testing.T) {
	healths := []quote.Health{{}}
	for want, f := range map[string]ratesFacts{
		"fixed table": {Scope: owner}, "No source of live prices is configured": {Scope: liveOwner, Wanted: true},
		"No rates are fetched while no live payment method is on": {Scope: liveOwner, Healths: healths}, "": {Scope: liveOwner, Healths: healths, Wanted: true},
	} {
		if got, _, _ := ratesNote(t.Context(), f); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSourceRows(t *testing.T) {
	from, _ := source.Named("kraken")
	street, _ := source.Named("quidax")
	fresh, old := noon.Add(-23*time.Hour), noon.Add(-24*time.Hour)
	f := ratesFacts{Scope: liveOwner, Now: noon, Healths: []quote.Health{
		{Source: from, State: models.RateSource{AskedAt: noon.Add(-9 * time.Second), NextAt: noon.Add(time.Minute), Failures: 4, Problem: "answers 502"},
			Prices: []models.Rate{{Base: "BTC", Quote: "USD", Refused: "exactly 1 to 1", RefusedValue: "1", RefusedAt: &fresh}, {Base: "ETH", Quote: "USD", Refused: "implausible", RefusedAt: &old}, {}}},
		{Source: street}}}
	rows := sourceRows(t.Context(), f, lagos)
	kraken, quidax := rows[0], rows[1]
	if kraken.Title != "Kraken" || kraken.Problem != "Kraken answers 502." || kraken.State != "Failed 4 times in a row" || kraken.Tone != ui.Bad || kraken.Href != "https://docs.kraken.com" || kraken.Terms == "" {
		t.Errorf("%+v", kraken)
	}
	if kraken.Asked.Text != "9 s ago" || kraken.Next.Text != "in 60 s" || kraken.Answered.Text != "never" || !strings.HasPrefix(kraken.Pairs, "BTC/USD ETH/USD") || kraken.Street {
		t.Errorf("%+v", kraken)
	}
	if len(kraken.Refused) != 1 || kraken.Refused[0].Pair != "BTC/USD" || kraken.Refused[0].Why != "exactly 1 to 1" || kraken.Refused[0].At.Format("15:04") != "14:00" {
		t.Errorf("%+v", kraken.Refused)
	}
	if quidax.State != "No request yet" || quidax.Problem != "" || quidax.Asked.Text != "never" || quidax.Next.Text != "never" || !quidax.Street {
		t.Errorf("%+v", quidax)
	}
	for state, want := range map[models.RateSource]string{{AskedAt: noon}: "Working", {AskedAt: noon, Failures: 1, Problem: "broke"}: "Failed once"} {
		if got, _, _ := sourceState(t.Context(), quote.Health{State: state}); got != want {
			t.Errorf("%+v: %s", state, got)
		}
	}
	f.Scope = owner
	if sourceRows(t.Context(), f, lagos) != nil {
		t.Error("live sources are shown in the test domain")
	}
}
