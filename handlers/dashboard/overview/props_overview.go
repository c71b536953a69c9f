package overview

import (
	"context"
	"strconv"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/stats"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// setUp is how far a new business has come.
type setUp struct {
	Keys          int
	Started, Paid bool
	// Receives and CanReceive tell of real networks: with something to receive
	// with, and configured at all.
	Receives, CanReceive bool
}

// overviewFacts is what the overview is made of.
type overviewFacts struct {
	Asked       span
	Now, Before stats.Figures
	// Sold and SoldBefore are the sales of both periods.
	Sold, SoldBefore []journal.DaySales
	Waiting          list.Waiting
	Recent           []models.Payment
	Endpoints        []webhook.Endpoint
	Failed           map[string]delivery.Delivery // the last failed delivery of an endpoint that fails
	// Unhealthy and Unpriced tell why methods that are on can't be paid with.
	Unhealthy map[money.Coin]string
	Unpriced  map[money.Coin]string
	NoCoin    bool  // no coin is switched on
	ToApprove int64 // sends that wait for approval, for members with the right to approve
	SetUp     setUp
	Scope     scope.Scope
	Zone      *time.Location
	Yesterday string // the day before today
	// HidesSteps says that the browser hides the steps of setting up.
	HidesSteps bool
}

// overviewProps is the first page after signing in.
func overviewProps(ctx context.Context, shell layout.Page, f overviewFacts) dashboard.OverviewProps {
	now, before := totalsOf(f.Now), totalsOf(f.Before)
	sold, soldBefore := sumSales(f.Sold), sumSales(f.SoldBefore)
	back := f.Asked.previousPeriod(f.Zone)
	props := dashboard.OverviewProps{
		Page: shell, Wrong: f.Asked.Wrong, Days: daysText(ctx, f.Asked.From, f.Asked.To),
		DaysBefore: daysText(ctx, back.From, back.To), Zone: f.Zone.String(),
		From: f.Asked.From, To: f.Asked.To, Own: f.Asked.Period == "", Currency: f.Asked.Currency,
		Volumes: listVolumes(ctx, sold, soldBefore), Payments: countFigure(ctx, now, before),
		Success: successFigure(ctx, now, before), Median: medianFigure(ctx, f.Now, f.Before),
		Attention: listAttention(ctx, f), Checklist: listSteps(ctx, f), ChecklistHidden: f.HidesSteps,
		Recent: display.PaymentRows(ctx, f.Recent, f.Zone),
	}
	if f.NoCoin && f.Scope.Domain == scope.Live && shell.May(page.GoingLivePath) {
		props.GoingLive = page.GoingLivePath
	}
	for _, option := range spans {
		other := f.Asked
		other.Period = option.value
		props.Spans = append(props.Spans, dashboard.Tab{Text: words.T(ctx, option.word), Href: other.overviewPath(),
			On: f.Asked.Period == option.value})
	}
	if now.count > 0 {
		props.States = stateShares(ctx, now, f.Asked)
	}
	if now.ended > 0 {
		props.SuccessChart, props.WaitChart = successChart(ctx, f), waitChart(ctx, f)
	}
	if f.Scope.Allows(scope.SeeBooks) {
		props.StatementHref, props.YesterdayHref = f.Asked.statementPath(), statementPath(f.Yesterday, f.Yesterday)
	}
	chosen := chosenCurrency(sold, f.Asked.Currency)
	if chosen == "" || now.count == 0 && len(f.Sold) == 0 {
		return props
	}
	for _, currency := range money.Currencies() {
		if sold[currency] != nil || currency == chosen {
			other := f.Asked
			other.Currency = string(currency)
			props.Currencies = append(props.Currencies, dashboard.Tab{Text: string(currency), Href: other.overviewPath(),
				On: currency == chosen})
		}
	}
	props.Chart = volumeChart(ctx, f, chosen)
	props.Coins = coinShares(ctx, f.Sold, f.Asked, chosen)
	props.Money, props.MoneySum = moneyRows(f.Sold, chosen)
	return props
}

// received is a number of Successful payments and the sum that they received, in hundredths.
type received struct{ payments, value int64 }

// sumSales adds up the sales in each currency.
func sumSales(list []journal.DaySales) map[money.Currency]*received {
	sums := map[money.Currency]*received{}
	for _, day := range list {
		currency := money.Currency(day.Currency)
		if sums[currency] == nil {
			sums[currency] = &received{}
		}
		sums[currency].payments += day.Payments
		sums[currency].value += day.Received
	}
	return sums
}

// totals are the sums of a period.
type totals struct {
	count, ended, successful int64
	states                   map[string]int64
}

func totalsOf(f stats.Figures) totals {
	t := totals{states: map[string]int64{}}
	for _, c := range f.Days {
		t.count += c.Count
		t.states[c.Status] += c.Count
		switch {
		case c.Status == string(payment.Successful):
			t.successful += c.Count
			t.ended += c.Count
		case c.Status == stats.Reversed || payment.State(c.Status).Final():
			t.ended += c.Count
		}
	}
	return t
}

// chosenCurrency returns the currency of the charts: the requested one, or the one with the
// most payments.
func chosenCurrency(sold map[money.Currency]*received, asked string) (chosen money.Currency) {
	if money.Currency(asked).IsKnown() {
		return money.Currency(asked)
	}
	for _, currency := range money.Currencies() {
		if sold[currency] != nil && (sold[chosen] == nil || sold[currency].payments > sold[chosen].payments) {
			chosen = currency
		}
	}
	return chosen
}

// listVolumes has a line for each currency, as currencies are never added up.
func listVolumes(ctx context.Context, now, before map[money.Currency]*received) (list []dashboard.Figure) {
	for _, currency := range money.Currencies() {
		sum, was := now[currency], before[currency]
		if sum == nil {
			sum = &received{}
		}
		if *sum == (received{}) && was == nil { // nothing, or only money that is held
			continue
		}
		f := dashboard.Figure{Value: display.FormatHundredths(currency, sum.value),
			Change: words.T(ctx, "overview.no_earlier_data")}
		if was != nil {
			f.Change, f.Was = describeChange(ctx, sum.value, was.value), display.FormatHundredths(currency, was.value)
		}
		list = append(list, f)
	}
	return list
}

// describeChange describes how much more or less something is than before, in whole percent; ""
// where that says nothing.
func describeChange(ctx context.Context, now, before int64) string {
	if before <= 0 || now < 0 {
		return ""
	}
	percent := ((max(now, before)-min(now, before))*200/before + 1) / 2 // rounded to the nearest
	if now < before {
		percent = -percent
	}
	switch {
	case percent > 999:
		return words.T(ctx, "overview.tenfold")
	case percent > 0:
		return "+" + strconv.FormatInt(percent, 10) + " %"
	case percent < 0:
		return "−" + strconv.FormatInt(-percent, 10) + " %"
	}
	return "±0 %"
}

func countFigure(ctx context.Context, now, before totals) dashboard.Figure {
	return dashboard.Figure{Value: words.FormatThousands(ctx, now.count), Note: words.T(ctx, "overview.have_ended", "N",
		words.FormatThousands(ctx, now.ended)), Change: describeChange(ctx, now.count, before.count), Was: dropNone(words.FormatThousands(ctx, before.count))}
}

// dropNone leaves out what says nothing of a time before.
func dropNone(text string) string {
	if text == "0" || text == "–" {
		return ""
	}
	return text
}

func successFigure(ctx context.Context, now, before totals) dashboard.Figure {
	f := dashboard.Figure{Value: display.FormatShare(now.successful, now.ended),
		Note: words.T(ctx, "overview.of_ended", "N", words.FormatThousands(ctx, now.ended)),
		Was:  dropNone(display.FormatShare(before.successful, before.ended)), Short: true}
	switch reversed := now.states[stats.Reversed]; {
	case now.ended == 0:
		f.Note = words.T(ctx, "overview.none_ended")
	case reversed > 0:
		f.Note = words.N(ctx, "overview.of_ended_reversed", int(reversed), "Ended", words.FormatThousands(ctx, now.ended))
	}
	if now.ended > 0 && before.ended > 0 {
		switch points := now.successful*100/now.ended - before.successful*100/before.ended; {
		case points > 0:
			f.Change = words.N(ctx, "overview.points_more", int(points))
		case points < 0:
			f.Change = words.N(ctx, "overview.points_less", int(-points))
		default:
			f.Change = words.T(ctx, "overview.unchanged")
		}
	}
	return f
}

func medianFigure(ctx context.Context, now, before stats.Figures) dashboard.Figure {
	took, known := now.MedianTime()
	was, wasKnown := before.MedianTime()
	f := dashboard.Figure{Value: "–", Note: words.T(ctx, "overview.no_successful")}
	if known {
		f.Value, f.Note = formatDuration(ctx, took), words.T(ctx, "overview.half_took_less")
	}
	if wasKnown {
		f.Was = formatDuration(ctx, was)
	}
	if known && wasKnown {
		switch formatDuration(ctx, took) == formatDuration(ctx, was) {
		case true:
			f.Change = words.T(ctx, "overview.unchanged")
		default:
			f.Change = words.T(ctx, "overview.slower", "Time", formatDuration(ctx, (took-was).Abs()))
			if took < was {
				f.Change = words.T(ctx, "overview.faster", "Time", formatDuration(ctx, (took-was).Abs()))
			}
		}
	}
	return f
}

// formatDuration writes a time with its two largest units, as far as a median is known.
func formatDuration(ctx context.Context, d time.Duration) string {
	hours, minutes, seconds := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	text := func(id string, n int) string { return words.T(ctx, id, "N", strconv.Itoa(n)) }
	const h, m, sec = "overview.about_hours", "overview.about_minutes", "overview.about_seconds"
	switch {
	case hours >= 48:
		return text("overview.about_days", hours/24)
	case hours > 0:
		return text(h, hours) + " " + text(m, minutes)
	case minutes >= 10:
		return text(m, (int(d/time.Second)+30)/60)
	case minutes > 0:
		return text(m, minutes) + " " + text(sec, seconds)
	}
	return text(sec, seconds)
}
