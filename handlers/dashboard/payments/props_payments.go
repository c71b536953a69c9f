package payments

import (
	"context"
	"strconv"
	"time"

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
	Zone   *time.Location
}

// paymentsProps is the list of payments.
func paymentsProps(ctx context.Context, shell layout.Page, s listing.Search, f listFacts) dashboard.PaymentsProps {
	props := dashboard.PaymentsProps{
		Page: shell, Filters: dashboard.Filters{Query: s.Query, Need: string(s.Need), Method: s.Method,
			Currency: s.Currency, Period: s.Period, From: s.From, To: s.To,
			Least: s.FormatBound(s.Least), Most: s.FormatBound(s.Most), Size: strconv.Itoa(s.Size)},
		Methods: listing.MethodOptions(), Periods: listing.PeriodOptions(ctx), States: s.StateTicks(ctx),
		Choices: s.ColumnChoices(ctx), Columns: s.ShownColumns(), Chips: s.DescribeFilters(ctx), Wrong: s.Wrong,
		Rows: display.PaymentRows(ctx, f.Found.Payments, f.Zone), Zone: f.Zone.String(),
		ClearHref: listing.Search{Columns: s.Columns, Size: s.Size}.Href(),
		FirstHref: s.FirstPage().Href(), ExportHref: s.FirstPage().HrefOf(exportPath),
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
	news := s.FirstPage()
	news.Columns, news.Size, news.Newer = nil, 0, f.Newest.Reference
	props.NewsHref = news.HrefOf(newsPath)
	return props
}
