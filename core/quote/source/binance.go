package source

import (
	"net/url"
	"time"

	"cointill/core/fault"
)

// newBinance prices coins in USDT, not in dollars: its users convert by USDT's own
// market. A row has the last price and no time; its markets in USDT
// trade every second. Errors are an object with a code where the rows would be.
//
// It is asked at the host that Binance runs for public market data alone, where
// no account can be reached by mistake.
func newBinance() Source {
	names := map[Pair]string{
		{"BTC", "USDT"}: "BTCUSDT", {"ETH", "USDT"}: "ETHUSDT", {"XRP", "USDT"}: "XRPUSDT",
		{"DOGE", "USDT"}: "DOGEUSDT",
	}
	pairs := []Pair{{"BTC", "USDT"}, {"ETH", "USDT"}, {"XRP", "USDT"}, {"DOGE", "USDT"}}
	type row struct {
		Symbol string `json:"symbol"`
		Price  number `json:"price"`
	}
	read := func(rows []row, asked time.Time) (lookUp, error) {
		named, err := byName(rows, func(r row) string { return r.Symbol })
		return func(p Pair) (quoted, bool) {
			row, ok := named[names[p]]
			return newQuoted(row.Price, asked), ok
		}, err
	}
	return Source{
		Name: "binance", Title: "Binance", Origin: "https://data-api.binance.vision",
		Docs: "https://developers.binance.com/en/docs/products/spot/faqs/market_data_only",
		Terms: fault.NewMessage("Needs no key. Limits count weights for each IP address; 429 and then 418 say " +
			"when to stop, with a Retry-After. Its terms for showing the prices were not verified."),
		Every: 15 * time.Second,
		Documents: []Document{newDocument("/api/v3/ticker/price?symbols="+
			url.QueryEscape(`["BTCUSDT","ETHUSDT","XRPUSDT","DOGEUSDT"]`), pairs, read)},
	}
}
