package source

import (
	"time"

	"cointill/core/fault"
)

// erAPI is ExchangeRate-API's open table for the dollar, made once a day shortly
// after midnight UTC and stamped in seconds.
func erAPI() Source {
	pairs := dollarsIn(fiat...)
	read := func(body []byte, _ time.Time) ([]Price, error) {
		var table struct {
			Result  string            `json:"result"`
			Error   string            `json:"error-type"`
			Updated number            `json:"time_last_update_unix"`
			Base    string            `json:"base_code"`
			Rates   map[string]number `json:"rates"`
		}
		if err := decodeJSON(body, &table); err != nil {
			return nil, err
		}
		switch {
		case table.Result == "error":
			return nil, reportedFailure(table.Error)
		case table.Result != "success" || table.Base != "USD":
			return nil, shapeFailure("no table for the dollar")
		}
		at, err := parseSeconds(table.Updated)
		return pickPrices(pairs, func(p Pair) (quoted, bool) {
			text, ok := table.Rates[p.Quote]
			return newQuoted(text, at).withTime(at, err), ok
		})
	}
	return Source{
		Name: "er-api", Title: "ExchangeRate-API", Origin: "https://open.er-api.com",
		Docs:    "https://www.exchangerate-api.com/docs/free",
		Private: true,
		Terms: fault.NewMessage("Needs no key. Free for commercial conversions; may be cached, must not be " +
			"redistributed, and pages that show its rates must link to https://www.exchangerate-api.com. Once " +
			"an hour is never too often."),
		Every:     time.Hour,
		Documents: []Document{{Path: "/v6/latest/USD", Pairs: pairs, Read: read}},
	}
}
