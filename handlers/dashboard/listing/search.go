// Package listing reads what a list is asked for from its address, says it in words, and
// links to the list's other pages.
package listing

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/handlers/page"
	"cointill/views/words"
)

// ReadRequest reads the search from the address of a request.
func ReadRequest(c *page.Ctx) Search { return ReadSearch(c.UserContext(), page.ReadQuery(c)) }

// PaymentsPath is the list of payments.
const PaymentsPath = "/dashboard/payments"

// PageSize is how many rows a page of a list has.
const PageSize = 25

// pageSizes are how many rows a page of payments may have.
var pageSizes = []int{PageSize, 50, 100}

// Search is what the list of payments was asked for: its address, and nothing
// else, says it.
type Search struct {
	Query            string
	States           []string
	Method, Currency string
	Network          string // its code
	Need             list.Need
	Period           string // one of periods; "" is any time, or From and To
	From, To         string // days, 2006-01-02, both included
	// BookedFrom and BookedTo are the days booked, both included.
	BookedFrom, BookedTo string
	Least, Most          int64    // 0: no bound
	References           []string // that were ticked
	Columns              []string
	Size                 int
	Older, Newer         string // begins after, or ends before, the payment of this reference
	// Wrong says what in the address could not be read and was left out.
	Wrong []string
}

// ReadSearch reads a search from an address. What no list can be asked for is
// left out and named, for a filter that silently isn't there shows wrong sums.
func ReadSearch(ctx context.Context, values url.Values) Search {
	s := Search{Query: page.CleanText(values.Get("q")), Size: PageSize}
	if s.ReadOne(ctx, values, "q", "filters.long_text", func(v string) bool { return len([]rune(v)) <= 256 }) == "" {
		s.Query = ""
	}
	for _, state := range values["status"] {
		switch {
		case state == "" || slices.Contains(s.States, state):
		case payment.State(state).Known():
			s.States = append(s.States, state)
		default:
			s.ReportUnreadable(ctx, "filters.no_status", state)
		}
	}
	s.Method = s.ReadOne(ctx, values, "method", "filters.no_method",
		func(v string) bool { return knownMethod(money.Method(v)) })
	s.Network = s.ReadOne(ctx, values, "network", "filters.no_network",
		func(v string) bool { return slices.Contains(money.ListNetworks(), money.Chain(v)) })
	s.Need = list.Need(s.ReadOne(ctx, values, "need", "filters.no_need",
		func(v string) bool { return needWords[list.Need(v)] != "" }))
	s.Currency = s.ReadOne(ctx, values, "currency", "filters.no_currency",
		func(v string) bool { return money.Currency(v).IsKnown() })
	s.Period = s.ReadOne(ctx, values, "period", "filters.no_period", func(v string) bool { return isPeriod(v) })
	s.BookedFrom, s.BookedTo = s.readDays(ctx, values, "booked_from", "booked_to")
	if s.Period == "" {
		s.From, s.To = s.readDays(ctx, values, "from", "to")
	} else if days := values.Get("from") + values.Get("to"); days != "" {
		s.ReportUnreadable(ctx, "filters.days_and_period", days)
	}
	s.Least, s.Most = s.readAmount(ctx, values, "min"), s.readAmount(ctx, values, "max")
	if s.Most > 0 && s.Least > s.Most {
		s.ReportUnreadable(ctx, "filters.amounts_reversed", words.T(ctx, "filters.least_and_most", "Least",
			values.Get("min"), "Most", values.Get("max")))
		s.Least, s.Most = 0, 0
	}
	for _, column := range columns {
		if slices.Contains(values["col"], column.value) {
			s.Columns = append(s.Columns, column.value)
		}
	}
	if size, _ := strconv.Atoi(values.Get("size")); slices.Contains(pageSizes, size) {
		s.Size = size
	}
	if values.Get("ticked") != "" && len(values["ref"]) == 0 {
		s.ReportUnreadable(ctx, "filters.none_ticked", "")
	}
	isReference := func(v string) bool { return strings.HasPrefix(v, "PAY_") && len(v) < 64 }
	for _, ticked := range values["ref"] {
		switch {
		case !isReference(page.CleanText(ticked)) || len(s.References) == list.MaxReferences:
			s.ReportUnreadable(ctx, "filters.no_ticked", ticked)
		case !slices.Contains(s.References, ticked):
			s.References = append(s.References, ticked)
		}
	}
	s.Older = s.ReadOne(ctx, values, "older", "filters.no_page_begins", isReference)
	s.Newer = s.ReadOne(ctx, values, "newer", "filters.no_page_ends", isReference)
	return s
}

// ReportUnreadable notes an unreadable value, without characters that would change the
// direction of the text around it.
func (s *Search) ReportUnreadable(ctx context.Context, id, value string) {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, page.CleanText(value))
	if runes := []rune(seen); len(s.Wrong) < 5 {
		s.Wrong = append(s.Wrong, words.T(ctx, id, "Value", string(runes[:min(len(runes), 60)])))
	}
}

