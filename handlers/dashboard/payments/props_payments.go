package payments

import (
	"context"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// listFacts are what the list of payments shows.
type listFacts struct {
	Found  list.Page
	Newest list.Place
	Totals list.Totals // of the filter; zero without one
	Zone   *time.Location
}

// paymentsProps is the list of payments.
func paymentsProps(ctx context.Context, shell layout.Page, s listing.Search, f listFacts) dashboard.PaymentsProps {
	props := dashboard.PaymentsProps{
		Page: shell, Filters: dashboard.Filters{Query: s.Query, Need: string(s.Need), Method: s.Method,
			Currency: s.Currency, Period: s.Period, From: s.From, To: s.To,
			BookedFrom: s.BookedFrom, BookedTo: s.BookedTo,
			Least: s.FormatBound(s.Least), Most: s.FormatBound(s.Most), Size: strconv.Itoa(s.Size)},
		Methods: listing.MethodOptions(), Periods: listing.PeriodOptions(ctx), States: s.StateTicks(ctx),
		Choices: s.ColumnChoices(ctx), Columns: s.ShownColumns(), Chips: s.DescribeFilters(ctx), Wrong: s.Wrong,
		Rows: display.PaymentRows(ctx, f.Found.Payments, f.Zone), Zone: f.Zone.String(),
		ClearHref: listing.Search{Columns: s.Columns, Size: s.Size}.Href(),
		FirstHref: s.FirstPage().Href(), ExportHref: s.FirstPage().HrefOf(exportPath),
	}
	for i := range props.Rows {
		props.Rows[i].Query = plainList(s).HrefOf("")
	}
	props.Totals = totalsProps(ctx, f.Totals)
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
	news := s.FirstPage()
	news.Columns, news.Size, news.Newer = nil, 0, f.Newest.Reference
	props.NewsHref = news.HrefOf(newsPath)
	return props
}

// totalsProps are the totals of a filter, by currency.
func totalsProps(ctx context.Context, t list.Totals) dashboard.Totals {
	props := dashboard.Totals{Payments: ui.FormatThousands(t.Payments)}
	switch {
	case t.More && len(t.Sums) > 0:
		props.Payments = words.T(ctx, "payments.more_than", "N", ui.FormatThousands(list.TotalsOf))
	case t.More:
		return dashboard.Totals{TooMany: words.T(ctx, "payments.totals_too_many", "N", ui.FormatThousands(list.TotalsOf))}
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
		props.Successful = []string{ui.FormatThousands(successful)}
	}
	return props
}
