package source

import (
	"strings"
	"time"

	"cointill/core/fault"
)

// newKraken prices coins, all in one document. Kraken answers under other names
// than it was asked by: XBT is its bitcoin, XDG its dogecoin, and the older
// coins have an X before, the dollar a Z. Errors are a list in a document of
// status 200; those with a W are warnings.
//
// The price is the middle between the best bid (b) and the best ask (a). The last
// trade (c) has no time here, and on a quiet market it may be an old one.
func newKraken() Source {
	names := map[Pair]string{
		{"BTC", "USD"}: "XXBTZUSD", {"ETH", "USD"}: "XETHZUSD", {"USDT", "USD"}: "USDTZUSD",
		{"XRP", "USD"}: "XXRPZUSD", {"DOGE", "USD"}: "XDGUSD",
	}
	pairs := inDollars(coins...)
	type document struct {
		Error  []string `json:"error"`
		Result map[string]struct {
			Ask []number `json:"a"`
			Bid []number `json:"b"`
		} `json:"result"`
	}
	read := func(answer document, asked time.Time) (lookUp, error) {
		for _, text := range answer.Error {
			if !strings.HasPrefix(text, "W") {
				return nil, reportedFailure(text)
			}
		}
		if answer.Result == nil {
			return nil, shapeFailure("no result")
		}
		return func(p Pair) (quoted, bool) {
			row, ok := answer.Result[names[p]]
			return middlePrice(firstNumber(row.Bid), firstNumber(row.Ask), asked), ok
		}, nil
	}
	return Source{
		Name: "kraken", Title: "Kraken", Origin: "https://api.kraken.com",
		Docs: "https://docs.kraken.com/api-reference/market-data/get-ticker-information",
		Terms: fault.NewMessage("Needs no key. Kraken limits public requests per IP address and pair; its " +
			"number and its terms for showing the prices were not verified."),
		Every:     15 * time.Second,
		Documents: []Document{newDocument("/0/public/Ticker?pair=XBTUSD,ETHUSD,USDTUSD,XRPUSD,XDGUSD", pairs, read)},
	}
}

// firstNumber returns the head of a list, which holds a price before its volumes.
func firstNumber(list []number) number {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
