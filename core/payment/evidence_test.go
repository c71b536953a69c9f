package payment_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
)

// told is what sources say, by pair.
type told map[string][]quote.Reading

func (m told) Readings(p quote.Pair) []quote.Reading { return slices.Clone(m[p.String()]) }

// TestEvidence (FX-4): a payment keeps which sources its price rests on, what each said,
// and when; of what was too old, that it was. Where all is too old there is no payment.
func TestEvidence(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		now := b.clock.Now()
		says := func(source, value string, age time.Duration) quote.Reading {
			return quote.Reading{Source: source, Value: decimal.RequireFromString(value), At: now.Add(-age)}
		}
		m := told{"BTC/USD": {says("kraken", "60000", 59*time.Second), says("okx", "60600", 2*time.Second), says("bitstamp", "61000", 61*time.Second)},
			"USD/NGN": {says("er-api", "1500", 3*time.Hour), says("coinbase", "1510", time.Second)}}
		b.service.Quotes = &quote.Service{DB: b.db, Clock: b.clock.Now, Sources: map[scope.Domain]quote.Source{scope.Test: m}}
		v, err := b.service.Verify(t.Context(), b.scope, b.initiate().Reference)
		if err != nil {
			t.Fatal(err)
		}
		q, err := v.Evidence()
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, leg := range q.Legs {
			for _, r := range leg.Readings {
				kept = append(kept, fmt.Sprintf("%s/%s %s %s %s %s", leg.Base, leg.Quote, r.Source, r.Value, now.Sub(r.At), r.LeftOut))
			}
		}
		slices.Sort(kept)
		want := []string{"BTC/USD bitstamp 61000 1m1s stale", "BTC/USD kraken 60000 59s ", "BTC/USD okx 60600 2s ", "USD/NGN coinbase 1510 1s ", "USD/NGN er-api 1500 3h0m0s "}
		if !slices.Equal(kept, want) || !q.At.Equal(now) || v.Payment.Price != q.Price.String() || v.Payment.Price != "90751500" {
			t.Errorf("kept are %q of %s, at a price of %s", kept, q.At, v.Payment.Price)
		}
		b.clock.Advance(time.Minute)
		if _, err := b.service.Initiate(t.Context(), b.scope, request()); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("all is too old: %v", err)
		}
		var made int64
		if err := b.db.Read(t.Context()).Model(&models.Payment{}).Count(&made).Error; err != nil || made != 1 {
			t.Errorf("%d payments, %v", made, err)
		}
	})
}
