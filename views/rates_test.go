package views_test

import (
	"strings"
	"testing"
	"time"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// evidence is a quote by the street rate, with every kind of leg and reading.
func evidence() *dashboard.QuoteEvidence {
	at := func(name, value string, ago time.Duration) dashboard.QuoteReading {
		return dashboard.QuoteReading{Source: name, Href: "https://docs.example", Value: value, At: now.Add(-ago), Age: "12 s before"}
	}
	via, stale := at("OKX", "2.140012345678", 9*time.Second), at("Bitstamp", "2.1399", 3*time.Minute)
	via.Via, stale.LeftOut, stale.Age = "2.1401 USDT", "stale", "3 min before"
	return &dashboard.QuoteEvidence{Market: "Street rate", Spread: "1.5 %", Before: "34.0238578680203", Price: "33.5135", Unit: "GHC", At: now,
		Legs: []dashboard.QuoteLeg{
			{Pair: "XRP/USD", Median: "2.140056172839", Readings: []dashboard.QuoteReading{at("Kraken", "2.1401", 12*time.Second), via, stale}},
			{Pair: "USDT/USD", Median: "0.9998", Divides: true, Readings: []dashboard.QuoteReading{at("Kraken", "0.9998", 12*time.Second)}},
			{Pair: "USDT/GHS", Median: "15.66", Trusted: "Quidax", Readings: []dashboard.QuoteReading{at("Quidax", "15.66", time.Minute)}},
		}}
}

func livePage(title string) layout.Page {
	page := shell(title, "rates")
	page.Domain, page.LiveAvailable = "live", true
	return page
}

// ratesPage has a bad day in the live domain: alarms, a pair without a rate, a gap in the chart.
func ratesPage() dashboard.RatesProps {
	why := "There is no trustworthy rate for USD/KES now: 1 of the 2 sources needed agree. Try again in half a minute."
	return dashboard.RatesProps{Page: livePage("Rates"), Alarms: []string{why, "Kraken failed 4 times in a row: it answers 502."},
		Currencies: []string{"NGN", "GHC", "KES", "USD"}, Missing: []string{why},
		Coins: []dashboard.CoinPrices{{Coin: "BTC", Name: "Bitcoin", Prices: []string{"₦90,012,345.67", "GH₵750,123.45", "", "$60,008.23"}},
			{Coin: "DOGE", Name: "Dogecoin", Prices: []string{"₦187.5125", "GH₵1.5625", "", "$0.125010"}}},
		Rules: []dashboard.RateRule{
			{Currency: "NGN", Rate: "Your own: ₦1,700.00 for one US dollar, until 1 Dec 2026, 12:00", Spread: "1.5 %: a customer pays 1.52 % more of a coin than at the market's price", Warning: "Your own rate is 13.3 % above the market's, which is ₦1,500.12 for one US dollar.", Href: "/dashboard/rates/NGN", LinkText: "Change"},
			{Currency: "USD", Rate: "Not needed: coins are priced in US dollars", Spread: "None", Href: "/dashboard/rates/USD", LinkText: "Change"}},
		Pairs: []dashboard.PairRow{{Pair: "BTC/USD", Href: "/dashboard/rates?pair=BTC%2FUSD#pair", Chosen: true, Median: "60,008.23", Counted: "5 of 6", Spread: "0.12 %"},
			{Pair: "USD/KES", Href: "/dashboard/rates?pair=USD%2FKES#pair", Problem: why, Counted: "1 of 4", Spread: "–"}},
		Detail: dashboard.PairDetail{Pair: "BTC/USD", Median: "60,008.23",
			Readings: []dashboard.RateReading{{Source: "Coinbase", Href: "https://docs.example", Value: "60,008.23", At: now, Age: "4 s"}, {Source: "OKX", Value: "60,010.50", Via: "60022.5 USDT", At: now, Age: "11 s"},
				{Source: "Kraken", Value: "59,100.00", LeftOut: "stale", At: now.Add(-time.Hour), Age: "60 min"}},
			Ranges: []dashboard.RangeLink{{Text: "24 hours", Href: "/dashboard/rates", Chosen: true}, {Text: "7 days", Href: "/dashboard/rates?range=7d"}},
			Chart:  lineChart()},
		Sources: []dashboard.RateSource{{Title: "Kraken", Href: "https://docs.example", Pairs: "BTC/USD ETH/USD", State: "Failed 4 times in a row", Tone: ui.Bad, Problem: "Kraken answers 502.", Asked: dashboard.Moment{At: now, Text: "9 s ago"}, Answered: dashboard.Moment{Text: "never"}, Next: dashboard.Moment{At: now, Text: "in 6 s"}, Terms: "Needs no key.",
			Refused: []dashboard.RefusedPrice{{Pair: "BTC/USD", Value: "1", Why: "exactly 1 to 1", At: now}}},
			{Title: "Quidax", Street: true, Pairs: "USDT/NGN", State: "No request yet", Tone: ui.Mute, Asked: dashboard.Moment{Text: "never"}, Terms: "Needs no key."}}}
}

func lineChart() *ui.LineChartProps {
	return &ui.LineChartProps{Title: "BTC/USD over the last 24 hours: lowest 59,000.00, highest 61,000.00", Top: "Highest 61,000.00", Bottom: "Lowest 59,000.00", Path: "M0 40L400 960M600 500h1M700 300L1000 200",
		Marks: []string{"05:14", "13:14", "21:14", "05:14"}, LabelHead: "Time", ValueHead: "BTC/USD", NoteHead: "Sources", Rows: []ui.LineRow{{Label: "21 Nov, 05:10", Text: "60,008.23", Note: "5"}}}
}

func policyPage() dashboard.RatePolicyProps {
	return dashboard.RatePolicyProps{Page: livePage("Prices in NGN"), Currency: "NGN", Rate: "The street rate", Spread: "1.5 %: a customer pays 1.52 % more of a coin than at the market's price",
		Own: "Your own rate of ₦1,525.0000 ended on 1 Nov 2026, 12:00.", Warning: "Your own rate is 13.3 % above the market's, which is ₦1,500.12 for one US dollar.", Sample: "₦100,000.00", Difference: "A customer pays 4.20 % more BTC than at the official rate.",
		Samples:  []dashboard.RateSample{{Rule: "With this rule", Amount: "0.00115763", Price: "₦86,384,123.00"}, {Rule: "At the official rate, without spread", Amount: "0.00111096", Price: "₦90,012,345.67"}},
		Editable: true, Zone: "Africa/Lagos", Markets: []ui.Option{{Value: "official", Label: "Official rate"}, {Value: "street", Label: "Street rate"}},
		Form: ui.Form{Values: map[string]string{"market": "street", "spread": "10.01", "manual": "1e3", "manual_until": "2026-12-31T12:00"},
			Errors: map[string][]string{"spread": {"Must be from −5 to 10 percent."}, "manual": {"Must be a plain number such as 1525.50, or empty."}, "manual_until": {"Must be a time within the next 30 days: until then your own rate counts."}}}}
}

// TestManyAlarms: when everything fails at once the prices below stay in reach.
func TestManyAlarms(t *testing.T) {
	page := ratesPage()
	page.Alarms = []string{"one.", "two.", "three.", "four.", "five."}
	html := render(t, dashboard.Rates(page))
	shown, folded, more := strings.Cut(html, "<summary>2 more</summary>")
	if !more || !strings.Contains(shown, "<p>three.</p>") || strings.Contains(shown, "four.") || !strings.Contains(folded, "<p>five.</p>") {
		t.Errorf("html = %v", html)
	}
}
