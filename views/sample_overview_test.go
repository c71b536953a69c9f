package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// dayChart is a chart of n days, a few of them without anything.
func dayChart(n int) ui.DayChartProps {
	p := ui.DayChartProps{Title: "Received in NGN by day, 23 Oct – 21 Nov 2026; ₦184,000.00 on the best day",
		LabelHead: "Day", ValueHead: "Received", NoteHead: "Successful", BeforeHead: "Previous period",
		Top: "₦200k", Middle: "₦100k",
		Series: []ui.DaySeries{{Name: "Bitcoin", Coin: "BTC"}, {Name: "Ether", Coin: "ETH"}, {Name: "Tether USD",
			Coin: "USDT"}, {Name: "XRP", Coin: "XRP"}, {Name: "Dogecoin", Coin: "DOGE"}}}
	heights := []int{12, 0, 40, 33, 60, 82, 20, 15, 44, 70, 90, 64, 30, 22, 51, 77, 120, 95, 60, 41, 38, 66, 102, 140, 92, 58, 74, 130, 184, 1}
	for i := range n {
		day, height := now.AddDate(0, 0, i-n+1), heights[i%len(heights)]
		p.Bars = append(p.Bars, ui.DayBar{Label: day.Format("Mon 2 Jan"), Mark: day.Format("2 Jan"),
			Text: fmt.Sprintf("₦%d,000.00", height), Note: fmt.Sprintf("%d of %d", height/9, height/8),
			Permille: height * 5, Before: heights[(i+7)%len(heights)] * 4, BeforeText: "₦40,000.00"})
		bar := &p.Bars[i]
		for part := range p.Series {
			bar.Parts = append(bar.Parts, ui.DayPart{Permille: height * (5 - part) / 3,
				Text: fmt.Sprintf("₦%d,000.00", height/5)})
		}
	}
	return p
}

// lowChart is a low chart of n days without parts, whose highest value is top.
func lowChart(n int, title, head string, top int, unit string) ui.DayChartProps {
	p := dayChart(n)
	show := func(value int) string { return fmt.Sprintf("%d\u00a0%s", value, unit) }
	p.Title, p.ValueHead, p.NoteHead, p.Series, p.Low, p.Top, p.Middle = title, head, "", nil, true, show(top), show(top/2)
	for i := range p.Bars {
		p.Bars[i].Parts, p.Bars[i].Text, p.Bars[i].BeforeText = nil, show(p.Bars[i].Permille*top/1000), show(top*88/100)
	}
	return p
}

// overviewPage is the overview of a business that has been busy.
func overviewPage(page layout.Page) dashboard.OverviewProps {
	return dashboard.OverviewProps{
		Page: page, Days: "23 Oct – 21 Nov 2026", DaysBefore: "23 Sep – 22 Oct 2026", Zone: "Africa/Lagos", From: "2026-10-23", To: "2026-11-21",
		Spans: []dashboard.Tab{{Text: "Today", Href: "/dashboard?period=today"}, {Text: "7 days", Href: "/dashboard?period=7d"}, {Text: "30 days", Href: "/dashboard", On: true}, {Text: "90 days", Href: "/dashboard?period=90d"}},
		Volumes: []dashboard.Figure{{Value: "₦128,284,500.00", Change: "+12 %", Was: "₦114,539,732.00"}, {Value: "GH₵3,120.00", Change: "no earlier data"},
			{Value: "KSh 42,000.00", Change: "−8 %", Was: "KSh 45,652.00"}, {Value: "$418.00", Change: "more than 10 times", Was: "$18.00"}},
		Payments:   dashboard.Figure{Value: "1,148", Note: "1,142 completed", Change: "+4 %", Was: "1,104"},
		Success:    dashboard.Figure{Value: "93 %", Note: "of 1,142 completed", Change: "−1 point", Was: "94 %", Short: true},
		Median:     dashboard.Figure{Value: "18\u00a0min", Note: "for successful payments", Change: "2\u00a0min 10\u00a0s faster", Was: "20\u00a0min"},
		Currencies: []dashboard.Tab{{Text: "NGN", Href: "/dashboard", On: true}, {Text: "KES", Href: "/dashboard?currency=KES"}, {Text: "USD", Href: "/dashboard?currency=USD"}},
		Chart:      dayChart(30), SuccessChart: lowChart(30, "Success rate by day, 23 Oct – 21 Nov 2026", "Success rate", 100, "%"),
		WaitChart: lowChart(30, "Median time to confirm by day, 23 Oct – 21 Nov 2026", "Median time to confirm", 40, "min"),
		Coins: []dashboard.Share{{Coin: "USDT", Text: "Tether USD", Href: "/dashboard/payments?method=crypto_tether", Value: "₦71,100,500.00", Note: "612 payments", Percent: "56 %", Permille: 554},
			{Coin: "BTC", Text: "Bitcoin", Href: "/dashboard/payments?method=crypto_bitcoin", Value: "₦48,007,000.00", Note: "301 payments", Percent: "37 %", Permille: 374},
			{Coin: "XRP", Text: "XRP", Href: "/dashboard/payments?method=crypto_ripple", Value: "₦9,177,000.00", Note: "1 payment", Percent: "7 %", Permille: 72}},
		States: []dashboard.Share{{State: "processing", Text: "Processing", Href: "/dashboard/payments?status=processing", Value: "6", Percent: "1 %", Permille: 5},
			{State: "successful", Text: "Successful", Href: "/dashboard/payments?status=successful", Value: "1,062", Percent: "92 %", Permille: 925},
			{State: "declined", Text: "Declined", Href: "/dashboard/payments?status=declined", Value: "21", Percent: "2 %", Permille: 18},
			{State: "expired", Text: "Expired", Href: "/dashboard/payments?status=expired", Value: "59", Percent: "5 %", Permille: 51}},
		Money: []dashboard.MoneyRow{{Coin: "Bitcoin", Received: "₦48,007,000.00", Declined: "₦25,000.00", Unmatched: "₦0.00", Refunded: "₦0.00", Reversed: "₦0.00"},
			{Coin: "Tether USD", Received: "₦71,100,500.00", Declined: "₦118,400.00", Unmatched: "₦2,310.55", Refunded: "₦18,000.00", Reversed: "₦7,500.00"}},
		MoneySum:      dashboard.MoneyRow{Received: "₦119,107,500.00", Declined: "₦143,400.00", Unmatched: "₦2,310.55", Refunded: "₦18,000.00", Reversed: "₦7,500.00"},
		StatementHref: "/dashboard/statements?from=2026-10-23&to=2026-11-21",
		YesterdayHref: "/dashboard/statements?from=2026-11-20&to=2026-11-20",
		Recent:        rows(),
	}
}

