package quote_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/internal/testing/speed"
)

// street is the naira price of a coin by the street, to six decimals.
func (w *world) street(coin, tether, naira string) decimal.Decimal {
	d := decimal.RequireFromString
	return d(coin).Mul(d(naira)).DivRound(d(tether), 6)
}

// TestExact (FX-6) computes 100,000 quotes and amounts again with fractions, for all 20
// pairs, each market and every spread, from two or three sources that agree and are not
// the same.
func TestExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // cases, not secrets
	value := func() decimal.Decimal {
		return decimal.New(random.Int64N(1<<40)+1, -int32(random.IntN(13)))
	}
	cases := 0
	for cases < speed.Pick(10_000, 100_000) {
		rates := map[string]*big.Rat{}
		m := market{}
		for _, p := range append((&quote.Service{}).Pairs(), quote.Pair{Base: "USDT", Quote: "NGN"}) {
			low := value()
			high := low.Mul(decimal.New(1000+random.Int64N(20), -3))
			m.say("a", p.String(), high.String()).say("b", p.String(), low.String())
			rates[p.String()] = new(big.Rat).Mul(new(big.Rat).Add(low.Rat(), high.Rat()), big.NewRat(1, 2))
			if random.IntN(2) == 0 {
				middle := low.Mul(decimal.New(1005, -3))
				m.say("c", p.String(), middle.String())
				rates[p.String()] = decimal.Max(low, decimal.Min(high, middle)).Rat()
			}
		}
		s := &quote.Service{Clock: clock.NewFake(now).Now, Sources: map[scope.Domain]quote.Source{scope.Live: m}}
		for _, info := range money.Coins() {
			for _, currency := range money.Currencies() {
				cases++
				policy := quote.Policy{Spread: random.IntN(1501) - 500}
				switch {
				case currency == money.NGN && random.IntN(2) == 0:
					policy.Market = quote.Street
				case currency != money.USD && random.IntN(3) == 0:
					policy.Manual, policy.ManualUntil = value(), now.Add(time.Hour)
				}
				q, err := s.Price(scope.Live, info.Coin, currency, policy)
				if err != nil {
					t.Fatal(err)
				}
				exact(t, info.Coin, currency, policy, q, rates)
				charge(t, info, q.Price, random.Int64N(1_000_000)+1)
			}
		}
	}
}

// exact compares a price with the same as a fraction: equal where nothing is
// divided, else to a part in 10¹² or 10⁻¹⁵ units.
func exact(t *testing.T, coin money.Coin, currency money.Currency, policy quote.Policy, q quote.Quote, rates map[string]*big.Rat) {
	t.Helper()
	want := new(big.Rat).Set(rates[string(coin)+"/USD"])
	switch {
	case policy.Manual.IsPositive():
		want.Mul(want, policy.Manual.Rat())
	case policy.Market == quote.Street && coin == money.USDT:
		want.Set(rates["USDT/NGN"])
	case policy.Market == quote.Street:
		want.Mul(want, rates["USDT/NGN"]).Quo(want, rates["USDT/USD"])
	case currency != money.USD:
		want.Mul(want, rates["USD/"+currency.ISOCode()])
	}
	want.Mul(want, big.NewRat(int64(10_000-policy.Spread), 10_000))
	off := new(big.Rat).Sub(q.Price.Rat(), want)
	off.Abs(off)
	allowed := new(big.Rat)
	if policy.Market == quote.Street {
		allowed.SetFrac64(1, 1_000_000_000_000_000)
	}
	if off.Cmp(allowed) > 0 {
		t.Fatalf("%s in %s by %+v: %s, off by %s", coin, currency, policy, q.Price, off.FloatString(20))
	}
}

// charge checks that a coin amount is worth the fiat amount, and less than one
// display unit more.
func charge(t *testing.T, info money.CoinInfo, price decimal.Decimal, fiat int64) {
	t.Helper()
	if !price.IsPositive() {
		t.Fatalf("a price of %s", price)
	}
	due := info.Coin.FromFiat(decimal.NewFromInt(fiat), price)
	power := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	coins := new(big.Rat).SetFrac(due.Big(), power(info.Unit))
	needed := new(big.Rat).Quo(new(big.Rat).SetInt64(fiat), price.Rat())
	over := new(big.Rat).Sub(coins, needed)
	if over.Sign() < 0 || over.Cmp(new(big.Rat).SetFrac(big.NewInt(1), power(info.Display))) >= 0 {
		t.Fatalf("%d at %s: %s %s, over by %s", fiat, price, info.Coin.Format(due), info.Coin, over.FloatString(20))
	}
}

// TestWithinTheBand: whatever sources say, a leg's value lies between the least
// and the greatest of those that count, at least two do, and each of them is
// within the band of the middle of all that are fresh.
func TestWithinTheBand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := market{}
		for i := range rapid.IntRange(0, 9).Draw(t, "sources") {
			value := rapid.Int64Range(950, 1_050).Draw(t, "value") // mostly around 100, so that some agree
			if rapid.IntRange(0, 5).Draw(t, "off") == 0 {
				value = rapid.Int64Range(-10, 1_200).Draw(t, "value")
			}
			m.say(fmt.Sprint("s", i), "BTC/USD", decimal.New(value, -1).String())
		}
		leg, err := service(m).Leg(scope.Live, quote.Pair{Base: "BTC", Quote: "USD"})
		var counted []decimal.Decimal
		for _, r := range leg.Readings {
			if r.LeftOut == "" {
				counted = append(counted, r.Value)
			}
		}
		if err != nil {
			if len(counted) >= 2 {
				t.Fatalf("%d agree, and there is no rate: %v", len(counted), err)
			}
			return
		}
		if len(counted) < 2 {
			t.Fatalf("a rate of %s by %d sources", leg.Value, len(counted))
		}
		least, most := decimal.Min(counted[0], counted[1:]...), decimal.Max(counted[0], counted[1:]...)
		if leg.Value.LessThan(least) || leg.Value.GreaterThan(most) || !leg.Value.IsPositive() {
			t.Fatalf("%s is not within %s and %s", leg.Value, least, most)
		}
		// Both ends are within 2 % of one middle.
		if most.Mul(decimal.New(98, -2)).GreaterThan(least.Mul(decimal.New(102, -2))) {
			t.Fatalf("%s and %s are no agreement", least, most)
		}
	})
}
