package dashboard

import (
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// overviewDays is how many days the overview looks back, today included.
const overviewDays = 30

// setUp is how far a new business has come.
type setUp struct {
	Keys, Webhooks int
	Started, Paid  bool
}

// overviewFacts is what the overview is made of.
type overviewFacts struct {
	Summary payment.Summary
	Recent  []models.Payment
	// Off are the webhooks that Cointill switched off, by name.
	Off []string
	// Unpriced tells why coins that are on have no price, by coin.
	Unpriced map[money.Coin]string
	SetUp    setUp
	Now      time.Time
	Scope    scope.Scope
}

// overviewProps is the first page after signing in.
func overviewProps(page layout.Page, f overviewFacts, zone *time.Location) dashboard.OverviewProps {
	sum := f.Summary
	props := dashboard.OverviewProps{
		Page: page, Period: "The last " + strconv.Itoa(overviewDays) + " days, by day in UTC.", Volumes: volumes(sum.Volume),
		Payments: strconv.FormatInt(sum.Count, 10), SuccessRate: rate(sum.Successful, sum.Ended),
		NeedAttention: strconv.FormatInt(sum.Declined+sum.Unmatched+sum.Reversed, 10), PaymentsNote: strconv.FormatInt(sum.Ended, 10) + " finished",
		SuccessNote: strconv.FormatInt(sum.Successful, 10) + " of " + strconv.FormatInt(sum.Ended, 10) + " finished",
		Chart:       chart(sum.Days, f.Now), Attention: attention(f), Recent: paymentRows(f.Recent, zone),
	}
	if f.Scope.Domain == scope.Test && !f.SetUp.Paid {
		props.Checklist = checklist(f)
	}
	return props
}

// since is where the overview begins: midnight in UTC, so that its days are whole.
func since(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-overviewDays)
}

func volumes(sums map[money.Currency]int64) (list []string) {
	for _, currency := range money.Currencies() {
		if sum := sums[currency]; sum > 0 {
			list = append(list, currency.Show(decimal.NewFromInt(sum)))
		}
	}
	return list
}

// rate is a share in whole percent, rounded down: 100 % means all.
func rate(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatInt(part*100/whole, 10) + " %"
}

// chart has a bar for each day, also for those without a payment.
func chart(days []payment.Day, now time.Time) ui.BarChartProps {
	counts, most := map[string]payment.Day{}, int64(0)
	for _, day := range days {
		counts[day.Date] = day
		most = max(most, day.Successful)
	}
	props := ui.BarChartProps{
		Title: "Successful payments by day", LabelHead: "Day", ValueHead: "Successful",
		MaxText: ui.Count(int(most), "payment", "payments") + " on the best day",
	}
	for at := since(now); !at.After(now); at = at.AddDate(0, 0, 1) {
		day := counts[at.Format(time.DateOnly)]
		props.Bars = append(props.Bars, ui.Bar{
			Label: at.Format("2 Jan"), Text: strconv.FormatInt(day.Successful, 10) + " of " + strconv.FormatInt(day.Count, 10), Value: float64(day.Successful),
		})
	}
	return props
}

func attention(f overviewFacts) (list []dashboard.Attention) {
	if n := int(f.Summary.Reversed); n > 0 {
		list = append(list, dashboard.Attention{Tone: ui.Bad, Title: ui.Count(n, "reversed payment", "reversed payments"),
			Text: "The network took the money back after it was final.", Href: search{Status: string(payment.Successful)}.href()})
	}
	if n := int(f.Summary.Declined); n > 0 {
		list = append(list, dashboard.Attention{Tone: ui.Warn, Title: ui.Count(n, "declined payment", "declined payments"),
			Text: "Money came, but not as asked: look at each and decide.", Href: search{Status: string(payment.Declined)}.href()})
	}
	if n := int(f.Summary.Unmatched); n > 0 {
		list = append(list, dashboard.Attention{Tone: ui.Warn, Title: ui.Count(n, "unmatched transfer", "unmatched transfers"),
			Text: "Money came that credits no payment: see what it is, and from where.", Href: unmatchedPath})
	}
	for _, coin := range money.Coins() {
		if why := f.Unpriced[coin.Coin]; why != "" {
			list = append(list, dashboard.Attention{Tone: ui.Bad, Title: "No price for " + coin.Name, Text: why, Href: ratesPath})
		}
	}
	for _, name := range f.Off {
		list = append(list, dashboard.Attention{Tone: ui.Bad, Title: "Webhook “" + name + "” was switched off",
			Text: "Its server did not take events. Mend it, then switch it on again.", Href: "/dashboard/webhooks"})
	}
	return list
}

// checklist leads a new business to its first paid test. Steps that the role
// may not take are left out.
func checklist(f overviewFacts) (steps []dashboard.CheckStep) {
	if f.Scope.Allows(scope.ManageKeys) {
		steps = append(steps, dashboard.CheckStep{Done: f.SetUp.Keys > 0, Title: "Make a test key",
			Text: "Your server calls the API with it. The page shows a command that works at once.", Action: "/dashboard/keys", ActionText: "Make a key"})
	}
	if f.Scope.Allows(scope.ManageLinks) {
		steps = append(steps, dashboard.CheckStep{Done: f.SetUp.Started, Title: "Start a test payment",
			Text: "With the API, or with a payment link and no code at all.", Action: "/dashboard/links/new", ActionText: "New payment link"})
	}
	steps = append(steps, dashboard.CheckStep{Done: false, Title: "Pay it in the sandbox",
		Text: "Open the payment page and let the sandbox play the wallet.", Action: "/dashboard/payments", ActionText: "Transactions"})
	if f.Scope.Allows(scope.ManageWebhooks) {
		steps = append(steps, dashboard.CheckStep{Done: f.SetUp.Webhooks > 0, Title: "Let your server hear about it",
			Text: "A webhook tells it of every change, signed.", Action: "/dashboard/webhooks/new", ActionText: "Add an endpoint"})
	}
	return steps
}
