package quote_test

import (
	"context"
	"errors"
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

// says is a source that has one value for every leg, read some time ago.
type says struct {
	name  string
	legs  map[string]string
	age   time.Duration
	fails bool
}

func (s says) Readings(_ context.Context, base, to string) ([]quote.Reading, error) {
	if s.fails {
		return nil, errors.New("down")
	}
	text, ok := s.legs[base+"/"+to]
	if !ok {
		return nil, nil
	}
	return []quote.Reading{{Source: s.name, Value: decimal.RequireFromString(text), At: now.Add(-s.age)}}, nil
}

func service(sources ...quote.Source) *quote.Service {
	return &quote.Service{Clock: clock.NewFake(now).Now, Minimum: 2, Sources: map[scope.Domain][]quote.Source{scope.Live: sources}}
}

func btc(name, value string) says {
	return says{name: name, legs: map[string]string{"BTC/USD": value}}
}

func TestAgreement(t *testing.T) {
	t.Parallel()
	old := btc("old", "100")
	old.age = 61 * time.Second
	fresh := btc("edge", "100")
	fresh.age = 60 * time.Second
	down := btc("down", "1")
	down.fails = true
	for name, test := range map[string]struct {
		sources []quote.Source
		want    string // "" means no quote
	}{
		"two agree":                   {[]quote.Source{btc("a", "100"), btc("b", "102")}, "101"},
		"an outlier is left out":      {[]quote.Source{btc("a", "100"), btc("b", "101"), btc("c", "1000")}, "100.5"},
		"an inverted one is left out": {[]quote.Source{btc("a", "100"), btc("b", "101"), btc("c", "0.01")}, "100.5"},
		"one is not enough":           {[]quote.Source{btc("a", "100")}, ""},
		"two that disagree":           {[]quote.Source{btc("a", "100"), btc("b", "110")}, ""},
		"zero and negative":           {[]quote.Source{btc("a", "0"), btc("b", "-5"), btc("c", "100")}, ""},
		"a stale one":                 {[]quote.Source{old, btc("a", "100")}, ""},
		"at the edge of freshness":    {[]quote.Source{fresh, btc("a", "100")}, "100"},
		"one is down":                 {[]quote.Source{down, btc("a", "100"), btc("b", "100")}, "100"},
		"nobody knows":                {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, err := service(test.sources...).Quote(t.Context(), scope.Live, money.BTC, money.USD)
			switch {
			case test.want == "" && fault.KindOf(err) != fault.Unavailable:
				t.Errorf("quoted %s, %v", q.Price, err)
			case test.want != "" && (err != nil || !q.Price.Equal(decimal.RequireFromString(test.want))):
				t.Errorf("quoted %s, %v; want %s", q.Price, err, test.want)
			}
		})
	}
}

// TestCediIsAskedAsGHS: a source that still quotes ISO's retired GHC can't get in.
func TestCediIsAskedAsGHS(t *testing.T) {
	t.Parallel()
	both := map[string]string{"BTC/USD": "100", "USD/GHS": "12.5", "USD/GHC": "125000"}
	q, err := service(says{name: "a", legs: both}, says{name: "b", legs: both}).Quote(t.Context(), scope.Live, money.BTC, money.GHC)
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
	s := &quote.Service{Clock: fake.Now, Minimum: 2, Sources: map[scope.Domain][]quote.Source{scope.Test: {quote.Fixed{Clock: fake.Now}}}}
	seen := map[string]bool{}
	for range 20 {
		for _, info := range money.Coins() {
			for _, currency := range money.Currencies() {
				q, err := s.Quote(t.Context(), scope.Test, info.Coin, currency)
				if err != nil || !q.Price.IsPositive() {
					t.Fatalf("%s in %s: %v", info.Coin, currency, err)
				}
				again, _ := s.Quote(t.Context(), scope.Test, info.Coin, currency)
				if !again.Price.Equal(q.Price) {
					t.Fatal("two prices at one time")
				}
			}
		}
		q, _ := s.Quote(t.Context(), scope.Test, money.BTC, money.USD)
		if q.Price.Sub(decimal.NewFromInt(60_000)).Abs().GreaterThan(decimal.NewFromInt(150)) {
			t.Errorf("BTC at %s", q.Price)
		}
		seen[q.Price.String()] = true
		fake.Advance(10 * time.Second)
	}
	if len(seen) < 10 {
		t.Errorf("the price took %d values in 20 steps", len(seen))
	}
	if _, err := s.Quote(t.Context(), scope.Live, money.BTC, money.USD); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("live without sources: %v", err)
	}
}
