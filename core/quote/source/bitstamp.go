package source

import (
	"time"

	"cointill/core/fault"
)

// newBitstamp prices coins from one document with a row for every market. Futures
// have rows too, under other names ("BTC/USD-PERP"). Each row has the time at
// which it was made, in seconds, so the price is the middle between bid and ask
// and not the last trade, which is of some time before.
func newBitstamp() Source {
	pairs := inDollars(coins...)
	type row struct {
		Pair      string `json:"pair"`
		Bid       number `json:"bid"`
		Ask       number `json:"ask"`
		Timestamp number `json:"timestamp"`
	}
	read := func(rows []row, _ time.Time) (lookUp, error) {
		named, err := byName(rows, func(r row) string { return r.Pair })
		return func(p Pair) (quoted, bool) {
			row, ok := named[p.String()]
			at, err := parseSeconds(row.Timestamp)
			return middlePrice(row.Bid, row.Ask, at).withTime(at, err), ok
		}, err
	}
	return Source{
		Name: "bitstamp", Title: "Bitstamp", Origin: "https://www.bitstamp.net",
		Docs: "https://www.bitstamp.net/api/#tag/Tickers",
		Terms: fault.NewMessage("Needs no key. At most 400 requests a second and 10,000 in ten minutes; its " +
			"terms for showing the prices were not verified."),
		Every:     20 * time.Second,
		Documents: []Document{newDocument("/api/v2/ticker/", pairs, read)},
	}
}