// overviewPages are the overview in every state.
func overviewPages(live layout.Page) map[string]templ.Component {
	page := shell("Overview", "overview")
	fresh := dashboard.OverviewProps{Page: page, Days: "23 Oct – 21 Nov 2026", DaysBefore: "23 Sep – 22 Oct 2026", Zone: "Africa/Lagos", From: "2026-10-23", To: "2026-11-21", Spans: overviewPage(page).Spans,
		Payments: dashboard.Figure{Value: "0", Note: "0 completed"}, Success: dashboard.Figure{Value: "–", Note: "none completed yet", Short: true}, Median: dashboard.Figure{Value: "–", Note: "no successful payments"},
		Checklist: []dashboard.CheckStep{{Done: true, Title: "Create a test key", Text: "Your server uses it to call the API. The page shows a command that works at once.", Action: "/dashboard/keys", ActionText: "Create a key"},
			{Title: "Start a test payment", Text: "Use the API, or a payment link without any code.", Action: "/dashboard/links/new", ActionText: "New payment link"},
			{Title: "Pay it in the sandbox", Text: "Open the payment page and simulate a payment.", Action: "/dashboard/payments", ActionText: "Transactions"}}}
	unpayable := fresh
	unpayable.Page, unpayable.Checklist, unpayable.GoingLive = live, nil, "/dashboard/going-live"
	alarmed := overviewPage(live)
	alarmed.Attention = []dashboard.Attention{{Tone: ui.Bad, Title: "Bitcoin payments are unavailable", Text: "The network bitcoin-mainnet is not being followed safely now: it is catching up, at block 870,112 of 870,991.", Href: "/dashboard/methods"},
		{Tone: ui.Warn, Title: "2 declined payments to resolve", Text: "Payments received with the wrong amount or too late. Accept or refund each one.", Href: "/dashboard/payments?need=decision"},
		{Tone: ui.Warn, Title: "2 sends wait for approval", Text: "Compare address and amount before you approve.", Href: "/dashboard/sends?show=approve"},
		{Tone: ui.Warn, Title: "5 webhooks are failing", Text: "No successful delivery to Orders, Stock, Ledger and 2 more.", Href: "/dashboard/webhooks"}}
	own := overviewPage(page)
	own.Own, own.Spans[2].On, own.Days, own.Chart = true, false, "1 Sep 2025 – 31 Aug 2026", dayChart(53)
	own.Wrong = []string{"There is no currency “EUR”."}
	day := overviewPage(page)
	day.Chart, day.Days, day.Coins = dayChart(1), "21 Nov 2026", nil
	return map[string]templ.Component{
		"overview": dashboard.Overview(overviewPage(page)), "overview-new": dashboard.Overview(fresh), "overview-attention": dashboard.Overview(alarmed),
		"overview-no-coin": dashboard.Overview(unpayable), "overview-own-days": dashboard.Overview(own), "overview-one-day": dashboard.Overview(day),
	}
}

// TestEmptyOverviewNamesTheKeyOfItsDomain: without payments, the overview of the live domain asks for a live key.
func TestEmptyOverviewNamesTheKeyOfItsDomain(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]string{"test": "with a test key", "live": "with a live key"} {
		page := shell("Overview", "overview")
		page.Domain = domain
		if body := render(t, dashboard.Overview(dashboard.OverviewProps{Page: page})); !strings.Contains(body, want) {
			t.Errorf("the empty overview of %s doesn't say %q", domain, want)
		}
	}
}
