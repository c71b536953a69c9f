package payments

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// listFacts are what the list of payments shows.
type listFacts struct {
	Found  list.Page
	Newest list.Place
	News   int         // payments that are newer than the page, for the script of an open one
	Summed bool        // whether the totals were asked for: each filter does
	Totals list.Totals // of the filter
	Zone   *time.Location
	Views  []models.SavedView
	Resend bool // the member may send events again
}

// paymentsProps is the list of payments.
func paymentsProps(ctx context.Context, shell layout.Page, s listing.Search, f listFacts) dashboard.PaymentsProps {
	props := dashboard.PaymentsProps{
		Page: shell, Filters: dashboard.Filters{Query: s.Query, Need: string(s.Need), Method: s.Method,
			Network:  s.Network,
			Currency: s.Currency, Period: s.Period, From: s.From, To: s.To,
			BookedFrom: s.BookedFrom, BookedTo: s.BookedTo,
			Least: listing.FormatBound(s.Least), Most: listing.FormatBound(s.Most), Size: strconv.Itoa(s.Size)},
		Methods: listing.MethodOptions(), Networks: listing.NetworkOptions(),
		Periods: listing.PeriodOptions(ctx), States: s.StateTicks(ctx),
		Choices: s.ColumnChoices(ctx), Columns: s.ShownColumns(), Chips: s.DescribeFilters(ctx), Wrong: s.Wrong,
		Rows: display.PaymentRows(ctx, f.Found.Payments, f.Zone), Zone: f.Zone.String(),
		ClearHref: listing.Search{Columns: s.Columns, Size: s.Size}.Href(),
		FirstHref: s.FirstPage().Href(), ExportHref: s.FirstPage().HrefOf(exportPath),
	}
	for i := range props.Rows {
		props.Rows[i].Query = plainList(s).HrefOf("")
	}
	props.Carried = carriedFields(s)
	if f.Resend {
		props.ResendHref = s.FirstPage().HrefOf(resendPath)
	}
	if props.Totals = totalsProps(ctx, f.Totals); !f.Summed && len(props.Rows) > 0 {
		props.Totals.Href = sumsHref(props.FirstHref)
	}
	props.Pager = ui.PagerProps{Shown: words.N(ctx, "payments.counted", len(props.Rows))}
	if rows := props.Rows; len(rows) > 0 {
		first, older, newer := s.FirstPage(), s.FirstPage(), s.FirstPage()
		older.Older, newer.Newer = rows[len(rows)-1].Reference, rows[0].Reference
		if f.Found.Newer {
			props.Pager.First, props.Pager.Prev = first.Href(), newer.Href()
		}
		if f.Found.Older {
			props.Pager.Next = older.Href()
		}
	}
	props.Views = viewProps(f.Views, s)
	if len(props.Chips) > 0 {
		props.SaveQuery = s.SavedQuery()
	}
	props.Since, props.News = f.Newest.Reference, newsText(ctx, f.News)
	return props
}

// carriedFields are the filters of a list beside ticked rows.
func carriedFields(s listing.Search) (fields []dashboard.HiddenField) {
	s = s.FirstPage()
	s.References = nil
	values := s.Values()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			fields = append(fields, dashboard.HiddenField{Name: name, Value: value})
		}
	}
	return fields
}

// sumsHref is the address of a list with its totals.
func sumsHref(list string) string {
	if strings.Contains(list, "?") {
		return list + "&totals=show"
	}
	return list + "?totals=show"
}

// totalsProps are the totals of a filter, by currency.
func totalsProps(ctx context.Context, t list.Totals) dashboard.Totals {
	props := dashboard.Totals{Payments: words.FormatThousands(ctx, t.Payments)}
	switch {
	case t.More && len(t.Sums) > 0:
		props.Payments = words.T(ctx, "payments.more_than", "N", words.FormatThousands(ctx, list.TotalsOf))
	case t.More:
		return dashboard.Totals{TooMany: words.T(ctx, "payments.totals_too_many", "N", words.FormatThousands(ctx, list.TotalsOf))}
	case t.Payments == 0:
		return dashboard.Totals{}
	}
	successful := int64(0)
	for _, currency := range money.Currencies() {
		sums := t.Sums[currency]
		successful += sums.Payments
		if due, has := t.Due[currency]; has {
			props.Due = append(props.Due, display.FormatHundredths(currency, 100*due))
			props.Received = append(props.Received, display.FormatHundredths(currency, sums.Received()))
		}
		for _, figure := range []struct {
			shown *[]string
			value int64
		}{{&props.Held, sums.Declined}, {&props.Refunded, sums.Refunded}, {&props.Reversed, sums.Reversed}} {
			if figure.value != 0 {
				*figure.shown = append(*figure.shown, display.FormatHundredths(currency, figure.value))
			}
		}
	}
	if successful > 0 {
		props.Successful = []string{words.FormatThousands(ctx, successful)}
	}
	return props
}
