package source

import (
	"time"

	"cointill/core/fault"
)

// erAPI is ExchangeRate-API's open table for the dollar, made once a day shortly
// after midnight UTC and stamped in seconds.
func erAPI() Source {
	pairs := dollarsIn(fiat...)
	type document struct {
		Result  string            `json:"result"`
		Error   string            `json:"error-type"`
		Updated number            `json:"time_last_update_unix"`
		Base    string            `json:"base_code"`
		Rates   map[string]number `json:"rates"`
	}
	read := func(table document, _ time.Time) (lookUp, error) {
		switch {
		case table.Result == "error":
			return nil, reportedFailure(table.Error)
		case table.Result != "success" || table.Base != "USD":
			return nil, shapeFailure("no table for the dollar")
		}
		at, err := parseSeconds(table.Updated)
		return func(p Pair) (quoted, bool) {
			text, ok := table.Rates[p.Quote]
			return newQuoted(text, at).withTime(at, err), ok
		}, nil
	}
	return Source{
		Name: "er-api", Title: "ExchangeRate-API", Origin: "https://open.er-api.com",
		Docs:    "https://www.exchangerate-api.com/docs/free",
		Private: true,
		Terms: fault.NewMessage("Needs no key. Free for commercial conversions; may be cached, must not be " +
			"redistributed, and pages that show its rates must link to https://www.exchangerate-api.com. Once " +
			"an hour is never too often."),
		Every:     time.Hour,
		Documents: []Document{newDocument("/v6/latest/USD", pairs, read)},
	}
}
