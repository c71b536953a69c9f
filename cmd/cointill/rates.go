package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
)

// rates is what keeps live prices; there is none where no source is set up.
type rates struct {
	board  *quote.Board
	keeper *quote.Keeper
}

// openRates makes the quotes of both domains: the test domain's from the fixed
// table, the live domain's from the sources that the operator named.
func (p *product) openRates(ctx context.Context, s *Settings) error {
	sources, err := s.rateSources()
	if err != nil {
		return err
	}
	p.quotes = &quote.Service{DB: p.db, Clock: p.clock,
		Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: p.clock}},
		Asked:   sources}
	if p.quotes.Trusted, err = s.rateTrusted(p.quotes, sources); err != nil {
		return err
	}
	if p.quotes.Bands, err = s.rateBands(p.quotes); err != nil {
		return err
	}
	if len(sources) == 0 {
		return nil
	}
	board := quote.NewBoard(p.db, sources)
	p.quotes.Sources[scope.Live] = board
	p.rates = &rates{board: board, keeper: &quote.Keeper{DB: p.db, Clock: p.clock, Log: p.log,
		Client: source.NewClient(p.clock), Service: p.quotes, Board: board}}
	return board.Load(ctx) // so that the first request finds the stored rates
}

// rateSources are the sources that the settings name, each once, in the order of the program.
func (s *Settings) rateSources() ([]source.Source, error) {
	named := map[string]source.Source{}
	for _, item := range s.RateSources {
		name, mirror, changed := strings.Cut(strings.TrimSpace(item), "=")
		switch {
		case name == "none" && len(s.RateSources) == 1 && !changed:
			return nil, nil
		case name == "standard" && !changed:
			for _, each := range source.Standard() {
				if _, already := named[each.Name]; !already {
					named[each.Name] = each
				}
			}
			continue
		}
		one, ok := source.Named(name)
		if !ok {
			return nil, fmt.Errorf("%s_RATE_SOURCES: there is no source %q; use standard, none, or some of %s", prefix,
				name, strings.Join(sourceNames(), ", "))
		}
		if changed {
			origin, err := url.Parse(mirror)
			if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" ||
				strings.ContainsAny(mirror, "?#") {
				return nil, fmt.Errorf(
					"%s_RATE_SOURCES: the mirror of %s must be an address such as https://rates.example.com", prefix,
					name)
			}
			one.Origin = strings.TrimRight(mirror, "/")
		}
		named[name] = one
	}
	var all []source.Source
	for _, each := range source.All() {
		if one, ok := named[each.Name]; ok {
			all = append(all, one)
		}
	}
	return all, nil
}

func sourceNames() (all []string) {
	for _, each := range source.All() {
		all = append(all, each.Name)
	}
	return all
}

// rateTrusted checks that every source that is trusted alone is asked and has the pair.
func (s *Settings) rateTrusted(quotes *quote.Service, sources []source.Source) (map[quote.Pair]string, error) {
	trusted := map[quote.Pair]string{}
	for text, name := range s.RateTrusted {
		base, in, _ := strings.Cut(text, "/")
		pair := quote.Pair{Base: base, Quote: in}
		if !slices.Contains(quotes.Pairs(), pair) {
			return nil, fmt.Errorf("%s_RATE_TRUSTED: %s is no pair that prices are made of; see cointill rates", prefix,
				text)
		}
		if !slices.ContainsFunc(sources, func(from source.Source) bool {
			return from.Name == name &&
				slices.Contains(from.Pairs(), pair)
		}) {
			return nil, fmt.Errorf("%s_RATE_TRUSTED: no source %q with a price of %s is asked; see cointill rates",
				prefix, name, text)
		}
		trusted[pair] = name
	}
	return trusted, nil
}

// rateBands reads the bands, which are in percent.
func (s *Settings) rateBands(quotes *quote.Service) (map[string]decimal.Decimal, error) {
	bands := map[string]decimal.Decimal{}
	for name, text := range s.RateBands {
		known := slices.ContainsFunc(quotes.Pairs(), func(p quote.Pair) bool {
			return p.Base == name && name != "USD" ||
				p.Quote == name && name != "USD"
		})
		percent, err := decimal.NewFromString(text)
		if !known || err != nil || len(text) > 6 || percent.Exponent() < -4 || !percent.IsPositive() ||
			percent.GreaterThan(decimal.NewFromInt(25)) {
			return nil, fmt.Errorf(
				"%s_RATE_BANDS: %s=%s must be a coin or a currency (ISO: GHS) and more than 0, at most 25 percent",
				prefix, name, text)
		}
		bands[name] = percent.Shift(-2)
	}
	return bands, nil
}

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
func (c ratesCommand) Run(ctx context.Context, settings *Settings) error {
	p, err := settings.buildBeside(ctx)
	if err != nil {
		return err
	}
	defer p.db.Close()
	if p.rates == nil {
		return fmt.Errorf("no source of live prices is set up (%s_RATE_SOURCES=none)", prefix)
	}
	wanted, err := p.quotes.Wanted(ctx)
	if err != nil {
		return err
	}
	healths, err := p.quotes.Healths(ctx)
	if err != nil {
		return err
	}
	var all []pairStatus
	for _, pair := range p.quotes.Pairs() {
		leg, err := p.quotes.Leg(scope.Live, pair)
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
	if err := printRates(all, healths, p.clock()); err != nil || !wanted {
		return err
	}
	for _, alarm := range p.quotes.Alarms(healths) {
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
		fmt.Fprintf(table, "%s/%s\t%s\t%s\t\t%s\n", row.Base, row.Quote, how, value, orOK(row.Problem))
		for _, r := range row.Readings {
			state := r.LeftOut
			if state == "" {
				state = "counts"
			}
			fmt.Fprintf(table, "\t%s\t%s\t%s\t%s\n", r.Source, r.Value, now.Sub(r.At).Round(time.Second), state)
		}
	}
	fmt.Fprintln(table, "\nSOURCE\tHOST\tASKED\tANSWERED\tSTATE")
	for _, h := range healths {
		asked, answered, state := "never", "never", "not asked yet"
		if !h.State.AskedAt.IsZero() {
			state = orOK(h.State.Problem)
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
