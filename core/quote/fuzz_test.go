package quote_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
)

// worthless are what stood in a number's place in answers before, bare and as text.
var worthless = []string{"", "null", `""`, "NaN", `"NaN"`, "Inf", "-Infinity", `"Infinity"`, "0", `"0"`, "-0.0", "0e0", "-1432.1", `"-1432.1"`,
	"1e-400", `"1e-400"`, "1e400", "1e999999999", "1e-30", "1", "1.000", "0.0007", "14321000", "[]", "{}", "[1432.1]", "true", `"N/A"`}

// FuzzAnswers (FX-3) puts anything where two sources say what a dollar costs: there is
// a quote only from a number that a dollar may cost, and for none of those there is one.
//
//fuzz:inputs 7500
func FuzzAnswers(f *testing.F) {
	for _, text := range append([]string{"1432.1", `"1432.1"`, "1432.1,\"GHS\":0", "1.4321e3"}, worthless...) {
		f.Add(text)
	}
	s, _ := source.Named("er-api")
	document := s.Documents[0]
	least, most := decimal.NewFromInt(60_000*100), decimal.NewFromInt(60_000*100_000)
	f.Fuzz(func(t *testing.T, text string) {
		m := market{}.say("a", "BTC/USD", "60000").say("b", "BTC/USD", "60000")
		answer := `{"result":"success","base_code":"USD","time_last_update_unix":` + strconv.FormatInt(now.Unix(), 10) + `,"rates":{"NGN":` + text + `}}`
		prices, _ := document.Read([]byte(answer), now)
		for _, p := range prices {
			if quote.Judge(p.Pair, p.Value, p.At, now, decimal.Zero, now, decimal.Zero) == "" {
				m.say("a", p.Pair.String(), p.Value.String()).say("b", p.Pair.String(), p.Value.String())
			}
		}
		q, err := service(m).Price(scope.Live, money.BTC, money.NGN, quote.Policy{})
		switch {
		case err != nil && (text == "1432.1" || text == `"1432.1"`):
			t.Errorf("%s makes no quote: %v", text, err)
		case err == nil && slices.Contains(worthless, text):
			t.Errorf("%s makes a quote of %s", text, q.Price)
		case err == nil && (q.Price.LessThan(least) || q.Price.GreaterThan(most)):
			t.Errorf("%s makes a quote of %s", text, q.Price)
		}
	})
}
