package dashboard

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/views/words"
)

// paymentsPath is the list of payments.
const paymentsPath = "/dashboard/payments"

// listSize is how many rows a page of a list has.
const listSize = 25

// sizes are how many rows a page of payments may have.
var sizes = []int{listSize, 50, 100}

// search is what the list of payments was asked for: its address, and nothing
// else, says it.
type search struct {
	Query            string
	States           []string
	Method, Currency string
	Need             payment.Need
	Period           string // one of periods; "" is any time, or From and To
	From, To         string // days, 2006-01-02, both included
	Least, Most      int64  // 0: no bound
	Columns          []string
	Size             int
	Older, Newer     string // begins after, or ends before, the payment of this reference
	// Wrong says what in the address could not be read and was left out.
	Wrong []string
}

// readSearch reads a search from an address. What no list can be asked for is
// left out and named, for a filter that silently isn't there shows wrong sums.
func readSearch(ctx context.Context, values url.Values) search {
	s := search{Query: clean(values.Get("q")), Size: listSize}
	if s.oneOf(ctx, values, "q", "filters.long_text", func(v string) bool { return len([]rune(v)) <= 256 }) == "" {
		s.Query = ""
	}
	for _, state := range values["status"] {
		switch {
		case state == "" || slices.Contains(s.States, state):
		case payment.State(state).Known():
			s.States = append(s.States, state)
		default:
			s.wrong(ctx, "filters.no_status", state)
		}
	}
	s.Method = s.oneOf(ctx, values, "method", "filters.no_method", func(v string) bool { return known(money.Method(v)) })
	s.Need = payment.Need(s.oneOf(ctx, values, "need", "filters.no_need", func(v string) bool { return needWords[payment.Need(v)] != "" }))
	s.Currency = s.oneOf(ctx, values, "currency", "filters.no_currency", func(v string) bool { return money.Currency(v).Known() })
	s.Period = s.oneOf(ctx, values, "period", "filters.no_period", func(v string) bool { return isPeriod(v) })
	if s.Period == "" {
		s.From, s.To = s.day(ctx, values, "from"), s.day(ctx, values, "to")
		if s.From != "" && s.To != "" && s.From > s.To {
			s.wrong(ctx, "filters.days_reversed", words.T(ctx, "filters.from_to", "From", s.From, "To", s.To))
			s.From, s.To = "", ""
		}
	} else if days := values.Get("from") + values.Get("to"); days != "" {
		s.wrong(ctx, "filters.days_and_period", days)
	}
	s.Least, s.Most = s.amount(ctx, values, "min"), s.amount(ctx, values, "max")
	if s.Most > 0 && s.Least > s.Most {
		s.wrong(ctx, "filters.amounts_reversed", words.T(ctx, "filters.least_and_most", "Least", values.Get("min"), "Most", values.Get("max")))
		s.Least, s.Most = 0, 0
	}
	for _, column := range columns {
		if slices.Contains(values["col"], column.value) {
			s.Columns = append(s.Columns, column.value)
		}
	}
	if size, _ := strconv.Atoi(values.Get("size")); slices.Contains(sizes, size) {
		s.Size = size
	}
	isReference := func(v string) bool { return strings.HasPrefix(v, "PAY_") && len(v) < 64 }
	s.Older = s.oneOf(ctx, values, "older", "filters.no_page_begins", isReference)
	s.Newer = s.oneOf(ctx, values, "newer", "filters.no_page_ends", isReference)
	return s
}

// wrong notes a value that could not be read, without what would turn the
// direction of the words around it.
func (s *search) wrong(ctx context.Context, id, value string) {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, clean(value))
	if runes := []rune(seen); len(s.Wrong) < 5 {
		s.Wrong = append(s.Wrong, words.T(ctx, id, "Value", string(runes[:min(len(runes), 60)])))
	}
}

func (s *search) oneOf(ctx context.Context, values url.Values, name, id string, fine func(string) bool) string {
	given := slices.DeleteFunc(slices.Clone(values[name]), func(v string) bool { return v == "" })
	slices.Sort(given)
	given = slices.Compact(given)
	if len(given) == 0 {
		return ""
	}
	switch value := given[0]; {
	case len(given) > 1:
		s.wrong(ctx, "filters.several", strings.Join(given, ", "))
	case fine(value):
		return value
	default:
		s.wrong(ctx, id, value)
	}
	return ""
}

