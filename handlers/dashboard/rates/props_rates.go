package rates

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// ratesProps is the page of the rates.
func ratesProps(ctx context.Context, shell layout.Page, f ratesFacts, zone *time.Location) dashboard.RatesProps {
	props := dashboard.RatesProps{Page: shell, Alarms: f.Alarms, Rules: rateRules(ctx, f, zone),
		Sources: sourceRows(ctx, f, zone)}
	props.Note, props.NoteHref, props.NoteText = ratesNote(ctx, f)
	for _, currency := range money.Currencies() {
		props.Currencies = append(props.Currencies, string(currency))
	}
	props.Coins, props.Missing = coinPrices(f)
	for i, p := range f.Pairs {
		props.Pairs = append(props.Pairs, pairRow(ctx, p, i == f.Chosen, f.Range))
	}
	if props.Note != "" { // the one reason for whatever is missing
		props.Missing = nil
		for i := range props.Pairs {
			props.Pairs[i].Problem = ""
		}
	}
	if len(f.Pairs) > 0 {
		props.Detail = pairDetail(ctx, f, zone)
	}
	return props
}

// ratesNote says where prices come from when no market makes them, or why
// nothing is fetched.
func ratesNote(ctx context.Context, f ratesFacts) (note, href, text string) {
	switch {
	case f.Scope.Domain == scope.Test:
		return words.T(ctx, "rates.note_test"), "", ""
	case len(f.Healths) == 0:
		return words.T(ctx, "rates.note_none"), "", ""
	case !f.Wanted:
		return words.T(ctx, "rates.note_idle"), "/dashboard/methods", words.T(ctx, "rates.note_methods")
	}
	return "", "", ""
}

// coinPrices is the table of the coins, and each reason for a missing price
// that no alarm tells already.
func coinPrices(f ratesFacts) (rows []dashboard.CoinPrices, missing []string) {
	for _, p := range f.Prices {
		if name := string(p.Coin.Coin); len(rows) == 0 || rows[len(rows)-1].Coin != name {
			rows = append(rows, dashboard.CoinPrices{Coin: name, Name: p.Coin.Name})
		}
		text := ""
		if p.Why == "" {
			text = price(p.Currency, p.Quote.Price)
		} else if !slices.Contains(missing, p.Why) && !slices.Contains(f.Alarms, p.Why) {
			missing = append(missing, p.Why)
		}
		last := &rows[len(rows)-1]
		last.Prices = append(last.Prices, text)
	}
	return rows, missing
}

