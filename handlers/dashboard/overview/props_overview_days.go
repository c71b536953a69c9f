package overview

import (
	"context"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/stats"
	"cointill/handlers/dashboard/display"
	"cointill/views/ui"
	"cointill/views/words"
)

// weekly is how many days a chart has at most a bar for each; a bar is a week beyond.
const weekly = 92

// dayGrid places the days of a span in the bars of its charts.
type dayGrid struct {
	first   time.Time
	step, n int
}

func newDayGrid(s span, from string) dayGrid {
	step := 1
	if s.countDays() > weekly {
		step = 7
	}
	return dayGrid{first: clock.FindDayStart(from, time.UTC, 0), step: step, n: (s.countDays() + step - 1) / step}
}

// findBar returns the bar that a day is in, or -1.
func (g dayGrid) findBar(day string) int {
	n := int(clock.FindDayStart(day, time.UTC, 0).Sub(g.first)/(24*time.Hour)) / g.step
	if n < 0 || n >= g.n {
		return -1
	}
	return n
}

// pickWord returns the message for bars of days, or the one for bars of weeks.
func (g dayGrid) pickWord(days, weeks string) string {
	if g.step > 1 {
		return weeks
	}
	return days
}

// newChart returns the chart of a span without its amounts and its title.
func newChart(ctx context.Context, f overviewFacts, value string) ui.DayChartProps {
	g := newDayGrid(f.Asked, f.Asked.From)
	p := ui.DayChartProps{LabelHead: words.T(ctx, g.pickWord("overview.day", "overview.week_from")),
		ValueHead: words.T(ctx, value), BeforeHead: words.T(ctx, "overview.previous_period")}
	for i := range g.n {
		day := g.first.AddDate(0, 0, i*g.step)
		p.Bars = append(p.Bars, ui.DayBar{Label: words.FormatTime(ctx, day, "Mon 2 Jan"),
			Mark: words.FormatTime(ctx, day, "2 Jan")})
	}
	return p
}

// soldBar is the money received on the days of a bar.
type soldBar struct {
	received int64
	coins    map[money.Coin]int64
}

// sumBars adds up the sales in a currency by bar.
func (g dayGrid) sumBars(sold []journal.DaySales, currency money.Currency) []soldBar {
	bars := make([]soldBar, g.n)
	for _, s := range sold {
		at := g.findBar(s.Day)
		if s.Currency != string(currency) || at < 0 {
			continue
		}
		if bars[at].coins == nil {
			bars[at].coins = map[money.Coin]int64{}
		}
		bars[at].received += s.Received
		bars[at].coins[money.Coin(s.Coin)] += s.Received
	}
	return bars
}

// endedBar is how many payments of a bar's days there are, and how they ended.
type endedBar struct{ all, ended, successful int64 }

// countBars counts payments by bar; "" counts all currencies.
func (g dayGrid) countBars(cells []stats.Cell, currency money.Currency) []endedBar {
	bars := make([]endedBar, g.n)
	for _, c := range cells {
		at := g.findBar(c.Day)
		if at < 0 || currency != "" && c.Currency != string(currency) {
			continue
		}
		t := totalsOf(stats.Figures{Days: []stats.Cell{c}})
		bars[at] = endedBar{bars[at].all + t.count, bars[at].ended + t.ended, bars[at].successful + t.successful}
	}
	return bars
}

// volumeChart has a bar for each day, also for those without a payment, with a part for each coin; for long
// spans one for each week. Lines show the day of the previous period.
func volumeChart(ctx context.Context, f overviewFacts, currency money.Currency) ui.DayChartProps {
	g := newDayGrid(f.Asked, f.Asked.From)
	bars := g.sumBars(f.Sold, currency)
	before := newDayGrid(f.Asked, f.Asked.previousPeriod(f.Zone).From).sumBars(f.SoldBefore, currency)
	counts := g.countBars(f.Now.Days, currency)
	best, most := int64(0), int64(0)
	for i, b := range bars {
		best = max(best, b.received)
		most = max(most, b.received, before[i].received)
	}
	top := axisCeiling((most + 99) / 100)
	p := newChart(ctx, f, "overview.received")
	p.Title = words.T(ctx, g.pickWord("overview.chart_by_day", "overview.chart_by_week"), "Currency", string(currency),
		"Best", display.FormatHundredths(currency, best), "Days", daysText(ctx, f.Asked.From, f.Asked.To))
	p.NoteHead = words.T(ctx, "overview.successful")
	p.Top, p.Middle = formatCompact(currency, top), formatCompact(currency, top/2)
	height := func(value int64) int {
		if top == 0 {
			return 0
		}
		return int(max(value, 0) * 10 / top)
	}
	sells := listSellers(bars)
	for _, coin := range sells {
		p.Series = append(p.Series, ui.DaySeries{Name: coin.Name, Coin: string(coin.Coin)})
	}
	for i, b := range bars {
		bar := &p.Bars[i]
		was := before[i].received
		bar.Text, bar.Permille = display.FormatHundredths(currency, b.received), height(b.received)
		bar.Before, bar.BeforeText, bar.Negative = height(was), display.FormatHundredths(currency, was), b.received < 0
		bar.Note = words.T(ctx, "overview.paid_of", "Paid", words.FormatThousands(ctx, counts[i].successful), "All",
			words.FormatThousands(ctx, counts[i].all))
		for _, coin := range sells {
			bar.Parts = append(bar.Parts, ui.DayPart{Permille: height(b.coins[coin.Coin]),
				Text: display.FormatHundredths(currency, b.coins[coin.Coin])})
		}
	}
	return p
}

