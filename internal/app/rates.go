package app

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/internal/app/services"
)

// rates is what keeps live prices; there is none where no source is set up.
type rates struct {
	Board  *quote.Board
	keeper *quote.Keeper
}

// openRates makes the quotes of both domains: the test domain's from the fixed
// table, the live domain's from the sources that the operator named.
func (p *Product) openRates(ctx context.Context, s *Settings, of *services.Config) error {
	sources, err := s.rateSources()
	if err != nil {
		return err
	}
	of.Quotes = &quote.Service{DB: of.DB, Clock: of.Clock,
		Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: of.Clock}},
		Asked:   sources}
	if of.Quotes.Trusted, err = s.rateTrusted(of.Quotes, sources); err != nil {
		return err
	}
	if of.Quotes.Bands, err = s.rateBands(of.Quotes); err != nil {
		return err
	}
	if len(sources) == 0 {
		return nil
	}
	board := quote.NewBoard(of.DB, sources)
	of.Quotes.Sources[scope.Live] = board
	p.Rates = &rates{Board: board, keeper: &quote.Keeper{DB: of.DB, Clock: of.Clock, Log: p.Log,
		Client: source.NewClient(of.Clock), Service: of.Quotes, Board: board}}
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
			return nil, fmt.Errorf("%s_RATE_SOURCES: there is no source %q; use standard, none, or some of %s", EnvPrefix,
				name, strings.Join(sourceNames(), ", "))
		}
		if changed {
			origin, err := url.Parse(mirror)
			if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" ||
				strings.ContainsAny(mirror, "?#") {
				return nil, fmt.Errorf(
					"%s_RATE_SOURCES: the mirror of %s must be an address such as https://rates.example.com", EnvPrefix,
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
			return nil, fmt.Errorf("%s_RATE_TRUSTED: %s is no pair that prices are made of; see cointill rates", EnvPrefix,
				text)
		}
		if !slices.ContainsFunc(sources, func(from source.Source) bool {
			return from.Name == name &&
				slices.Contains(from.Pairs(), pair)
		}) {
			return nil, fmt.Errorf("%s_RATE_TRUSTED: no source %q with a price of %s is asked; see cointill rates",
				EnvPrefix, name, text)
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
				EnvPrefix, name, text)
		}
		bands[name] = percent.Shift(-2)
	}
	return bands, nil
}
