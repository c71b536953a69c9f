package source

import (
	"time"

	"cointill/core/fault"
)

// newFrankfurter blends the rates that central banks and other institutions
// publish, a row for each currency with the date of its rate. They publish on
// working days only, so that on others the date is of days before.
//
// It is asked for the naira and the shilling, which the central banks of Nigeria
// and Kenya publish daily. It knows the cedi too; how often its sources renew
// that was not verified.
func newFrankfurter() Source {
	pairs := dollarsIn("NGN", "KES")
	type row struct {
		Date  string `json:"date"`
		Base  string `json:"base"`
		Quote string `json:"quote"`
		Rate  number `json:"rate"`
	}
	read := func(rows []row, _ time.Time) (lookUp, error) {
		named, err := byName(rows, func(r row) string { return r.Base + "/" + r.Quote })
		return func(p Pair) (quoted, bool) {
			row, ok := named[p.String()]
			at, err := parseDay(row.Date)
			return newQuoted(row.Rate, at).withTime(at, err), ok
		}, err
	}
	return Source{
		Name: "frankfurter", Title: "Frankfurter", Origin: "https://api.frankfurter.dev",
		Docs: "https://frankfurter.dev/",
		Terms: fault.NewMessage("Needs no key. Its maintainer says that it is free for commercial use, needs " +
			"no attribution and may be cached and shown; abuse is limited without a number."),
		Every:     time.Hour,
		Documents: []Document{newDocument("/v2/rates?base=USD&quotes=NGN,KES", pairs, read)},
	}
}