func rateRules(ctx context.Context, f ratesFacts, zone *time.Location) (rules []dashboard.RateRule) {
	for _, currency := range money.Currencies() {
		policy := f.Policies[currency]
		rule := dashboard.RateRule{Currency: string(currency), Rate: rateWords(ctx, currency, policy, f.Now, zone),
			Spread: spreadWords(ctx, policy.Spread),
			Href:   policyPath(currency), LinkText: words.T(ctx, "rates.see")}
		if f.Scope.Allows(scope.ManageBusiness) {
			rule.LinkText = words.T(ctx, "rates.change")
		}
		pair := quote.Pair{Base: string(money.USD), Quote: currency.ISOCode()}
		for _, p := range f.Pairs {
			if p.Pair == pair {
				rule.Warning = ownRateWarning(ctx, currency, policy, p, f.Now)
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// rateWords say whose rate of a currency counts at a time.
func rateWords(ctx context.Context, currency money.Currency, p quote.Policy, now time.Time,
	zone *time.Location) string {
	if currency == money.USD {
		return words.T(ctx, "rates.none_needed")
	}
	switch p.At(currency, now) {
	case quote.Manual:
		return words.T(ctx, "rates.own_until", "Rate", ownRate(currency, p.Manual), "Time",
			ui.TimeText(ctx, p.ManualUntil.In(zone)))
	case quote.Street:
		return words.T(ctx, "rates.street")
	}
	return words.T(ctx, "rates.official")
}

// spreadWords say what a spread does. The price is lowered by it, so a customer
// pays a little more than the same part more of the coin.
func spreadWords(ctx context.Context, basisPoints int) string {
	if basisPoints == 0 {
		return words.T(ctx, "rates.spread_none")
	}
	more := decimal.New(int64(basisPoints)*100, 0).DivRound(decimal.New(int64(10_000-basisPoints), 0), 2)
	id := "rates.spread_more"
	if basisPoints < 0 {
		id = "rates.spread_less"
	}
	return words.T(ctx, id, "Spread", display.FormatMinus(quote.Percent(basisPoints)), "Percent", more.Abs().String())
}

// ownRateLimit is how far from the market, in percent, an own rate may be
// without a warning.
var ownRateLimit = decimal.NewFromInt(5)

// ownRateWarning tells that a business's own rate is far from the market's.
func ownRateWarning(ctx context.Context, currency money.Currency, p quote.Policy, market pairFacts,
	now time.Time) string {
	if p.At(currency, now) != quote.Manual || market.Why != "" || !market.Leg.Value.IsPositive() {
		return ""
	}
	off := p.Manual.Sub(market.Leg.Value).Shift(2).DivRound(market.Leg.Value, 1)
	if p.Manual.Sub(market.Leg.Value).Abs().Shift(2).LessThanOrEqual(market.Leg.Value.Mul(ownRateLimit)) {
		return ""
	}
	id := "rates.own_above"
	if off.IsNegative() {
		id = "rates.own_below"
	}
	return words.T(ctx, id, "Percent", off.Abs().String(), "Market", price(currency, market.Leg.Value))
}

func pairRow(ctx context.Context, p pairFacts, chosen bool, r chartRange) dashboard.PairRow {
	row := dashboard.PairRow{Pair: p.Pair.String(), Href: pairHref(p.Pair, r), Chosen: chosen, Problem: p.Why,
		Spread: "–"}
	if p.Why == "" {
		row.Median = figure(p.Leg.Value)
	}
	counted, lowest, highest := 0, decimal.Zero, decimal.Zero
	for _, r := range p.Leg.Readings {
		if r.LeftOut != "" {
			continue
		}
		if counted++; counted == 1 {
			lowest, highest = r.Value, r.Value
		}
		lowest, highest = decimal.Min(lowest, r.Value), decimal.Max(highest, r.Value)
	}
	row.Counted = words.T(ctx, "rates.counted_of", "Counted", strconv.Itoa(counted), "All",
		strconv.Itoa(len(p.Leg.Readings)))
	if counted > 1 && lowest.IsPositive() {
		row.Spread = highest.Sub(lowest).Shift(2).DivRound(lowest, 4).StringFixed(2) + " %"
	}
	return row
}

func pairHref(p quote.Pair, r chartRange) string {
	query := url.Values{"pair": {p.String()}}
	if r != chartRanges[0] {
		query.Set("range", r.Name)
	}
	return display.RatesPath + "?" + query.Encode() + "#pair"
}

func pairDetail(ctx context.Context, f ratesFacts, zone *time.Location) dashboard.PairDetail {
	p := f.Pairs[f.Chosen]
	d := dashboard.PairDetail{Pair: p.Pair.String(), Problem: p.Why, Median: figure(p.Leg.Value),
		Trusted: display.PublisherName(ctx, p.Leg.Trusted)}
	for _, r := range p.Leg.Readings {
		name, href := display.FindPublisher(ctx, r.Source)
		d.Readings = append(d.Readings, dashboard.RateReading{Source: name, Href: href, Value: figure(r.Value),
			Via: r.Via, LeftOut: r.LeftOut,
			At: r.At.In(zone), Age: display.FormatAge(ctx, f.Now.Sub(r.At))})
	}
	if f.Scope.Domain != scope.Live {
		return d
	}
	for _, r := range chartRanges {
		d.Ranges = append(d.Ranges, dashboard.RangeLink{Text: words.T(ctx, r.Words), Href: pairHref(p.Pair, r),
			Chosen: r == f.Range})
	}
	d.Chart = rateChart(ctx, p.Pair, f, zone)
	return d
}

// figure writes a rate for people: thousands apart, and as many decimals as tell
// rates of its size apart.
func figure(d decimal.Decimal) string {
	places := int32(8)
	switch abs := d.Abs(); {
	case abs.GreaterThanOrEqual(decimal.NewFromInt(1000)):
		places = 2
	case abs.GreaterThanOrEqual(decimal.NewFromInt(1)):
		places = 4
	case abs.GreaterThanOrEqual(decimal.New(1, -3)):
		places = 6
	}
	return thousands(d.StringFixed(places))
}

// thousands sets the whole thousands of a decimal number apart.
func thousands(text string) string {
	text, negative := strings.CutPrefix(text, "-")
	whole, part, decimals := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if negative {
		whole = "−" + whole
	}
	if decimals {
		whole += "." + part
	}
	return whole
}

// sign returns the symbol in front of a currency's amounts.
func sign(c money.Currency) string {
	return strings.TrimSuffix(c.FormatForPeople(decimal.Zero), "0.00")
}

// price is a figure with the sign of its currency.
func price(c money.Currency, d decimal.Decimal) string { return sign(c) + figure(d) }

// ownRate is a rate exactly as the business set it.
func ownRate(c money.Currency, d decimal.Decimal) string { return sign(c) + thousands(d.String()) }
