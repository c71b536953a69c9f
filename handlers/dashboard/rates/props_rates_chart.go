package rates

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/quote"
	"cointill/views/ui"
	"cointill/views/words"
)

// chartRange is the period of a chart, in at most 300 steps. A day is a whole number of steps.
type chartRange struct {
	// Name stands in addresses; Words names it in the catalogue.
	Name, Words string
	Span, Step  time.Duration
	// Mark and Row are how its times are written under the chart and in its table.
	Mark, Row string
}

const aDay = 24 * time.Hour

var chartRanges = []chartRange{
	{"24h", "rates.range_day", aDay, 5 * time.Minute, "15:04", "2 Jan, 15:04"},
	{"7d", "rates.range_week", 7 * aDay, 40 * time.Minute, "2 Jan", "2 Jan, 15:04"},
	{"90d", "rates.range_quarter", 90 * aDay, 8 * time.Hour, "2 Jan", "2 Jan, 15:04"},
}

// rangeNamed is the range of that name; the first when there is none.
func rangeNamed(name string) chartRange {
	for _, r := range chartRanges {
		if r.Name == name {
			return r
		}
	}
	return chartRanges[0]
}

// rateChart is the history of a pair; nil when there is none.
func rateChart(ctx context.Context, pair quote.Pair, f ratesFacts, zone *time.Location) *ui.LineChartProps {
	if len(f.Points) == 0 {
		return nil
	}
	lowest, highest := f.Points[0], f.Points[0]
	for _, p := range f.Points {
		if p.Value.LessThan(lowest.Value) {
			lowest = p
		}
		if p.Value.GreaterThan(highest.Value) {
			highest = p
		}
	}
	chart := &ui.LineChartProps{
		Title: words.T(ctx, "rates.chart", "Pair", pair.String(), "Range", words.T(ctx, f.Range.Words), "Lowest",
			figure(lowest.Value), "Highest", figure(highest.Value)),
		Top:       words.T(ctx, "rates.chart_highest", "Value", figure(highest.Value)),
		Bottom:    words.T(ctx, "rates.chart_lowest", "Value", figure(lowest.Value)),
		Path:      linePath(f.Points, f.Now.Add(-f.Range.Span), f.Range, lowest.Value, highest.Value),
		LabelHead: words.T(ctx, "rates.chart_time"), ValueHead: pair.String(),
		NoteHead: words.T(ctx, "rates.chart_sources"),
	}
	for i := range 4 { // thirds of the time, both ends among them
		chart.Marks = append(chart.Marks, words.FormatTime(ctx,
			f.Now.Add(f.Range.Span*time.Duration(i-3)/3).In(zone), f.Range.Mark))
	}
	for _, p := range slices.Backward(f.Points) {
		chart.Rows = append(chart.Rows, ui.LineRow{Label: words.FormatTime(ctx, p.At.In(zone), f.Range.Row), Text: figure(p.Value),
			Note: strconv.Itoa(p.Sources)})
	}
	return chart
}

// linePath draws points into a square of 1,000. The line breaks where a step has
// no point; a point between two breaks is a dot.
func linePath(points []quote.Point, since time.Time, r chartRange, lowest, highest decimal.Decimal) string {
	const top, room = 40, 920 // leaves the line's own width at both edges
	var path strings.Builder
	for i, p := range points {
		x, y := p.At.Sub(since)*1000/r.Span, int64(top+room/2)
		if between := highest.Sub(lowest); between.IsPositive() {
			y = top + highest.Sub(p.Value).Mul(decimal.NewFromInt(room)).Div(between).IntPart()
		}
		follows := i > 0 && p.At.Sub(points[i-1].At) <= r.Step
		if follows {
			fmt.Fprintf(&path, "L%d %d", x, y)
			continue
		}
		fmt.Fprintf(&path, "M%d %d", x, y)
		if last := i == len(points)-1; last || points[i+1].At.Sub(p.At) > r.Step {
			path.WriteString("h1")
		}
	}
	return path.String()
}
