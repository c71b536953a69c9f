package quote_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reading is what a source says of a pair, some time ago.
func reading(name, value string, age time.Duration) quote.Reading {
	return quote.Reading{Source: name, Value: decimal.RequireFromString(value), At: now.Add(-age)}
}

// market is what sources say, by pair.
type market map[string][]quote.Reading

func (m market) Readings(p quote.Pair) []quote.Reading { return slices.Clone(m[p.String()]) }

// say adds what a source says.
func (m market) say(name, pair, value string) market {
	m[pair] = append(m[pair], reading(name, value, 0))
	return m
}

func service(m market) *quote.Service {
	return &quote.Service{Clock: clock.NewFake(now).Now, Sources: map[scope.Domain]quote.Source{scope.Live: m}}
}

// TestAgreement (FX-1, FX-2, FX-4): a price needs two fresh sources that agree; what is
// far off, stale or no price isn't one of them.
func TestAgreement(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		readings []quote.Reading
		want     string // "" means no quote
		why      string // what the refusal says, or why one was left out
	}{
		"two agree":                   {[]quote.Reading{reading("a", "100", 0), reading("b", "102", 0)}, "101", ""},
		"an outlier is left out":      {[]quote.Reading{reading("a", "100", 0), reading("b", "101", 0), reading("c", "1000", 0)}, "100.5", "off by 890.1 %"},
		"an inverted one is left out": {[]quote.Reading{reading("a", "100", 0), reading("b", "101", 0), reading("c", "0.01", 0)}, "100.5", "off by 100 %"},
		"one is not enough":           {[]quote.Reading{reading("a", "100", 0)}, "", "1 of the 2 sources needed agree"},
		"two that disagree":           {[]quote.Reading{reading("a", "100", 0), reading("b", "110", 0)}, "", "the sources disagree"},
		"halves that disagree":        {[]quote.Reading{reading("a", "100", 0), reading("b", "100", 0), reading("c", "110", 0), reading("d", "110", 0)}, "", "the sources disagree"},
		"at the band's edge":          {[]quote.Reading{reading("a", "98", 0), reading("b", "100", 0), reading("c", "102", 0)}, "100", ""},
		"beyond the band's edge":      {[]quote.Reading{reading("a", "97.99", 0), reading("b", "100", 0), reading("c", "102.01", 0)}, "", "1 of the 2"},
		"zero and negative":           {[]quote.Reading{reading("a", "0", 0), reading("b", "-5", 0), reading("c", "100", 0)}, "", "1 of the 2"},
		"a stale one":                 {[]quote.Reading{reading("a", "100", 61*time.Second), reading("b", "100", 0)}, "", "1 of the 2"},
		"all stale":                   {[]quote.Reading{reading("a", "100", 61*time.Second), reading("b", "100", time.Hour)}, "", "no rate source is reachable"},
		"at the edge of freshness":    {[]quote.Reading{reading("a", "100", 60*time.Second), reading("b", "100", 0)}, "100", ""},
		"nobody knows":                {nil, "", "no rate source is reachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, err := service(market{"BTC/USD": test.readings}).Price(scope.Live, money.BTC, money.USD, quote.Policy{})
			if test.want == "" {
				var none *fault.Fault
				if !errors.As(err, &none) || none.Kind != fault.Unavailable || none.RetryAfter <= 0 || !strings.Contains(none.Sentence.String(), test.why) {
					t.Errorf("quoted %s, %v", q.Price, err)
				}
				return
			}
			if err != nil || !q.Price.Equal(decimal.RequireFromString(test.want)) {
				t.Fatalf("quoted %s, %v; want %s", q.Price, err, test.want)
			}
			left := ""
			for _, r := range q.Legs[0].Readings {
				left += r.LeftOut
			}
			if left != test.why {
				t.Errorf("left out %q, want %q", left, test.why)
			}
		})
	}
	if _, err := (&quote.Service{Clock: clock.NewFake(now).Now}).Price(scope.Live, money.BTC, money.USD, quote.Policy{}); err == nil ||
		!strings.Contains(err.Error(), "no source of prices is set up") {
		t.Errorf("without any source: %v", err)
	}
}

// TestFiatBand (FX-1): sources of a fiat rate agree within five percent of the one in the middle.
func TestFiatBand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ low, high, want string }{
		{"1425", "1575", "150000"},    // at the edge
		{"1424.99", "1575", "153750"}, // one is beyond it
		{"1425", "1575.01", "146250"}, // the other is
		{"1424.99", "1575.01", ""},    // both are
	} {
		m := market{}.say("a", "BTC/USD", "100").say("b", "BTC/USD", "100").
			say("a", "USD/NGN", test.low).say("b", "USD/NGN", "1500").say("c", "USD/NGN", test.high)
		q, err := service(m).Price(scope.Live, money.BTC, money.NGN, quote.Policy{})
		if (err == nil) != (test.want != "") || err == nil && q.Price.String() != test.want {
			t.Errorf("%s, 1500 and %s: %s, %v", test.low, test.high, q.Price, err)
		}
	}
}

