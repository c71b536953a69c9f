package views_test

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// listPage is the list of payments as it is at first.
func listPage() dashboard.PaymentsProps {
	p := dashboard.PaymentsProps{Page: shell("Transactions", "payments"), Methods: methods, Periods: []ui.Option{{Value: "today", Label: "Today"}, {Value: "last_month", Label: "Last month"}},
		Columns: dashboard.Columns{Business: true, Customer: true, Method: true, Fiat: true, Coin: true, Created: true}, Rows: rows(), Filters: dashboard.Filters{Size: "25"},
		Zone: "Africa/Lagos", ClearHref: "/dashboard/payments", FirstHref: "/dashboard/payments", ExportHref: "/dashboard/payments/export", News: "3 new payments – show", ResendHref: "/dashboard/payments/resend",
		Pager:   ui.PagerProps{Shown: "8 payments", Next: "/dashboard/payments?older=x"},
		States:  []dashboard.Tick{{Value: "pending", Label: "Pending"}, {Value: "declined", Label: "Declined", On: true}},
		Choices: []dashboard.Tick{{Value: "business", Label: "Business reference", On: true}, {Value: "email", Label: "E-mail"}}}
	for i := range p.Rows {
		p.Rows[i].Method = []string{"Bitcoin", "Tether USD", "XRP", "Ether", "Dogecoin"}[i%5]
		if i < 3 {
			p.Rows[i].PaidFiat, p.Rows[i].PaidCoin, p.Rows[i].Settled = p.Rows[i].Fiat, p.Rows[i].Coin, now
		}
	}
	return p
}

// paymentPages are the list of payments and its export, in every state.
func paymentPages(live layout.Page) map[string]templ.Component {
	chips := []dashboard.Chip{{Text: "order-99", RemoveHref: "/dashboard/payments?status=declined"}, {Text: "Status: Declined", RemoveHref: "/dashboard/payments?q=order-99"}, {Text: "Created: 1 Mar 2026 to 31 Mar 2026", RemoveHref: "/dashboard/payments"}, {Text: "Amount: at least 45300", RemoveHref: "/dashboard/payments"}}
	every := listPage()
	every.Columns = dashboard.Columns{Business: true, Customer: true, Email: true, Method: true, Fiat: true, Coin: true, Paid: true, Created: true, Settled: true}
	every.Pager = ui.PagerProps{Shown: "8 payments", First: "/dashboard/payments", Prev: "/dashboard/payments?newer=x", Next: "/dashboard/payments?older=x"}
	least := listPage()
	least.Columns = dashboard.Columns{Fiat: true}
	least.Totals.TooMany = "More than 5,000 transactions match. Choose fewer days to see their sums."
	filtered := listPage()
	filtered.SaveQuery = "status=declined"
	filtered.Views = []dashboard.SavedView{{ID: "1", Name: "To refund",
		Href: "/dashboard/payments?need=decision"}, {ID: "2", Name: "Last month in naira",
		Href: "/dashboard/payments?currency=NGN&period=last_month"}}
	every.Views = []dashboard.SavedView{{ID: "1", Name: "To refund", Href: "/dashboard/payments?need=decision",
		On: true}, {ID: "3", Name: strings.Repeat("Long name ", 4), Href: "/dashboard/payments?status=failed"}}
	filtered.Totals = dashboard.Totals{Payments: "1,204", Successful: []string{"987"}, Refunded: []string{"₦20,000.00"}, Due: []string{"₦4,173,500.00", "GH₵21,310.00"}, Received: []string{"₦3,148,500.00", "GH₵20,114.90"}}
	filtered.Chips, filtered.Filters = chips, dashboard.Filters{Query: "order-99", Method: "crypto_ripple", From: "2026-03-01", To: "2026-03-31", BookedFrom: "2026-03-01", BookedTo: "2026-03-31", Least: "45300", Size: "50"}
	none := filtered
	none.Rows = nil
	hostile := listPage()
	hostile.Wrong = []string{"There is no status “<script>alert(1)</script>”.", "This is not a date: “2026-13-01”.", "No page starts at “PAY_GONE”."}
	long := strings.Repeat("W", 100)
	hostile.Rows = slices.Clone(hostile.Rows)
	hostile.Rows[0].Customer, hostile.Rows[0].Email, hostile.Rows[0].BusinessReference = long+" \u202e"+long, long+"@example.com", "=HYPERLINK"+long
	empty, emptyLive := listPage(), listPage()
	empty.Rows, emptyLive.Rows, emptyLive.Page = nil, nil, live
	every.Carried = []dashboard.HiddenField{{Name: "currency", Value: "NGN"}}
	resend := dashboard.PaymentsResendProps{Page: shell("Resend events", "payments"), Payments: "3 payments",
		Planned: "At most 9 events for 2 endpoints.", Possible: true, BackHref: "/dashboard/payments",
		Action: "/dashboard/payments/resend?ref=PAY_1", Chips: []dashboard.Chip{{Text: "3 ticked payments"}},
		Form: ui.Form{Values: map[string]string{"failed": "true"}}}
	refused, unticked := resend, resend
	refused.Possible, refused.Form = false, ui.Form{Errors: map[string][]string{"": {"No active webhook would " +
		"receive this. Register one, switch one on, or have it receive the type."}}}
	unticked.Possible, unticked.Chips, unticked.Wrong = false, nil, []string{"No row is ticked."}
	here := listPage()
	here.Page = live
	export := dashboard.ExportProps{Page: shell("Export transactions", "payments"), Count: 1203, Zone: "Africa/Lagos", BackHref: "/dashboard/payments", CSVHref: "/dashboard/payments/export.csv", XLSXHref: "/dashboard/payments/export.xlsx", Most: 1_048_575}
	many, nothing, unread := export, export, export
	many.Count, many.TooMany, many.Chips = 1_203_442, true, chips
	nothing.Count, unread.Wrong = 0, hostile.Wrong
	return map[string]templ.Component{
		"payments": dashboard.Payments(listPage()), "payments-all-columns": dashboard.Payments(every), "payments-few-columns": dashboard.Payments(least),
		"payments-chips": dashboard.Payments(filtered), "payments-none": dashboard.Payments(none), "payments-hostile": dashboard.Payments(hostile),
		"payments-empty": dashboard.Payments(empty), "payments-empty-live": dashboard.Payments(emptyLive), "payments-live": dashboard.Payments(here),
		"payments-resend": dashboard.PaymentsResend(resend), "payments-resend-refused": dashboard.PaymentsResend(refused),
		"payments-resend-unticked": dashboard.PaymentsResend(unticked),
		"export":                   dashboard.Export(export), "export-too-many": dashboard.Export(many),
		"export-nothing": dashboard.Export(nothing), "export-unread": dashboard.Export(unread),
	}
}
