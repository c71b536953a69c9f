package source

import (
	"time"

	"cointill/core/fault"
)

// newCoinbase prices coins. It has a document for each, a table of what one unit
// costs in every currency and coin that Coinbase knows, with numbers as strings
// and without any time. The table of a coin that it doesn't know is an error of
// status 400.
func newCoinbase() Source {
	s := Source{
		Name: "coinbase", Title: "Coinbase", Origin: coinbaseOrigin, Docs: coinbaseDocs, Terms: coinbaseTerms,
		Every: 20 * time.Second, // five documents: 900 requests an hour
	}
	for _, coin := range coins {
		s.Documents = append(s.Documents, coinbaseTable(coin, inDollars(coin)))
	}
	return s
}

// coinbaseFX is Coinbase's table for the dollar. It is a source of its own, since
// it is asked more seldom: currencies move slowly.
func coinbaseFX() Source {
	return Source{
		Name: "coinbase-fx", Title: "Coinbase (currencies)", Origin: coinbaseOrigin, Docs: coinbaseDocs,
		Terms:     coinbaseTerms,
		Every:     5 * time.Minute,
		Documents: []Document{coinbaseTable("USD", dollarsIn(fiat...))},
	}
}

const (
	coinbaseOrigin = "https://api.coinbase.com"
	coinbaseDocs   = "https://docs.cdp.coinbase.com/coinbase-app/track-apis/exchange-rates"
)

var coinbaseTerms = fault.NewMessage("Needs no key. Coinbase names a limit of 10,000 requests an hour for each " +
	"key; its limit without one and its terms for showing the rates were not verified.")

// coinbaseTable is the table of what one unit of base costs.
func coinbaseTable(base string, pairs []Pair) Document {
	type document struct {
		Data struct {
			Currency string            `json:"currency"`
			Rates    map[string]number `json:"rates"`
		} `json:"data"`
	}
	read := func(table document, asked time.Time) (lookUp, error) {
		if table.Data.Currency != base {
			return nil, shapeFailure("the table of another currency")
		}
		return func(p Pair) (quoted, bool) {
			text, ok := table.Data.Rates[p.Quote]
			return newQuoted(text, asked), ok
		}, nil
	}
	return newDocument("/v2/exchange-rates?currency="+base, pairs, read)
}
