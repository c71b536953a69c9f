package quote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
)

// TestJudge (FX-1, FX-2, FX-5): a value that is upside down, ten times too high, one to
// one or of another age is not a price.
func TestJudge(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	for name, test := range map[string]struct {
		base, quote, value string
		at                 time.Time
		before             string // "" is none
		beforeAt           time.Time
		day                string
		want               string // "" is taken
	}{
		"bitcoin":                     {"BTC", "USD", "60000", now, "", now, "", ""},
		"in USDT":                     {"BTC", "USDT", "60000", now, "", now, "", ""},
		"on the street":               {"USDT", "NGN", "1700", now, "", now, "", ""},
		"zero":                        {"BTC", "USD", "0", now, "", now, "", "not a price"},
		"negative":                    {"BTC", "USD", "-60000", now, "", now, "", "not a price"},
		"tiny":                        {"BTC", "USD", "0.000000000000000000000000000001", now, "", now, "", "implausible"},
		"upside down":                 {"BTC", "USD", "0.0000166", now, "", now, "", "upside down"},
		"upside down naira":           {"USD", "NGN", "0.00066", now, "", now, "", "upside down"},
		"in kobo":                     {"USD", "NGN", "150000", now, "", now, "", "implausible"},
		"one to one":                  {"XRP", "USD", "1", now, "", now, "", "exactly 1 to 1"},
		"one to one naira":            {"USD", "NGN", "1.000", now, "", now, "", "exactly 1 to 1"},
		"USDT may be":                 {"USDT", "USD", "1", now, "", now, "", ""},
		"USDT in naira may not":       {"USDT", "NGN", "1", now, "", now, "", "exactly 1 to 1"},
		"the cedi":                    {"USD", "GHS", "11.37", now, "", now, "", ""},
		"the cedi of before 2007":     {"USD", "GHS", "113749", now, "", now, "", "implausible"},
		"that upside down":            {"USD", "GHS", "0.0000088", now, "", now, "", "implausible"},
		"a cedi that nobody asks for": {"USD", "GHC", "113749", now, "", now, "", "not a pair that is used"},
		"ahead of the clock":          {"BTC", "USD", "60000", at(-time.Minute), "", now, "", ""},
		"too far ahead":               {"BTC", "USD", "60000", at(-time.Minute - time.Microsecond), "", now, "", "from the future"},
		"old":                         {"USD", "NGN", "1500", at(72 * time.Hour), "", now, "", ""}, // stale is for who prices to say
		"moved":                       {"BTC", "USD", "72000", now, "60000", at(20 * time.Second), "", ""},
		"jumped up":                   {"BTC", "USD", "72000.01", now, "60000", at(20 * time.Second), "", "jumped by 20 % within a minute"},
		"jumped down":                 {"BTC", "USD", "45000", now, "60000", at(time.Minute), "", "jumped by 25 % within a minute"},
		"stayed there":                {"BTC", "USD", "45000", now, "60000", at(time.Minute + time.Second), "", ""},
		"three times the day's":       {"DOGE", "USD", "0.3", now, "", now, "0.1", ""},
		"more than that":              {"DOGE", "USD", "0.31", now, "", now, "0.1", "far from the last day's median"},
		"a third of the day's":        {"DOGE", "USD", "0.05", now, "", now, "0.151", "far from the last day's median"},
		"twice the day's naira":       {"USD", "NGN", "3000", now, "", now, "1500", ""},
		"ten times the day's":         {"USD", "NGN", "15000", now, "", now, "1500", "far from the last day's median"},
	} {
		read := func(text string) decimal.Decimal {
			if text == "" {
				return decimal.Zero
			}
			return decimal.RequireFromString(text)
		}
		got := quote.Judge(quote.Pair{Base: test.base, Quote: test.quote}, read(test.value), test.at, now, read(test.before), test.beforeAt, read(test.day))
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestEverySourceIsJudged (FX-5): no source has a pair without bounds, and no pair is of
// the cedi of before 2007.
func TestEverySourceIsJudged(t *testing.T) {
	t.Parallel()
	counts := map[quote.Pair]int{}
	for _, s := range source.All() {
		for _, p := range s.Pairs() {
			if why := quote.Judge(p, decimal.NewFromInt(7), now, now, decimal.Zero, now, decimal.Zero); why == "not a pair that is used" {
				t.Errorf("%s: %s has no bounds", s.Name, p)
			}
			if strings.Contains(p.String(), "GHC") {
				t.Errorf("%s asks for %s", s.Name, p)
			}
			if p.Quote == string(money.USDT) {
				p.Quote = "USD"
			}
			if !s.Street {
				counts[p]++
			}
		}
	}
	for _, p := range (&quote.Service{}).Pairs() {
		least := 4
		if p.Base == "USD" {
			least = 3
		}
		if counts[p] < least {
			t.Errorf("%s has %d sources, want %d", p, counts[p], least)
		}
	}
}