// listSellers lists the coins that any bar has, in the usual order.
func listSellers(bars []soldBar) (coins []money.CoinInfo) {
	for _, coin := range money.Coins() {
		for _, b := range bars {
			if _, has := b.coins[coin.Coin]; has {
				coins = append(coins, coin)
				break
			}
		}
	}
	return coins
}

// successChart has the share of Successful payments among the completed ones, by day.
func successChart(ctx context.Context, f overviewFacts) ui.DayChartProps {
	g := newDayGrid(f.Asked, f.Asked.From)
	bars := g.countBars(f.Now.Days, "")
	before := newDayGrid(f.Asked, f.Asked.previousPeriod(f.Zone).From).countBars(f.Before.Days, "")
	p := newChart(ctx, f, "overview.success_rate")
	p.Title = words.T(ctx, g.pickWord("overview.success_by_day", "overview.success_by_week"), "Days",
		daysText(ctx, f.Asked.From, f.Asked.To))
	p.NoteHead, p.Top, p.Middle, p.Low = words.T(ctx, "overview.completed"), "100 %", "50 %", true
	height := func(b endedBar) int { return int(b.successful * 1000 / max(b.ended, 1)) }
	for i, b := range bars {
		bar := &p.Bars[i]
		bar.Text, bar.Permille = display.FormatShare(b.successful, b.ended), height(b)
		bar.Before, bar.BeforeText = height(before[i]), display.FormatShare(before[i].successful, before[i].ended)
		bar.Note = words.FormatThousands(ctx, b.ended)
	}
	return p
}

// waitAxes are the ends of a chart's axis of times.
var waitAxes = []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 6 * time.Minute,
	10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 96 * time.Hour}

// medianBars returns the median time until payments were final by bar; -1 where none is known.
func (g dayGrid) medianBars(days map[string]stats.Waits) []time.Duration {
	waits, medians := make([]stats.Waits, g.n), make([]time.Duration, g.n)
	for day, counts := range days {
		at := g.findBar(day)
		if at < 0 {
			continue
		}
		if waits[at] == nil {
			waits[at] = stats.Waits{}
		}
		for bucket, n := range counts {
			waits[at][bucket] += n
		}
	}
	for i, w := range waits {
		took, known := w.Median()
		if !known {
			took = -1
		}
		medians[i] = took
	}
	return medians
}

// waitChart has the median time to confirm by day.
func waitChart(ctx context.Context, f overviewFacts) ui.DayChartProps {
	g := newDayGrid(f.Asked, f.Asked.From)
	bars := g.medianBars(f.Now.DayWaits)
	before := newDayGrid(f.Asked, f.Asked.previousPeriod(f.Zone).From).medianBars(f.Before.DayWaits)
	longest, top := time.Duration(0), waitAxes[len(waitAxes)-1]
	for i := range bars {
		longest = max(longest, bars[i], before[i])
	}
	for _, end := range waitAxes {
		if end >= longest {
			top = end
			break
		}
	}
	p := newChart(ctx, f, "overview.median_to_final")
	p.Title = words.T(ctx, g.pickWord("overview.waits_by_day", "overview.waits_by_week"), "Days",
		daysText(ctx, f.Asked.From, f.Asked.To))
	p.Top, p.Middle, p.Low = formatDuration(ctx, top), formatDuration(ctx, top/2), true
	show := func(took time.Duration) (height int, text string) {
		if took < 0 {
			return 0, "–"
		}
		return int(min(took*1000/top, 1000)), formatDuration(ctx, took)
	}
	for i := range p.Bars {
		bar := &p.Bars[i]
		bar.Permille, bar.Text = show(bars[i])
		bar.Before, bar.BeforeText = show(before[i])
	}
	return p
}
