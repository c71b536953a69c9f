package source

import (
	"strings"
	"time"

	"cointill/core/fault"
)

// newKucoin prices coins by its table of fiat prices, numbers as strings, without any time.
// Unknown pairs are missing from the table, without an error. How KuCoin makes these prices of
// its markets, which are in USDT, is not documented.
func newKucoin() Source {
	pairs := inDollars(coins...)
	type document struct {
		Code string            `json:"code"`
		Data map[string]number `json:"data"`
	}
	read := func(answer document, asked time.Time) (lookUp, error) {
		switch {
		case answer.Code == "":
			return nil, shapeFailure("no code")
		case answer.Code != "200000":
			return nil, reportedFailure(answer.Code)
		}
		return func(p Pair) (quoted, bool) {
			text, ok := answer.Data[p.Base]
			return newQuoted(text, asked), ok
		}, nil
	}
	return Source{
		Name: "kucoin", Title: "KuCoin", Origin: "https://api.kucoin.com",
		Docs: "https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-fiat-price",
		Terms: fault.NewMessage("Needs no key. KuCoin limits public requests by a weight per IP address; the " +
			"weight of this one and the terms for showing the prices were not verified."),
		Every:     15 * time.Second,
		Documents: []Document{newDocument("/api/v1/prices?base=USD&currencies="+strings.Join(coins, ","), pairs, read)},
	}
}
