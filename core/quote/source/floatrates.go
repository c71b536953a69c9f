package source

import (
	"net/http"
	"strings"
	"time"

	"cointill/core/fault"
)

// floatRates is FloatRates' table for the dollar: an object per currency under
// its code in small letters, with the code again, the rate and an HTTP date.
// Rates were seen as numbers and as strings; both are read.
func floatRates() Source {
	pairs := dollarsIn(fiat...)
	type document map[string]struct {
		Code string `json:"code"`
		Rate number `json:"rate"`
		Date string `json:"date"`
	}
	read := func(table document, _ time.Time) (lookUp, error) {
		return func(p Pair) (quoted, bool) {
			row, ok := table[strings.ToLower(p.Quote)]
			at, err := checkTime(http.ParseTime(row.Date))
			return newQuoted(row.Rate, at).withTime(at, err), ok && row.Code == p.Quote
		}, nil
	}
	return Source{
		Name: "floatrates", Title: "FloatRates", Origin: "https://www.floatrates.com",
		Docs: "https://www.floatrates.com/json-feeds.html",
		Terms: fault.NewMessage("Needs no key; published once a day. Its terms, its limits and the type of its " +
			"answers were not verified."),
		Every:     time.Hour,
		Documents: []Document{newDocument("/daily/usd.json", pairs, read)},
	}
}
