package listing

import (
	"context"
	"slices"

	"cointill/views/dashboard"
	"cointill/views/words"
)

// columns are what the list may show beside state and reference.
var columns = []struct {
	value, word string
	usual       bool
}{
	{"business", "payments.column_business", true}, {"customer", "payments.column_customer", true},
	{"email", "payments.column_email", false}, {"method", "payments.column_method", true},
	{"fiat", "payments.column_fiat", true}, {"coin", "payments.column_coin", true},
	{"paid", "payments.column_paid", false}, {"created", "payments.column_created", true},
	{"settled", "payments.column_settled", false},
}

func usualColumns() (list []string) {
	for _, column := range columns {
		if column.usual {
			list = append(list, column.value)
		}
	}
	return list
}

// ShownColumns are the columns of the list.
func (s Search) ShownColumns() dashboard.Columns {
	chosen := s.Columns
	if len(chosen) == 0 {
		chosen = usualColumns()
	}
	on := func(name string) bool { return slices.Contains(chosen, name) }
	return dashboard.Columns{Business: on("business"), Customer: on("customer"), Email: on("email"),
		Method: on("method"), Fiat: on("fiat"),
		Coin: on("coin"), Paid: on("paid"), Created: on("created"), Settled: on("settled")}
}

// ColumnChoices are the columns as ticks.
func (s Search) ColumnChoices(ctx context.Context) (list []dashboard.Tick) {
	for _, column := range columns {
		on := column.usual
		if len(s.Columns) > 0 {
			on = slices.Contains(s.Columns, column.value)
		}
		list = append(list, dashboard.Tick{Value: column.value, Label: words.T(ctx, column.word), On: on})
	}
	return list
}