func (s *search) day(ctx context.Context, values url.Values, name string) string {
	return s.oneOf(ctx, values, name, "filters.no_day", func(v string) bool {
		day, err := time.Parse(time.DateOnly, v)
		return err == nil && day.Year() >= 2000 && day.Year() < 3000
	})
}

// amount reads whole units as people write them: 45300, 45,300 or 45 300.
func (s *search) amount(ctx context.Context, values url.Values, name string) (amount int64) {
	s.oneOf(ctx, values, name, "filters.no_amount", func(v string) bool {
		digits, err := money.Ungrouped(v)
		if err != nil {
			return false
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && n >= 0 && n <= 1_000_000_000 && (n > 0 || name == "min") { // at least 0 is everything, at most 0 nothing
			amount = n
			return true
		}
		return false
	})
	return amount
}

func known(method money.Method) bool { _, ok := method.Info(); return ok }

// filter is the search as core takes it, with its days as they are in the zone.
func (s search) filter(zone *time.Location, now time.Time) payment.Filter {
	f := payment.Filter{Query: s.Query, Method: s.Method, Currency: s.Currency, Need: s.Need, Least: s.Least, Most: s.Most, Limit: s.Size,
		Before: payment.Place{Reference: s.Older}, After: payment.Place{Reference: s.Newer}}
	if s.Older != "" {
		f.After = payment.Place{}
	}
	for _, state := range s.States {
		f.States = append(f.States, payment.State(state))
	}
	from, to := s.days(zone, now)
	if from != "" {
		begin := midnight(from, zone, 0)
		f.From = &begin
	}
	if to != "" {
		end := midnight(to, zone, 1)
		f.To = &end
	}
	return f
}

// days are the first and the last day that the search is about; "" is no bound.
func (s search) days(zone *time.Location, now time.Time) (from, to string) {
	if s.Period == "" {
		return s.From, s.To
	}
	y, m, d := now.In(zone).Date()
	today := func(on int) string { return time.Date(y, m, d+on, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	first := func(on, months int) string {
		return time.Date(y, m+time.Month(months), 1+on, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	switch s.Period {
	case "today":
		return today(0), today(0)
	case "yesterday":
		return today(-1), today(-1)
	case "7d":
		return today(-6), today(0)
	case "30d":
		return today(-29), today(0)
	case "90d":
		return today(-89), today(0)
	case "month":
		return first(0, 0), today(0)
	}
	return first(0, -1), first(-1, 0)
}

// midnight is when a day begins in a zone, some days on; clocks that are put
// forward at midnight make it the first moment that there is.
func midnight(day string, zone *time.Location, on int) time.Time {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return time.Time{}
	}
	return time.Date(at.Year(), at.Month(), at.Day()+on, 0, 0, 0, 0, zone)
}

// values are the search as an address carries it.
func (s search) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"q": s.Query, "method": s.Method, "currency": s.Currency, "need": string(s.Need), "period": s.Period,
		"from": s.From, "to": s.To, "older": s.Older, "newer": s.Newer} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for name, value := range map[string]int64{"min": s.Least, "max": s.Most} {
		if value > 0 {
			values.Set(name, strconv.FormatInt(value, 10))
		}
	}
	if len(s.States) > 0 {
		values["status"] = s.States
	}
	if len(s.Columns) > 0 && !slices.Equal(s.Columns, usualColumns()) {
		values["col"] = s.Columns
	}
	if s.Size != listSize && s.Size != 0 {
		values.Set("size", strconv.Itoa(s.Size))
	}
	return values
}

// href is the address of the list with this search.
func (s search) href() string { return s.at(paymentsPath) }

// at is the address of a page about this search.
func (s search) at(path string) string {
	if values := s.values(); len(values) > 0 {
		return path + "?" + values.Encode()
	}
	return path
}

// first is the search from its first page on.
func (s search) first() search {
	s.Older, s.Newer = "", ""
	return s
}
