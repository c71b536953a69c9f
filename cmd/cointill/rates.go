package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/internal/app"
)

type ratesCommand struct {
	JSON bool `name:"json" help:"Print the result as JSON and nothing else."`
}

// pairStatus is how one pair stands, for people and programs.
type pairStatus struct {
	quote.Leg
	Value   *decimal.Decimal `json:"value"`   // nil where there is no trustworthy one
	Problem string           `json:"problem"` // "" when there is
}

// Run prints the live prices; it may run beside a serving instance, which is
// what fetches them.
func (c ratesCommand) Run(ctx context.Context, settings *app.Settings) error {
	p, err := app.NewBeside(ctx, settings)
	if err != nil {
		return err
	}
	defer p.DB.Close()
	if p.Rates == nil {
		return fmt.Errorf("no source of live prices is set up (%s_RATE_SOURCES=none)", app.EnvPrefix)
	}
	wanted, err := p.Quotes.Wanted(ctx)
	if err != nil {
		return err
	}
	healths, err := p.Quotes.Healths(ctx)
	if err != nil {
		return err
	}
	var all []pairStatus
	for _, pair := range p.Quotes.Pairs() {
		leg, err := p.Quotes.Leg(scope.Live, pair)
		status := pairStatus{Leg: leg, Value: &leg.Value}
		if err != nil {
			status.Value, status.Problem = nil, explainFault(err).Error()
		}
		if leg.Readings == nil {
			status.Readings = []quote.Reading{}
		}
		all = append(all, status)
	}
	if c.JSON {
		return printJSON(all)
	}
	if !wanted {
		fmt.Println("No live payment method is on anywhere, so nothing is fetched. What follows is what was fetched " +
			"before.")
	}
	if err := printRates(all, healths, p.Clock()); err != nil || !wanted {
		return err
	}
	for _, alarm := range p.Quotes.Alarms(healths) {
		fmt.Println("!", alarm)
	}
	return nil
}

func printRates(all []pairStatus, healths []quote.Health, now time.Time) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PAIR\tSOURCE\tVALUE\tAGE\tSTATE")
	for _, row := range all {
		value, how := "-", "median"
		if row.Value != nil {
			value = row.Value.String()
		}
		if row.Trusted != "" {
			how = "by " + row.Trusted + " alone"
		}
		fmt.Fprintf(table, "%s/%s\t%s\t%s\t\t%s\n", row.Base, row.Quote, how, value, cmp.Or(row.Problem, "ok"))
		for _, r := range row.Readings {
			fmt.Fprintf(table, "\t%s\t%s\t%s\t%s\n", r.Source, r.Value, now.Sub(r.At).Round(time.Second),
				cmp.Or(r.LeftOut, "counts"))
		}
	}
	fmt.Fprintln(table, "\nSOURCE\tHOST\tASKED\tANSWERED\tSTATE")
	for _, h := range healths {
		asked, answered, state := "never", "never", "not asked yet"
		if !h.State.AskedAt.IsZero() {
			state = cmp.Or(h.State.Problem, "ok")
			asked = now.Sub(h.State.AskedAt).Round(time.Second).String() + " ago"
		}
		if h.State.AnsweredAt != nil {
			answered = now.Sub(*h.State.AnsweredAt).Round(time.Second).String() + " ago"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", h.Source.Name, hostOf(h.Source.Origin), asked, answered, state)
	}
	return table.Flush()
}

// hostOf is where a source is asked, without credentials that a mirror's address may hold.
func hostOf(origin string) string {
	if parsed, err := url.Parse(origin); err == nil {
		return parsed.Host
	}
	return "-"
}
