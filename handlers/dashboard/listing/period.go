package listing

import (
	"context"

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

// PeriodOptions are the periods as choices.
func PeriodOptions(ctx context.Context) (list []ui.Option) {
	for _, period := range periods {
		list = append(list, ui.Option{Value: period.value, Label: words.T(ctx, period.word)})
	}
	return list
}