func (s *Search) ReadOne(ctx context.Context, values url.Values, name, id string, fine func(string) bool) string {
	given := slices.DeleteFunc(slices.Clone(values[name]), func(v string) bool { return v == "" })
	slices.Sort(given)
	given = slices.Compact(given)
	if len(given) == 0 {
		return ""
	}
	switch value := given[0]; {
	case len(given) > 1:
		s.ReportUnreadable(ctx, "filters.several", strings.Join(given, ", "))
	case fine(value):
		return value
	default:
		s.ReportUnreadable(ctx, id, value)
	}
	return ""
}

func (s *Search) ReadDay(ctx context.Context, values url.Values, name string) string {
	return s.ReadOne(ctx, values, name, "filters.no_day", func(v string) bool {
		day, err := time.Parse(time.DateOnly, v)
		return err == nil && day.Year() >= 2000 && day.Year() < 3000
	})
}

// readDays reads the first and the last day of a range, both empty where the first is later.
func (s *Search) readDays(ctx context.Context, values url.Values, first, last string) (from, to string) {
	from, to = s.ReadDay(ctx, values, first), s.ReadDay(ctx, values, last)
	if from != "" && to != "" && from > to {
		s.ReportUnreadable(ctx, "filters.days_reversed", words.T(ctx, "filters.from_to", "From", from, "To", to))
		return "", ""
	}
	return from, to
}

// readAmount reads whole units as people write them: 45300, 45,300 or 45 300.
func (s *Search) readAmount(ctx context.Context, values url.Values, name string) (amount int64) {
	s.ReadOne(ctx, values, name, "filters.no_amount", func(v string) bool {
		digits, err := money.StripGroups(v)
		if err != nil {
			return false
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		// at least 0 is everything, at most 0 nothing
		if err == nil && n >= 0 && n <= 1_000_000_000 && (n > 0 || name == "min") {
			amount = n
			return true
		}
		return false
	})
	return amount
}

func knownMethod(method money.Method) bool { _, ok := method.Info(); return ok }

// Filter is the search as core takes it, with its days as they are in the zone, but for its network: that is named by
// the domain.
func (s Search) Filter(zone *time.Location, now time.Time) list.Filter {
	f := list.Filter{Query: s.Query, Method: s.Method, Currency: s.Currency, Need: s.Need, Least: s.Least, Most: s.Most,
		Limit:  s.Size,
		Before: list.Place{Reference: s.Older}, After: list.Place{Reference: s.Newer}}
	if s.Older != "" {
		f.After = list.Place{}
	}
	if s.BookedFrom+s.BookedTo != "" {
		all := journal.AllDays()
		f.Booked = journal.Period{From: cmp.Or(s.BookedFrom, all.From), To: cmp.Or(s.BookedTo, all.To)}
	}
	f.References = s.References
	for _, state := range s.States {
		f.States = append(f.States, payment.State(state))
	}
	from, to := s.Days(zone, now)
	if from != "" {
		begin := clock.FindDayStart(from, zone, 0)
		f.From = &begin
	}
	if to != "" {
		end := clock.FindDayStart(to, zone, 1)
		f.To = &end
	}
	return f
}

// Days are the first and the last day that the search is about; "" is no bound.
func (s Search) Days(zone *time.Location, now time.Time) (from, to string) {
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

// Values are the search as an address carries it.
func (s Search) Values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"q": s.Query, "method": s.Method, "network": s.Network,
		"currency": s.Currency, "need": string(s.Need), "period": s.Period,
		"from": s.From, "to": s.To, "booked_from": s.BookedFrom, "booked_to": s.BookedTo,
		"older": s.Older, "newer": s.Newer} {
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
	if len(s.References) > 0 {
		values["ref"] = s.References
	}
	if len(s.Columns) > 0 && !slices.Equal(s.Columns, usualColumns()) {
		values["col"] = s.Columns
	}
	if s.Size != PageSize && s.Size != 0 {
		values.Set("size", strconv.Itoa(s.Size))
	}
	return values
}

// Href is the address of the list with this search.
func (s Search) Href() string { return s.HrefOf(PaymentsPath) }

// SavedQuery is the query of the list's first page as saved views keep it; "" without a filter. The searched text is
// left out: it mostly names a customer, whose data can be erased.
func (s Search) SavedQuery() string {
	s = s.FirstPage()
	s.Query, s.References = "", nil
	return s.Values().Encode()
}

// ParseQuery reads the search from the query of an address; unreadable parts are left out.
func ParseQuery(ctx context.Context, query string) Search {
	values, _ := url.ParseQuery(query) // it has the readable parts
	return ReadSearch(ctx, values)
}

// HrefOf is the address of a page about this search.
func (s Search) HrefOf(path string) string {
	if values := s.Values(); len(values) > 0 {
		return path + "?" + values.Encode()
	}
	return path
}

// FirstPage is the search from its first page on.
func (s Search) FirstPage() Search {
	s.Older, s.Newer = "", ""
	return s
}
