package overview

import (
	"context"
	"net/url"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/stats"
	"cointill/handlers/dashboard/listing"
	"cointill/views/words"
)

// overviewPath is the first page.
const overviewPath = "/dashboard"

// spans are the periods of the overview, in the order it shows them.
var spans = []struct{ value, word string }{{"today", "overview.today"}, {"7d", "overview.days_7"},
	{"30d", "overview.days_30"}, {"90d", "overview.days_90"}}

// usualSpan is the period of an address that names none.
const usualSpan = "30d"

// maxSpan is how many days the overview adds up at most.
const maxSpan = 366

// span is what the overview was asked for: its address, and nothing else, says it.
type span struct {
	Period   string // one of spans; "" for own days
	Currency string // whose volume the charts draw; "" chooses
	// From and To are the first and the last day, whatever the period.
	From, To string
	// Wrong says what in the address could not be read and was left out.
	Wrong []string
}

// readSpan reads what the overview is asked for.
func readSpan(ctx context.Context, values url.Values, zone *time.Location, now time.Time) span {
	var s listing.Search
	out := span{Currency: s.ReadOne(ctx, values, "currency", "filters.no_currency",
		func(v string) bool { return money.Currency(v).IsKnown() })}
	out.Period = s.ReadOne(ctx, values, "period", "filters.no_period", func(v string) bool {
		for _, option := range spans {
			if option.value == v {
				return true
			}
		}
		return false
	})
	today := now.In(zone).Format(time.DateOnly)
	if out.Period == "" {
		out.From, out.To = s.ReadDay(ctx, values, "from"), s.ReadDay(ctx, values, "to")
		switch {
		case out.From != "" && out.To == "":
			out.To = max(today, out.From)
		case out.From == "" && out.To != "":
			out.From = out.To
		}
		switch {
		case out.From > out.To:
			s.ReportUnreadable(ctx, "filters.days_reversed", words.T(ctx, "filters.from_to", "From", out.From, "To",
				out.To))
			out.From = ""
		case out.From != "" && out.countDays() > maxSpan:
			s.ReportUnreadable(ctx, "filters.too_many_days", words.T(ctx, "filters.from_to", "From", out.From, "To",
				out.To))
			out.From = ""
		}
	}
	if out.Period == "" && out.From == "" {
		out.Period = usualSpan
	}
	if out.Period != "" {
		out.From, out.To = listing.Search{Period: out.Period}.Days(zone, now)
	}
	out.Wrong = s.Wrong
	return out
}

// countDays counts the days of the span.
func (s span) countDays() int {
	return int(clock.FindDayStart(s.To, time.UTC, 1).Sub(clock.FindDayStart(s.From, time.UTC, 0)) / (24 * time.Hour))
}

// countedPeriod returns the span as it is counted.
func (s span) countedPeriod(zone *time.Location) stats.Period {
	return stats.Period{From: s.From, To: s.To, Zone: zone.String()}
}

// previousPeriod returns the period of as many days that ends where the span begins.
func (s span) previousPeriod(zone *time.Location) stats.Period {
	day := func(from string, on int) string { return clock.FindDayStart(from, time.UTC, on).Format(time.DateOnly) }
	return stats.Period{From: day(s.From, -s.countDays()), To: day(s.From, -1), Zone: zone.String()}
}

// overviewPath returns the overview of this span.
func (s span) overviewPath() string {
	asked := map[string]string{"currency": s.Currency}
	if s.Period == "" {
		asked["from"], asked["to"] = s.From, s.To
	} else if s.Period != usualSpan {
		asked["period"] = s.Period
	}
	return listing.MakeHref(overviewPath, asked)
}

// statementPath returns the statement of the span's days.
func (s span) statementPath() string { return statementPath(s.From, s.To) }

// statementPath returns the statement of some days.
func statementPath(from, to string) string {
	return "/dashboard/statements?" + url.Values{"from": {from}, "to": {to}}.Encode()
}

// paymentSearch returns the list of the payments that a figure of the span counts.
func (s span) paymentSearch() listing.Search {
	if s.Period != "" {
		return listing.Search{Period: s.Period}
	}
	return listing.Search{From: s.From, To: s.To}
}

// text is a range of days as people write it.
func daysText(ctx context.Context, from, to string) string {
	first, last := clock.FindDayStart(from, time.UTC, 0), clock.FindDayStart(to, time.UTC, 0)
	switch {
	case from == to:
		return words.FormatTime(ctx, last, "2 Jan 2006")
	case first.Year() != last.Year():
		return words.FormatTime(ctx, first, "2 Jan 2006") + " – " + words.FormatTime(ctx, last, "2 Jan 2006")
	case first.Month() == last.Month():
		return words.FormatTime(ctx, first, "2") + " – " + words.FormatTime(ctx, last, "2 Jan 2006")
	}
	return words.FormatTime(ctx, first, "2 Jan") + " – " + words.FormatTime(ctx, last, "2 Jan 2006")
}
