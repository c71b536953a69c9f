package dashboard

import (
	"strings"
	"time"

	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// sourceRows tell how each source of the live domain does.
func sourceRows(f ratesFacts, zone *time.Location) (rows []dashboard.RateSource) {
	if f.Scope.Domain != scope.Live {
		return nil
	}
	for _, h := range f.Healths {
		row := dashboard.RateSource{Title: h.Source.Title, Href: site(h.Source.Docs), Street: h.Source.Street, Terms: h.Source.Terms,
			Asked: moment(h.State.AskedAt, f.Now, zone), Answered: dashboard.Moment{Text: "never"}, Next: moment(h.State.NextAt, f.Now, zone)}
		if h.State.AnsweredAt != nil {
			row.Answered = moment(*h.State.AnsweredAt, f.Now, zone)
		}
		row.State, row.Tone, row.Problem = sourceState(h)
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

// sourceState says how a source does, and what is wrong with it.
func sourceState(h quote.Health) (word string, tone ui.Tone, problem string) {
	switch {
	case h.State.AskedAt.IsZero():
		return "Not asked yet", ui.Mute, ""
	case h.State.Problem == "":
		return "Answers", ui.Good, ""
	case h.State.Failures <= 1:
		return "Failed once", ui.Warn, h.Source.Title + " " + h.State.Problem + "."
	}
	return "Failed " + ui.Count(h.State.Failures, "time", "times") + " in a row", ui.Bad, h.Source.Title + " " + h.State.Problem + "."
}

func refusedPrice(r models.Rate, zone *time.Location) dashboard.RefusedPrice {
	return dashboard.RefusedPrice{Pair: r.Base + "/" + r.Quote, Value: r.RefusedValue, Why: r.Refused, At: r.RefusedAt.In(zone)}
}

// moment is a time seen from now.
func moment(at, now time.Time, zone *time.Location) dashboard.Moment {
	switch {
	case at.IsZero():
		return dashboard.Moment{Text: "never"}
	case at.After(now):
		return dashboard.Moment{At: at.In(zone), Text: "in " + age(at.Sub(now))}
	}
	return dashboard.Moment{At: at.In(zone), Text: age(now.Sub(at)) + " ago"}
}
