package source

import (
	"time"

	"cointill/core/fault"
)

// newLuno returns an exchange with a market of USDT in naira. Its ticker has numbers as
// strings and the time in milliseconds; the prices of a market that isn't ACTIVE
// can't be traded at. Books that are crossed happen, and have no price.
func newLuno() Source {
	pairs := []Pair{{"USDT", "NGN"}}
	type document struct {
		Pair   string `json:"pair"`
		At     number `json:"timestamp"`
		Bid    number `json:"bid"`
		Ask    number `json:"ask"`
		Status string `json:"status"`
	}
	read := func(ticker document, _ time.Time) (lookUp, error) {
		switch {
		case ticker.Pair != "USDTNGN":
			return nil, shapeFailure("the ticker of another market")
		case ticker.Status != "ACTIVE":
			return nil, reportedFailure(ticker.Status)
		}
		at, err := parseMilliseconds(ticker.At)
		return func(Pair) (quoted, bool) {
			return middlePrice(ticker.Bid, ticker.Ask, at).withTime(at, err), true
		}, nil
	}
	return Source{
		Name: "luno", Title: "Luno", Origin: "https://api.luno.com",
		Docs: "https://www.luno.com/en/developers/api#tag/Market",
		Terms: fault.NewMessage("Needs no key. At most one request a second for each IP address; its terms for " +
			"showing the prices were not verified."),
		Every:     20 * time.Second,
		Street:    true,
		Documents: []Document{newDocument("/api/1/ticker?pair=USDTNGN", pairs, read)},
	}
}
