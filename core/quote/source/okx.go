package source

import (
	"time"

	"cointill/core/fault"
)

// newOKX prices coins by its indexes in dollars, all in one document. An index is
// mixed of the prices of several exchanges: it is steadier than one market, and
// less independent of the other sources. Each has the time of its last change,
// in milliseconds.
func newOKX() Source {
	pairs := inDollars(coins...)
	type row struct {
		Name  string `json:"instId"`
		Price number `json:"idxPx"`
		At    number `json:"ts"`
	}
	type document struct {
		Code string `json:"code"`
		Data []row  `json:"data"`
	}
	read := func(answer document, _ time.Time) (lookUp, error) {
		switch {
		case answer.Code == "":
			return nil, shapeFailure("no code")
		case answer.Code != "0":
			return nil, reportedFailure(answer.Code)
		}
		named, err := byName(answer.Data, func(r row) string { return r.Name })
		return func(p Pair) (quoted, bool) {
			row, ok := named[p.Base+"-"+p.Quote]
			at, err := parseMilliseconds(row.At)
			return newQuoted(row.Price, at).withTime(at, err), ok
		}, err
	}
	return Source{
		Name: "okx", Title: "OKX", Origin: "https://www.okx.com",
		Docs: "https://www.okx.com/docs-v5/en/#public-data-rest-api-get-index-tickers",
		Terms: fault.NewMessage("Needs no key. At most 20 requests in two seconds for each IP address; its " +
			"terms for showing the prices were not verified."),
		Every:     15 * time.Second,
		Documents: []Document{newDocument("/api/v5/market/index-tickers?quoteCcy=USD", pairs, read)},
	}
}
