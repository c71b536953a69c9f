package dashboard

import (
	"time"

	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/views/dashboard"
)

// quoteEvidence is what the price of a payment rests on, readings that didn't
// count too; nil when it can't be read, for then the locked price stands alone.
func quoteEvidence(v payment.View, zone *time.Location) *dashboard.QuoteEvidence {
	q, err := v.Evidence()
	if err != nil {
		return nil
	}
	at := q.At
	if at.IsZero() {
		at = v.Payment.CreatedAt
	}
	e := &dashboard.QuoteEvidence{Market: marketWord(q), Spread: spreadShort(q.Spread), Price: q.Price.String(), Unit: v.Payment.Currency, At: at.In(zone)}
	if q.Spread != 0 {
		e.Before = q.MarketPrice().String()
	}
	for _, leg := range q.Legs {
		e.Legs = append(e.Legs, quoteLeg(leg, at, zone))
	}
	return e
}

func quoteLeg(leg quote.Leg, at time.Time, zone *time.Location) dashboard.QuoteLeg {
	shown := dashboard.QuoteLeg{Pair: leg.Base + "/" + leg.Quote, Median: leg.Value.String(), Divides: leg.Divides, Trusted: publisherName(leg.Trusted)}
	for _, r := range leg.Readings {
		name, href := publisher(r.Source)
		shown.Readings = append(shown.Readings, dashboard.QuoteReading{
			Source: name, Href: href, Value: r.Value.String(), Via: r.Via, LeftOut: r.LeftOut, At: r.At.In(zone), Age: earlier(at, r.At),
		})
	}
	return shown
}

// earlier writes how much earlier than a quote a reading was.
func earlier(quoted, read time.Time) string {
	switch d := quoted.Sub(read); {
	case d >= time.Second:
		return age(d) + " before"
	case d <= -time.Second:
		return age(-d) + " after"
	}
	return "at once"
}
