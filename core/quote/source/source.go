// Package source reads public sources of prices: exchanges for coins, and publishers of
// exchange rates for fiat currencies. Each has a file of its own with its addresses, its
// limits, what its terms say, and how its documents are read. Their prices are only parsed
// here, not judged: core/quote decides what counts.
package source

import (
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
)

// Pair is a currency with the one that it is priced in. Fiat currencies have their
// ISO 4217 codes, so the cedi is GHS and never GHC.
type Pair struct{ Base, Quote string }

// String writes the pair as people do: BTC/USD.
func (p Pair) String() string { return p.Base + "/" + p.Quote }

// Price is what a source says one unit of the base costs, and since when.
type Price struct {
	Pair
	Value decimal.Decimal // not checked: it may be zero or negative
	// At is the source's own time of the price. Sources that tell none get the
	// time at which they were asked.
	At time.Time
}

// Source is one public service. Its fields are constant.
type Source struct {
	Name   string        // in settings and in evidence: "kraken"
	Title  string        // for people: "Kraken"
	Origin string        // scheme and host, which an operator may replace by a mirror's: "https://api.kraken.com"
	Docs   string        // where the publisher describes the documents
	Terms  fault.Message // what its terms and limits say about this use, in a sentence or two
	// Private says that its terms forbid to pass its prices on to others.
	Private bool
	// Every is how often it is asked: often enough for the freshness that its
	// prices must have, and well within its limits.
	Every time.Duration
	// Street says that its prices of a coin in a fiat currency are what people
	// pay on the street, where that differs from the official rate. It is asked
	// only where an operator names it.
	Street    bool
	Documents []Document
}

// Document is one thing that a source is asked for.
type Document struct {
	Path  string // with its query: "/0/public/Ticker?pair=XBTUSD"
	Pairs []Pair // its possible values
	// Read takes a document apart. It returns the prices among Pairs that the
	// document holds; a document that isn't what the source publishes is an error.
	// Asked is when it was asked for.
	Read func(body []byte, asked time.Time) ([]Price, error)
}

// Pairs lists what the source can price.
func (s Source) Pairs() []Pair {
	var all []Pair
	for _, d := range s.Documents {
		all = append(all, d.Pairs...)
	}
	return all
}