// TestFiatAge (FX-4): fiat legs may be a day old, and a little.
func TestFiatAge(t *testing.T) {
	t.Parallel()
	for age, ok := range map[time.Duration]bool{26 * time.Hour: true, 26*time.Hour + time.Second: false} {
		m := market{}.say("a", "BTC/USD", "100").say("b", "BTC/USD", "100")
		m["USD/NGN"] = []quote.Reading{reading("a", "1500", age), reading("b", "1560", 0)}
		q, err := service(m).Price(scope.Live, money.BTC, money.NGN, quote.Policy{})
		if (err == nil) != ok || ok && q.Price.String() != "153000" {
			t.Errorf("%s: %s, %v", age, q.Price, err)
		}
	}
}

// TestTrusted: what an operator trusts alone counts where too few agree, and
// only there; never when it is stale or isn't a price.
func TestTrusted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		readings []quote.Reading
		want     string
		trusted  string
	}{
		"alone":        {[]quote.Reading{reading("mine", "100", 0)}, "100", "mine"},
		"disagreement": {[]quote.Reading{reading("mine", "100", 0), reading("b", "110", 0)}, "100", "mine"},
		"outvoted":     {[]quote.Reading{reading("mine", "100", 0), reading("b", "110", 0), reading("c", "111", 0)}, "110.5", ""},
		"stale":        {[]quote.Reading{reading("mine", "100", time.Hour), reading("b", "110", 0)}, "", ""},
		"no price":     {[]quote.Reading{reading("mine", "0", 0)}, "", ""},
		"absent":       {[]quote.Reading{reading("b", "110", 0)}, "", ""},
	} {
		s := service(market{"BTC/USD": test.readings})
		s.Trusted = map[quote.Pair]string{{Base: "BTC", Quote: "USD"}: "mine"}
		q, err := s.Price(scope.Live, money.BTC, money.USD, quote.Policy{})
		if test.want == "" {
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s: quoted %s, %v", name, q.Price, err)
			}
			continue
		}
		if err != nil || q.Price.String() != test.want || q.Legs[0].Trusted != test.trusted {
			t.Errorf("%s: quoted %s, trusting %q, %v", name, q.Price, q.Legs[0].Trusted, err)
			continue
		}
		for _, r := range q.Legs[0].Readings {
			if (r.LeftOut == "") != (r.Source == test.trusted || test.trusted == "" && r.Source != "mine") {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// TestBands widens or narrows what agreement is, by coin or currency.
func TestBands(t *testing.T) {
	t.Parallel()
	m := market{}.say("a", "BTC/USD", "100").say("b", "BTC/USD", "105").say("a", "USD/NGN", "1500").say("b", "USD/NGN", "1560")
	s := service(m)
	if _, err := s.Price(scope.Live, money.BTC, money.USD, quote.Policy{}); err == nil {
		t.Error("5 % apart is no agreement")
	}
	s.Bands = map[string]decimal.Decimal{"BTC": decimal.New(3, -2)}
	q, err := s.Price(scope.Live, money.BTC, money.NGN, quote.Policy{})
	if err != nil || q.Price.String() != "156825" {
		t.Errorf("%s, %v", q.Price, err)
	}
	s.Bands["NGN"] = decimal.New(1, -2)
	if _, err := s.Price(scope.Live, money.BTC, money.NGN, quote.Policy{}); err == nil {
		t.Error("the currency's own band is ignored")
	}
}

// TestTether: USDT has a market of its own, and prices in USDT are converted by it.
func TestTether(t *testing.T) {
	t.Parallel()
	m := market{}.say("a", "USDT/USD", "0.98").say("b", "USDT/USD", "0.98").say("a", "BTC/USD", "98").say("x", "BTC/USDT", "100")
	s := service(m)
	q, err := s.Price(scope.Live, money.BTC, money.USD, quote.Policy{})
	if err != nil || q.Price.String() != "98" || len(q.Legs[0].Readings) != 2 || q.Legs[0].Readings[1].Via != "100 USDT at 0.98" {
		t.Errorf("%s, %+v, %v", q.Price, q.Legs, err)
	}
	if q, err = s.Price(scope.Live, money.USDT, money.USD, quote.Policy{}); err != nil || q.Price.String() != "0.98" {
		t.Errorf("USDT at %s, %v", q.Price, err)
	}
	delete(m, "USDT/USD")
	if q, err = s.Price(scope.Live, money.BTC, money.USD, quote.Policy{}); err == nil {
		t.Errorf("a price in USDT was taken for one in USD: %s", q.Price)
	}
}

// TestMarkets prices by each market, with and without a spread.
func TestMarkets(t *testing.T) {
	t.Parallel()
	m := market{}
	for _, name := range []string{"a", "b"} {
		m.say(name, "BTC/USD", "60000").say(name, "USDT/USD", "0.96").say(name, "USD/NGN", "1500").say(name, "USDT/NGN", "1680")
	}
	s := service(m)
	later := now.Add(time.Hour)
	manual := quote.Policy{Manual: decimal.NewFromInt(1600), ManualSince: now, ManualUntil: later, Market: quote.Street}
	expired := manual
	expired.ManualUntil = now
	for name, test := range map[string]struct {
		coin     money.Coin
		currency money.Currency
		policy   quote.Policy
		want     string
		market   quote.Market
		legs     string
	}{
		"official":         {money.BTC, money.NGN, quote.Policy{}, "90000000", quote.Official, "BTC/USD USD/NGN"},
		"a spread":         {money.BTC, money.NGN, quote.Policy{Spread: 150}, "88650000", quote.Official, "BTC/USD USD/NGN"},
		"a discount":       {money.BTC, money.USD, quote.Policy{Spread: -500}, "63000", quote.Official, "BTC/USD"},
		"street":           {money.BTC, money.NGN, quote.Policy{Market: quote.Street}, "105000000", quote.Street, "BTC/USD ÷USDT/USD USDT/NGN"},
		"street, USDT":     {money.USDT, money.NGN, quote.Policy{Market: quote.Street}, "1680", quote.Street, "USDT/NGN"},
		"own rate":         {money.BTC, money.NGN, manual, "96000000", quote.Manual, "BTC/USD USD/NGN"},
		"own rate expired": {money.BTC, money.NGN, expired, "105000000", quote.Street, "BTC/USD ÷USDT/USD USDT/NGN"},
		"dollars":          {money.BTC, money.USD, manual, "60000", quote.Official, "BTC/USD"},
	} {
		q, err := s.Price(scope.Live, test.coin, test.currency, test.policy)
		var legs []string
		for _, leg := range q.Legs {
			sign := map[bool]string{true: "÷"}[leg.Divides]
			legs = append(legs, sign+leg.Base+"/"+leg.Quote)
		}
		if err != nil || q.Price.String() != test.want || q.Market != test.market || strings.Join(legs, " ") != test.legs || q.Spread != test.policy.Spread {
			t.Errorf("%s: %s by %s, %v, %v", name, q.Price, q.Market, legs, err)
		}
		if test.coin == money.BTC && q.PriceUSD.String() != "60000" {
			t.Errorf("%s: %s USD", name, q.PriceUSD)
		}
		without := test.policy
		without.Spread = 0
		if plain, _ := s.Price(scope.Live, test.coin, test.currency, without); !plain.Price.Equal(q.MarketPrice()) {
			t.Errorf("%s: %s before the spread, want %s", name, q.MarketPrice(), plain.Price)
		}
	}
	delete(m, "USDT/NGN")
	if q, err := s.Price(scope.Live, money.BTC, money.NGN, quote.Policy{Market: quote.Street}); err == nil {
		t.Errorf("a street rate that nobody knows gave %s", q.Price)
	}
}

// TestCediIsAskedAsGHS (FX-5): a source that still quotes ISO's retired GHC can't get
// in.
func TestCediIsAskedAsGHS(t *testing.T) {
	t.Parallel()
	m := market{}
	for _, name := range []string{"a", "b"} {
		m.say(name, "BTC/USD", "100").say(name, "USD/GHS", "12.5").say(name, "USD/GHC", "125000")
	}
	q, err := service(m).Price(scope.Live, money.BTC, money.GHC, quote.Policy{})
	if err != nil || q.Price.String() != "1250" {
		t.Errorf("quoted %s, %v", q.Price, err)
	}
	if len(q.Legs) != 2 || q.Legs[1].Quote != "GHS" || len(q.Legs[1].Readings) != 2 {
		t.Errorf("evidence %+v", q.Legs)
	}
}

// TestFixed: the test domain's market answers for every pair, near its table,
// the same at the same time, and moves.
func TestFixed(t *testing.T) {
	t.Parallel()
	fake := clock.NewFake(now)
	s := &quote.Service{Clock: fake.Now, Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: fake.Now}}}
	seen := map[string]bool{}
	for range 20 {
		for _, info := range money.Coins() {
			for _, currency := range money.Currencies() {
				q, err := s.Price(scope.Test, info.Coin, currency, quote.Policy{})
				if err != nil || !q.Price.IsPositive() {
					t.Fatalf("%s in %s: %v", info.Coin, currency, err)
				}
				again, _ := s.Price(scope.Test, info.Coin, currency, quote.Policy{})
				if !again.Price.Equal(q.Price) {
					t.Fatal("two prices at one time")
				}
			}
		}
		q, _ := s.Price(scope.Test, money.BTC, money.USD, quote.Policy{})
		if q.Price.Sub(decimal.NewFromInt(60_000)).Abs().GreaterThan(decimal.NewFromInt(150)) {
			t.Errorf("BTC at %s", q.Price)
		}
		seen[q.Price.String()] = true
		fake.Advance(10 * time.Second)
	}
	if len(seen) < 10 {
		t.Errorf("the price took %d values in 20 steps", len(seen))
	}
	if _, err := s.Price(scope.Live, money.BTC, money.USD, quote.Policy{}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("live without sources: %v", err)
	}
}
