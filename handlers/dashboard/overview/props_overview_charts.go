package overview

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/stats"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// weekly is how many days a chart has at most a bar for each; a bar is a week beyond.
const weekly = 92

// volumeChart has a bar for each day, also for those without a payment; for long
// spans one for each week.
func volumeChart(ctx context.Context, f stats.Figures, asked span, currency money.Currency) ui.DayChartProps {
	step, title, head := 1, "overview.chart_by_day", "overview.day"
	if asked.countDays() > weekly {
		step, title, head = 7, "overview.chart_by_week", "overview.week_from"
	}
	type bar struct{ received, paid, all int64 }
	bars := make([]bar, (asked.countDays()+step-1)/step)
	first := listing.Midnight(asked.From, time.UTC, 0)
	for _, c := range f.Days {
		n := int(listing.Midnight(c.Day, time.UTC, 0).Sub(first)/(24*time.Hour)) / step
		if c.Currency != string(currency) || n < 0 || n >= len(bars) {
			continue
		}
		bars[n].all += c.Count
		if c.Status == string(payment.Successful) {
			bars[n].received += c.Amount
			bars[n].paid += c.Count
		}
	}
	best := slices.MaxFunc(bars, func(a, b bar) int { return cmp.Compare(a.received, b.received) }).received
	top := axisCeiling(best)
	props := ui.DayChartProps{
		Title: words.T(ctx, title, "Currency", string(currency), "Days", daysText(asked.From, asked.To), "Best",
			display.FormatWhole(currency, best)),
		LabelHead: words.T(ctx, head), ValueHead: words.T(ctx, "overview.received"),
		NoteHead: words.T(ctx, "overview.successful"),
		Top:      formatCompact(currency, top), Middle: formatCompact(currency, top/2),
	}
	for i, b := range bars {
		day := first.AddDate(0, 0, i*step)
		shown := ui.DayBar{Label: day.Format("Mon 2 Jan"), Mark: day.Format("2 Jan"),
			Text: display.FormatWhole(currency, b.received), Note: words.T(ctx, "overview.paid_of", "Paid",
				ui.FormatThousands(b.paid), "All", ui.FormatThousands(b.all))}
		if top > 0 {
			shown.Permille = int(b.received * 1000 / top)
		}
		props.Bars = append(props.Bars, shown)
	}
	return props
}

// axisCeiling returns the least of 1, 2 or 5 times a power of ten that is not below n, from 10 on.
func axisCeiling(n int64) int64 {
	if n <= 0 {
		return 0
	}
	for power := int64(10); ; power *= 10 {
		for _, factor := range []int64{1, 2, 5} {
			if factor*power >= n {
				return factor * power
			}
		}
	}
}

// formatCompact writes an amount for an axis: 500k, 2.5M.
func formatCompact(currency money.Currency, n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "B"}, {1_000_000, "M"}, {1_000, "k"}} {
		if n < unit.size {
			continue
		}
		text := strconv.FormatInt(n/unit.size, 10)
		if tenths := n % unit.size * 10 / unit.size; tenths > 0 {
			text += "." + strconv.FormatInt(tenths, 10)
		}
		return currency.Sign() + text + unit.name
	}
	return currency.Sign() + strconv.FormatInt(n, 10)
}

// coinShares returns the amounts received by coin, the largest first.
func coinShares(ctx context.Context, f stats.Figures, asked span, currency money.Currency) (list []dashboard.Share) {
	sums, all := map[money.Method]amountOf{}, int64(0)
	for _, c := range f.Coins {
		if c.Currency == string(currency) && c.Status == string(payment.Successful) {
			sum := sums[money.Method(c.Method)]
			sums[money.Method(c.Method)] = amountOf{sum.count + c.Count, sum.amount + c.Amount}
			all += c.Amount
		}
	}
	coins := money.Coins()
	slices.SortStableFunc(coins,
		func(a, b money.CoinInfo) int { return cmp.Compare(sums[b.Method].amount, sums[a.Method].amount) })
	for _, coin := range coins {
		sum := sums[coin.Method]
		if sum.count == 0 {
			continue
		}
		where := asked.paymentSearch()
		where.Method, where.Currency, where.States = string(coin.Method), string(currency),
			[]string{string(payment.Successful)}
		list = append(list, dashboard.Share{Coin: string(coin.Coin), Text: coin.Name, Href: where.Href(),
			Value: display.FormatWhole(currency, sum.amount),
			Note:  words.N(ctx, "payments.counted", int(sum.count)), Percent: display.FormatShare(sum.amount, all),
			Permille: int(sum.amount * 1000 / max(all, 1))})
	}
	return list
}

// stateShares are how many payments stand in each state. Reversed ones are
// successful, as everywhere.
func stateShares(ctx context.Context, t totals, asked span) (list []dashboard.Share) {
	for _, state := range payment.States() {
		n := t.states[string(state)]
		if state == payment.Successful {
			n += t.states[stats.Reversed]
		}
		if n == 0 {
			continue
		}
		where := asked.paymentSearch()
		where.States = []string{string(state)}
		list = append(list, dashboard.Share{State: string(state), Text: ui.StateWord(ctx, string(state)),
			Href: where.Href(), Value: ui.FormatThousands(n),
			Percent: display.FormatShare(n, t.count), Permille: int(n * 1000 / max(t.count, 1))})
	}
	return list
}
