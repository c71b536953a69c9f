package rates

import (
	"context"
	"regexp"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// sampleCoin is what samples are paid with.
const sampleCoin = money.BTC

// sampleAmount is what samples cost, in whole units.
func sampleAmount(c money.Currency) decimal.Decimal {
	if c == money.NGN {
		return decimal.NewFromInt(100_000)
	}
	return decimal.NewFromInt(100)
}

// policyProps is the page of a currency's rule.
func policyProps(ctx context.Context, shell layout.Page, typed ui.Form, f policyFacts,
	zone *time.Location) dashboard.RatePolicyProps {
	p := dashboard.RatePolicyProps{
		Page: shell, Form: typed, Currency: string(f.Currency), Dollar: f.Currency == money.USD,
		Editable: f.Scope.Allows(scope.ManageBusiness),
		Rate:     rateWords(ctx, f.Currency, f.Policy, f.Now, zone), Spread: spreadWords(ctx, f.Policy.Spread),
		Own:     ownWords(ctx, f, zone),
		Warning: policyWarning(ctx, f), Sample: f.Currency.FormatForPeople(sampleAmount(f.Currency)), Zone: zone.String(),
	}
	if !p.Dollar && (f.Street || f.Policy.Market == quote.Street) {
		p.Markets = []ui.Option{{Value: string(quote.Official), Label: words.T(ctx, "rate_policy.official")},
			{Value: string(quote.Street), Label: words.T(ctx, "rate_policy.street")}}
	} else {
		p.MarketText = words.T(ctx, "rate_policy.no_choice", "Currency", p.Currency)
	}
	unshown(p.Form, p.Dollar || len(p.Markets) == 0, "market")
	unshown(p.Form, p.Dollar, "manual", "manual_until")
	if p.Problem = f.Own.Why; p.Problem == "" {
		p.Samples = append(p.Samples, sampleRow(words.T(ctx, "rate_policy.by_this_rule"), f.Own))
		p.Difference = difference(ctx, f)
	}
	if f.Official.Why == "" {
		p.Samples = append(p.Samples, sampleRow(words.T(ctx, "rate_policy.by_official"), f.Official))
	}
	if p.Problem != "" && len(p.Samples) > 0 { // the rule's own price is what lacks
		p.Difference = words.T(ctx, "rate_policy.no_price", "Why", p.Problem)
	}
	return p
}

// unshown lets a form speak of fields that it doesn't show.
func unshown(f ui.Form, hidden bool, names ...string) {
	for _, name := range names {
		if sentences := f.Errors[name]; hidden && len(sentences) > 0 {
			f.Errors[""] = append(f.Errors[""], sentences...)
			delete(f.Errors, name)
		}
	}
}

// ownWords tell of a business's own rate what counts after it, or that it is over.
func ownWords(ctx context.Context, f policyFacts, zone *time.Location) string {
	running := f.Policy.At(f.Currency, f.Now) == quote.Manual
	switch {
	case !f.Policy.Manual.IsPositive():
		return ""
	case running && f.Policy.Market == quote.Street:
		return words.T(ctx, "rate_policy.then_street")
	case running:
		return words.T(ctx, "rate_policy.then_official")
	}
	return words.T(ctx, "rate_policy.own_ended", "Rate", ownRate(f.Currency, f.Policy.Manual), "Time",
		ui.TimeText(ctx, f.Policy.ManualUntil.In(zone)))
}

// policyWarning warns about an unusual rule.
func policyWarning(ctx context.Context, f policyFacts) string {
	if f.Policy.Market == quote.Street && !f.Street {
		return words.T(ctx, "rate_policy.street_gone")
	}
	return ownRateWarning(ctx, f.Currency, f.Policy, f.Fiat, f.Now)
}

func sampleRow(rule string, p priced) dashboard.RateSample {
	amount := p.Coin.Coin.FromFiat(sampleAmount(p.Currency), p.Quote.Price)
	return dashboard.RateSample{Rule: rule, Amount: p.Coin.Coin.Format(amount), Price: price(p.Currency, p.Quote.Price)}
}

// difference says how much more of a coin a customer pays by the rule than at
// the official rate.
func difference(ctx context.Context, f policyFacts) string {
	if f.Official.Why != "" || !f.Own.Quote.Price.IsPositive() {
		return ""
	}
	more := f.Official.Quote.Price.Sub(f.Own.Quote.Price).Shift(2).DivRound(f.Own.Quote.Price, 2)
	switch more.Sign() {
	case 1:
		return words.T(ctx, "rate_policy.pays_more", "Percent", more.String())
	case -1:
		return words.T(ctx, "rate_policy.pays_less", "Percent", more.Abs().String())
	}
	return words.T(ctx, "rate_policy.pays_same")
}

// policyValues is a rule as its form shows it. An own rate that is over is gone
// with the next change.
func policyValues(p quote.Policy, now time.Time, zone *time.Location) map[string]string {
	values := map[string]string{"market": string(p.Market), "spread": quote.Percent(p.Spread)}
	if p.Manual.IsPositive() && now.Before(p.ManualUntil) {
		values["manual"], values["manual_until"] = p.Manual.String(), p.ManualUntil.In(zone).Format(page.FormTime)
	}
	return values
}

var rateForm = regexp.MustCompile(`^[0-9]{1,12}(?:\.[0-9]{1,18})?$`)

// policyDraft reads the form of a rule, its times in the zone. An unreadable value has a
// sentence, and stands in the draft as a value that core refuses: so every field is spoken of
// at once, and nothing of it is ever stored.
func policyDraft(ctx context.Context, values map[string]string, zone *time.Location) (p quote.Policy,
	unreadable map[string]string) {
	unreadable = map[string]string{}
	p.Market = quote.Market(values["market"])
	var ok bool
	if p.Spread, ok = display.ParseBasisPoints(values["spread"]); !ok {
		p.Spread = quote.MaxSpread + 1
		unreadable["spread"] = words.T(ctx, "rate_policy.spread_unread")
	}
	never := decimal.NewFromInt(-1)
	if text := values["manual"]; rateForm.MatchString(text) {
		p.Manual = decimal.RequireFromString(text)
		if p.Manual.IsZero() { // means none to core, but was typed
			p.Manual = never
		}
	} else if text != "" {
		p.Manual, unreadable["manual"] = never, words.T(ctx, "rate_policy.manual_unread")
	}
	if text := values["manual_until"]; text != "" {
		at, err := time.ParseInLocation(page.FormTime, text, zone)
		if p.ManualUntil = at; err != nil {
			p.ManualUntil, unreadable["manual_until"] = time.Unix(0, 0), words.T(ctx, "rate_policy.until_unread")
		}
	}
	return p, unreadable
}
