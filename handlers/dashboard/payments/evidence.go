package payments

import (
	"context"
	"time"

	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
)

// quoteEvidence is what the price of a payment rests on, readings that didn't
// count too; nil when it can't be read, for then the locked price stands alone.
func quoteEvidence(ctx context.Context, v payment.View, zone *time.Location) *dashboard.QuoteEvidence {
	q, err := v.Evidence()
	if err != nil {
		return nil
	}
	at := q.At
	if at.IsZero() {
		at = v.Payment.CreatedAt
	}
	e := &dashboard.QuoteEvidence{Market: display.DescribeMarket(ctx, q), Spread: display.FormatSpread(ctx, q.Spread),
		Price: q.Price.String(), Unit: v.Payment.Currency, At: at.In(zone)}
	if q.Spread != 0 {
		e.Before = q.MarketPrice().String()
	}
	for _, leg := range q.Legs {
		e.Legs = append(e.Legs, quoteLeg(ctx, leg, at, zone))
	}
	return e
}

func quoteLeg(ctx context.Context, leg quote.Leg, at time.Time, zone *time.Location) dashboard.QuoteLeg {
	shown := dashboard.QuoteLeg{Pair: leg.Base + "/" + leg.Quote, Median: leg.Value.String(), Divides: leg.Divides,
		Trusted: display.PublisherName(ctx, leg.Trusted)}
	for _, r := range leg.Readings {
		name, href := display.FindPublisher(ctx, r.Source)
		shown.Readings = append(shown.Readings, dashboard.QuoteReading{
			Source: name, Href: href, Value: r.Value.String(), Via: r.Via, LeftOut: r.LeftOut, At: r.At.In(zone),
			Age: display.FormatEarlier(ctx, at, r.At),
		})
	}
	return shown
}
