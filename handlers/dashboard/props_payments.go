package dashboard

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// periods are the ranges of days that are relative to today, in the order pages show them:
// each has a name for the choice, and one for the chip.
var periods = []struct{ value, word, chip string }{
	{"today", "payments.period_today", "payments.within_today"},
	{"yesterday", "payments.period_yesterday", "payments.within_yesterday"},
	{"7d", "payments.period_last_7d", "payments.within_last_7d"},
	{"30d", "payments.period_last_30d", "payments.within_last_30d"},
	{"90d", "payments.period_last_90d", "payments.within_last_90d"},
	{"month", "payments.period_month", "payments.within_month"},
	{"last_month", "payments.period_last_month", "payments.within_last_month"},
}

func isPeriod(value string) bool {
	for _, period := range periods {
		if period.value == value {
			return true
		}
	}
	return false
}

// periodOptions are the periods as choices.
func periodOptions(ctx context.Context) (list []ui.Option) {
	for _, period := range periods {
		list = append(list, ui.Option{Value: period.value, Label: words.T(ctx, period.word)})
	}
	return list
}

// columns are what the list may show beside state and reference.
var columns = []struct {
	value, word string
	usual       bool
}{
	{"business", "payments.column_business", true}, {"customer", "payments.column_customer", true}, {"email", "payments.column_email", false}, {"method", "payments.column_method", true},
	{"fiat", "payments.column_fiat", true}, {"coin", "payments.column_coin", true}, {"paid", "payments.column_paid", false}, {"created", "payments.column_created", true}, {"settled", "payments.column_settled", false},
}

func usualColumns() (list []string) {
	for _, column := range columns {
		if column.usual {
			list = append(list, column.value)
		}
	}
	return list
}

// shown are the columns of the list.
func (s search) shown() dashboard.Columns {
	chosen := s.Columns
	if len(chosen) == 0 {
		chosen = usualColumns()
	}
	on := func(name string) bool { return slices.Contains(chosen, name) }
	return dashboard.Columns{Business: on("business"), Customer: on("customer"), Email: on("email"), Method: on("method"), Fiat: on("fiat"),
		Coin: on("coin"), Paid: on("paid"), Created: on("created"), Settled: on("settled")}
}

// choices are the columns as ticks.
func (s search) choices(ctx context.Context) (list []dashboard.Tick) {
	for _, column := range columns {
		on := column.usual
		if len(s.Columns) > 0 {
			on = slices.Contains(s.Columns, column.value)
		}
		list = append(list, dashboard.Tick{Value: column.value, Label: words.T(ctx, column.word), On: on})
	}
	return list
}

// stateTicks are the states as ticks.
func (s search) stateTicks(ctx context.Context) (list []dashboard.Tick) {
	for _, state := range payment.States() {
		list = append(list, dashboard.Tick{Value: string(state), Label: ui.StateWord(ctx, string(state)), On: slices.Contains(s.States, string(state))})
	}
	return list
}

// chips are the active filters, each with the way to the list without it.
func (s search) chips(ctx context.Context) (list []dashboard.Chip) {
	add := func(text string, change func(*search)) {
		without := s.first()
		without.States = slices.Clone(s.States)
		change(&without)
		list = append(list, dashboard.Chip{Text: text, RemoveHref: without.href()})
	}
	if s.Query != "" {
		add(s.Query, func(w *search) { w.Query = "" })
	}
	for _, state := range s.States {
		add(words.T(ctx, "payments.chip_status", "Status", ui.StateWord(ctx, state)), func(w *search) {
			w.States = slices.DeleteFunc(w.States, func(other string) bool { return other == state })
		})
	}
	if s.Need != "" {
		add(words.T(ctx, needWords[s.Need]), func(w *search) { w.Need = "" })
	}
	if s.Method != "" {
		add(words.T(ctx, "payments.chip_method", "Method", methodName(s.Method)), func(w *search) { w.Method = "" })
	}
	if s.Currency != "" {
		add(words.T(ctx, "payments.chip_currency", "Currency", s.Currency), func(w *search) { w.Currency = "" })
	}
	if text := s.time(ctx); text != "" {
		add(words.T(ctx, "payments.chip_created", "Days", text), func(w *search) { w.Period, w.From, w.To = "", "", "" })
	}
	if text := s.amounts(ctx); text != "" {
		add(words.T(ctx, "payments.chip_amount", "Amount", text), func(w *search) { w.Least, w.Most = 0, 0 })
	}
	return list
}

