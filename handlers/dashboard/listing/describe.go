package listing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// StateTicks are the states as ticks.
func (s Search) StateTicks(ctx context.Context) (list []dashboard.Tick) {
	for _, state := range payment.States() {
		list = append(list, dashboard.Tick{Value: string(state), Label: ui.StateWord(ctx, string(state)),
			On: slices.Contains(s.States, string(state))})
	}
	return list
}

// DescribeFilters are the active filters, each with the way to the list without it.
func (s Search) DescribeFilters(ctx context.Context) (list []dashboard.Chip) {
	add := func(text string, change func(*Search)) {
		without := s.FirstPage()
		without.States = slices.Clone(s.States)
		change(&without)
		list = append(list, dashboard.Chip{Text: text, RemoveHref: without.Href()})
	}
	if s.Query != "" {
		add(s.Query, func(w *Search) { w.Query = "" })
	}
	if n := len(s.References); n > 0 {
		add(words.N(ctx, "payments.chip_ticked", n), func(w *Search) { w.References = nil })
	}
	for _, state := range s.States {
		add(words.T(ctx, "payments.chip_status", "Status", ui.StateWord(ctx, state)), func(w *Search) {
			w.States = slices.DeleteFunc(w.States, func(other string) bool { return other == state })
		})
	}
	if s.Need != "" {
		add(words.T(ctx, needWords[s.Need]), func(w *Search) { w.Need = "" })
	}
	if s.Method != "" {
		add(words.T(ctx, "payments.chip_method", "Method", MethodName(s.Method)), func(w *Search) { w.Method = "" })
	}
	if s.Network != "" {
		add(words.T(ctx, "payments.chip_network", "Network", money.Chain(s.Network).Label()),
			func(w *Search) { w.Network = "" })
	}
	if s.Currency != "" {
		add(words.T(ctx, "payments.chip_currency", "Currency", s.Currency), func(w *Search) { w.Currency = "" })
	}
	if text := s.DescribeDays(ctx); text != "" {
		add(words.T(ctx, "payments.chip_created", "Days", text), func(w *Search) {
			w.Period, w.From, w.To = "", "",
				""
		})
	}
	if text := describeRange(ctx, s.BookedFrom, s.BookedTo); text != "" {
		add(words.T(ctx, "payments.chip_booked", "Days", text), func(w *Search) { w.BookedFrom, w.BookedTo = "", "" })
	}
	if text := s.describeAmounts(ctx); text != "" {
		add(words.T(ctx, "payments.chip_amount", "Amount", text), func(w *Search) { w.Least, w.Most = 0, 0 })
	}
	return list
}

// needWords are the messages that say what a payment waits for.
var needWords = map[list.Need]string{list.NeedDecision: "payments.need_decision", list.NeedLook: "payments.need_look"}

// DescribeDays is the range of days in words.
func (s Search) DescribeDays(ctx context.Context) string {
	for _, period := range periods {
		if period.value == s.Period {
			return words.T(ctx, period.chip)
		}
	}
	return describeRange(ctx, s.From, s.To)
}

// describeRange is a range of days in words; "" without one.
func describeRange(ctx context.Context, from, to string) string {
	switch {
	case from != "" && from == to:
		return dayText(ctx, from)
	case from != "" && to != "":
		return words.T(ctx, "filters.from_to", "From", dayText(ctx, from), "To", dayText(ctx, to))
	case from != "":
		return words.T(ctx, "filters.from_day", "Day", dayText(ctx, from))
	case to != "":
		return words.T(ctx, "filters.up_to_day", "Day", dayText(ctx, to))
	}
	return ""
}

func dayText(ctx context.Context, day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return words.FormatTime(ctx, at, "2 Jan 2006")
}

// describeAmounts is the range of amounts in words.
func (s Search) describeAmounts(ctx context.Context) string {
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

// MethodName is a payment method in words.
func MethodName(code string) string {
	if info, ok := money.Method(code).Info(); ok {
		return info.Name
	}
	return strings.TrimPrefix(code, "crypto_")
}

// MethodOptions are the payment methods as choices.
func MethodOptions() (list []ui.Option) {
	for _, info := range money.Coins() {
		list = append(list, ui.Option{Value: string(info.Method), Label: info.Name + " (" + string(info.Coin) + ")"})
	}
	return list
}

// NetworkOptions are the networks as choices.
func NetworkOptions() (list []ui.Option) {
	for _, code := range money.ListNetworks() {
		list = append(list, ui.Option{Value: string(code), Label: code.Label()})
	}
	return list
}
