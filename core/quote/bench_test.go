package quote_test

import (
	"encoding/json"
	"testing"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
)

// BenchmarkPrice quotes from what is held in memory, with six sources of coins
// and five of currencies. Beside it is what writing the same quote's evidence
// costs, which every payment pays too. The expectation is at most 20 µs.
func BenchmarkPrice(b *testing.B) {
	m := market{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		m.say(name, "BTC/USD", "60123.45").say(name, "USDT/USD", "0.99961").say(name, "USD/NGN", "1523.4471").say(name, "USDT/NGN", "1650.5")
	}
	m["BTC/USD"] = m["BTC/USD"][:5]
	m.say("binance", "BTC/USDT", "60150.11")
	s := &quote.Service{Clock: clock.NewFake(now).Now, Sources: map[scope.Domain]quote.Source{scope.Live: m}}
	for name, policy := range map[string]quote.Policy{"official": {}, "street": {Market: quote.Street, Spread: 150}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Price(scope.Live, money.BTC, money.NGN, policy); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("evidence", func(b *testing.B) {
		q, err := s.Price(scope.Live, money.BTC, money.NGN, quote.Policy{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(q); err != nil {
				b.Fatal(err)
			}
		}
	})
}