// needWords are the messages that say what a payment waits for.
var needWords = map[payment.Need]string{payment.NeedDecision: "payments.need_decision", payment.NeedLook: "payments.need_look"}

// time is the range of days in words.
func (s search) time(ctx context.Context) string {
	for _, period := range periods {
		if period.value == s.Period {
			return words.T(ctx, period.chip)
		}
	}
	switch {
	case s.From != "" && s.From == s.To:
		return dayText(s.From)
	case s.From != "" && s.To != "":
		return words.T(ctx, "filters.from_to", "From", dayText(s.From), "To", dayText(s.To))
	case s.From != "":
		return words.T(ctx, "filters.from_day", "Day", dayText(s.From))
	case s.To != "":
		return words.T(ctx, "filters.up_to_day", "Day", dayText(s.To))
	}
	return ""
}

func dayText(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format("2 Jan 2006")
}

// amounts is the range of amounts in words.
func (s search) amounts(ctx context.Context) string {
	least, most := strconv.FormatInt(s.Least, 10), strconv.FormatInt(s.Most, 10)
	switch {
	case s.Least > 0 && s.Least == s.Most:
		return least
	case s.Least > 0 && s.Most > 0:
		return words.T(ctx, "filters.from_to", "From", least, "To", most)
	case s.Least > 0:
		return words.T(ctx, "payments.amount_at_least", "Amount", least)
	case s.Most > 0:
		return words.T(ctx, "payments.amount_at_most", "Amount", most)
	}
	return ""
}

// methodName is a payment method in words.
func methodName(code string) string {
	if info, ok := money.Method(code).Info(); ok {
		return info.Name
	}
	return strings.TrimPrefix(code, "crypto_")
}

// methodOptions are the payment methods as choices.
func methodOptions() (list []ui.Option) {
	for _, info := range money.Coins() {
		list = append(list, ui.Option{Value: string(info.Method), Label: info.Name + " (" + string(info.Coin) + ")"})
	}
	return list
}

// listFacts are what the list of payments shows.
type listFacts struct {
	Found  payment.Page
	Newest payment.Place
	Zone   *time.Location
}

// paymentsProps is the list of payments.
func paymentsProps(ctx context.Context, shell layout.Page, s search, f listFacts) dashboard.PaymentsProps {
	props := dashboard.PaymentsProps{
		Page: shell, Filters: dashboard.Filters{Query: s.Query, Need: string(s.Need), Method: s.Method, Currency: s.Currency, Period: s.Period, From: s.From, To: s.To,
			Least: s.amountText(s.Least), Most: s.amountText(s.Most), Size: strconv.Itoa(s.Size)},
		Methods: methodOptions(), Periods: periodOptions(ctx), States: s.stateTicks(ctx), Choices: s.choices(ctx), Columns: s.shown(), Chips: s.chips(ctx), Wrong: s.Wrong,
		Rows: paymentRows(ctx, f.Found.Payments, f.Zone), Zone: f.Zone.String(), ClearHref: search{Columns: s.Columns, Size: s.Size}.href(),
		FirstHref: s.first().href(), ExportHref: s.first().at(exportPath),
	}
	props.Pager = ui.PagerProps{Shown: words.N(ctx, "payments.counted", len(props.Rows))}
	if rows := props.Rows; len(rows) > 0 {
		first, older, newer := s.first(), s.first(), s.first()
		older.Older, newer.Newer = rows[len(rows)-1].Reference, rows[0].Reference
		if f.Found.Newer {
			props.Pager.First, props.Pager.Prev = first.href(), newer.href()
		}
		if f.Found.Older {
			props.Pager.Next = older.href()
		}
	}
	news := s.first()
	news.Columns, news.Size, news.Newer = nil, 0, f.Newest.Reference
	props.NewsHref = news.at(newsPath)
	return props
}

func (search) amountText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// pager is the way through a list.
func pager(shown string, later bool, first string, more bool, next string) ui.PagerProps {
	p := ui.PagerProps{Shown: shown}
	if later {
		p.First = first
	}
	if more {
		p.Next = next
	}
	return p
}
