package payment_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
)

// exact is a market at whose prices a payment of NGN can be worth any number of cents.
type exact struct{ clock clock.Clock }

func (e exact) Readings(p quote.Pair) (readings []quote.Reading) {
	price := map[string]int64{"BTC/USD": 30_000, "ETH/USD": 2_500, "USDT/USD": 1, "XRP/USD": 2, "DOGE/USD": 3, "USD/NGN": 100}[p.String()]
	for _, from := range []string{"a", "b", "c"} {
		readings = append(readings, quote.Reading{Source: from, Value: decimal.NewFromInt(price), At: e.clock()})
	}
	return readings
}

// TestWorth: what is due is what was asked at the quoted price, no more than rounded up,
// and what makes it final is by its value: of up to 100 USD, or of a cent more.
func TestWorth(t *testing.T) {
	type agreed struct {
		due   string
		depth int
		final bool // by the network's own finality too
	}
	want := map[money.Coin][3]agreed{ // for 0.01, 100 and 100.01 USD
		money.BTC:  {{"0.00000034", 2, false}, {"0.00333334", 2, false}, {"0.00333367", 3, false}},
		money.ETH:  {{"0.00000400", 12, false}, {"0.04000000", 12, false}, {"0.04000400", 12, true}},
		money.USDT: {{"0.010000", 12, false}, {"100.000000", 12, false}, {"100.010000", 12, true}},
		money.XRP:  {{"0.005000", 1, false}, {"50.000000", 1, false}, {"50.005000", 1, false}},
		money.DOGE: {{"0.00333334", 6, false}, {"33.33333334", 6, false}, {"33.33666667", 40, false}},
	}
	each(t, func(t *testing.T, b *bench) {
		b.service.Quotes = &quote.Service{DB: b.db, Clock: b.clock.Now, Sources: map[scope.Domain]quote.Source{scope.Test: exact{b.clock.Now}}}
		for coin, of := range want {
			for i, amount := range []int64{1, 10_000, 10_001} {
				r := request()
				r.Method, r.Amount = string(coin.Info().Method), amount
				started, err := b.service.Initiate(t.Context(), b.scope, r)
				must(t, err)
				p := b.view(started.Reference).Payment
				if got := (agreed{coin.Format(p.Due), p.FinalDepth, p.FinalByNetwork}); got != of[i] {
					t.Errorf("%d NGN in %s: %+v, want %+v", amount, coin, got, of[i])
				}
			}
		}
	})
}
