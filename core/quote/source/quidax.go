package source

import (
	"time"

	"cointill/core/fault"
)

// newQuidax returns a Nigerian exchange; its market of USDT in naira shows what a dollar
// costs there off the official market. The ticker has the best bid (buy), the
// best ask (sell) and a time in seconds.
//
// The format was taken from programs that read it, not from Quidax's own
// reference.
func newQuidax() Source {
	pairs := []Pair{{"USDT", "NGN"}}
	type document struct {
		Status string `json:"status"`
		Data   struct {
			At     number `json:"at"`
			Market string `json:"market"`
			Ticker struct {
				Buy  number `json:"buy"`
				Sell number `json:"sell"`
			} `json:"ticker"`
		} `json:"data"`
	}
	read := func(answer document, _ time.Time) (lookUp, error) {
		switch {
		case answer.Status != "" && answer.Status != "success":
			return nil, reportedFailure(answer.Status)
		case answer.Data.Market != "" && answer.Data.Market != "usdtngn":
			return nil, shapeFailure("the ticker of another market")
		}
		at, err := parseSeconds(answer.Data.At)
		return func(Pair) (quoted, bool) {
			return middlePrice(answer.Data.Ticker.Buy, answer.Data.Ticker.Sell, at).withTime(at, err), true
		}, nil
	}
	return Source{
		Name: "quidax", Title: "Quidax", Origin: "https://app.quidax.io",
		Docs: "https://docs.quidax.com/",
		Terms: fault.NewMessage("Needs no key for tickers. The limits and terms of this version of its API " +
			"were not verified."),
		Every:     20 * time.Second,
		Street:    true,
		Documents: []Document{newDocument("/api/v1/markets/tickers/usdtngn", pairs, read)},
	}
}
