package rates

import (
	"context"
	"strings"
	"time"

	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// sourceRows tell how each source of the live domain does.
func sourceRows(ctx context.Context, f ratesFacts, zone *time.Location) (rows []dashboard.RateSource) {
	if f.Scope.Domain != scope.Live {
		return nil
	}
	for _, h := range f.Healths {
		row := dashboard.RateSource{Title: h.Source.Title, Href: display.SiteName(h.Source.Docs),
			Street: h.Source.Street, Terms: words.Translate(ctx, h.Source.Terms),
			Asked:    moment(ctx, h.State.AskedAt, f.Now, zone),
			Answered: dashboard.Moment{Text: words.T(ctx, "units.never")},
			Next:     moment(ctx, h.State.NextAt, f.Now, zone)}
		if h.State.AnsweredAt != nil {
			row.Answered = moment(ctx, *h.State.AnsweredAt, f.Now, zone)
		}
		row.State, row.Tone, row.Problem = sourceState(ctx, h)
		var pairs []string
		for _, p := range h.Source.Pairs() {
			pairs = append(pairs, p.String())
		}
		row.Pairs = strings.Join(pairs, " ")
		for _, r := range h.Prices {
			if r.RefusedAt != nil && f.Now.Sub(*r.RefusedAt) < aDay {
				row.Refused = append(row.Refused, refusedPrice(r, zone))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sourceState describes the health of a source and its problem.
func sourceState(ctx context.Context, h quote.Health) (word string, tone ui.Tone, problem string) {
	switch {
	case h.State.AskedAt.IsZero():
		return words.T(ctx, "rates.never_asked"), ui.Mute, ""
	case h.State.Problem == "":
		return words.T(ctx, "rates.answers"), ui.Good, ""
	}
	problem = words.T(ctx, "rates.failed_why", "Source", h.Source.Title, "Problem", h.State.Problem)
	if h.State.Failures <= 1 {
		return words.T(ctx, "rates.failed_once"), ui.Warn, problem
	}
	return words.N(ctx, "rates.failed_often", h.State.Failures), ui.Bad, problem
}

func refusedPrice(r models.Rate, zone *time.Location) dashboard.RefusedPrice {
	return dashboard.RefusedPrice{Pair: r.Base + "/" + r.Quote, Value: r.RefusedValue, Why: r.Refused,
		At: r.RefusedAt.In(zone)}
}

// moment is a time seen from now.
func moment(ctx context.Context, at, now time.Time, zone *time.Location) dashboard.Moment {
	switch {
	case at.IsZero():
		return dashboard.Moment{Text: words.T(ctx, "units.never")}
	case at.After(now):
		return dashboard.Moment{At: at.In(zone), Text: display.FormatAhead(ctx, at.Sub(now))}
	}
	return dashboard.Moment{At: at.In(zone), Text: display.FormatAgo(ctx, now.Sub(at))}
}
