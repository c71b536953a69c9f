package source

import (
	"strings"
	"time"

	"cointill/core/fault"
)

// currencyAPI is the open data set Currency-api (exchange-api on GitHub), a file
// per currency, made once a day. It tells the date and no time.
//
// Besides the cedi (ghs) it still lists the cedi of before 2007 (ghc), worth
// 1/10,000 of today's. Names are looked up exactly, and only those in Pairs.
func currencyAPI() Source {
	pairs := dollarsIn(fiat...)
	type document struct {
		Date  string            `json:"date"`
		Rates map[string]number `json:"usd"`
	}
	read := func(table document, _ time.Time) (lookUp, error) {
		if table.Rates == nil {
			return nil, shapeFailure("no table for the dollar")
		}
		at, err := parseDay(table.Date)
		return func(p Pair) (quoted, bool) {
			text, ok := table.Rates[strings.ToLower(p.Quote)]
			return newQuoted(text, at).withTime(at, err), ok
		}, nil
	}
	return Source{
		Name: "currency-api", Title: "Currency-api", Origin: "https://latest.currency-api.pages.dev",
		Docs: "https://github.com/fawazahmed0/exchange-api",
		Terms: fault.NewMessage("Needs no key and says that it has no limits. The licence of its data and " +
			"where it takes the rates from were not verified."),
		Every:     30 * time.Minute,
		Documents: []Document{newDocument("/v1/currencies/usd.json", pairs, read)},
	}
}
