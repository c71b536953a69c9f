package rates

import (
	"context"
	"net/http"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// policyFields are the fields of the form of a rule.
var policyFields = []string{"market", "spread", "manual", "manual_until"}

// policyFacts is what the page of a currency's rule is made of.
type policyFacts struct {
	Scope    scope.Scope
	Currency money.Currency
	Policy   quote.Policy
	Street   bool // a street rate is configured
	Now      time.Time
	// Own is the price of the sample's coin by the rule, Official the official one
	// without a spread; Fiat is the pair that an own rate is held against.
	Own, Official priced
	Fiat          pairFacts
}

// showPolicy shows how a currency is priced.
func (h *Handlers) showPolicy(c *page.Ctx) error {
	currency, err := currencyOf(c)
	if err != nil {
		return err
	}
	return h.renderPolicy(c, http.StatusOK, currency, nil)
}

// setPolicy changes how a currency is priced, from the next payment on.
func (h *Handlers) setPolicy(c *page.Ctx) error {
	currency, err := currencyOf(c)
	if err != nil {
		return err
	}
	ctx, typed, zone := c.UserContext(), page.ReadForm(c, policyFields...), page.LoadZone(c.Member.Business)
	policy, unreadable := policyDraft(ctx, typed.Values, zone)
	refused := h.Quotes.SetPolicy(ctx, c.Scope, currency, policy)
	if refused == nil {
		c.SetFlash(string(ui.Good), words.T(ctx, "rate_policy.saved", "Currency", string(currency)))
		return c.Redirect(policyPath(currency))
	}
	status, err := page.RefuseForm(c.UserContext(), &typed, refused)
	if err != nil {
		return err
	}
	for name, sentence := range unreadable {
		typed.Errors[name] = []string{sentence}
	}
	return h.renderPolicy(c, status, currency, &typed)
}

// renderPolicy shows a rule, with the form as it was typed, or as it stands.
func (h *Handlers) renderPolicy(c *page.Ctx, status int, currency money.Currency, typed *ui.Form) error {
	policies, err := h.Quotes.Policies(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	domain, zone := c.Scope.Domain, page.LoadZone(c.Member.Business)
	facts := policyFacts{Scope: c.Scope, Currency: currency, Policy: policies[currency],
		Street: h.Quotes.HasStreet(domain, currency), Now: h.Clock()}
	if facts.Own, err = h.priceSample(c.UserContext(), domain, currency, facts.Policy); err != nil {
		return err
	}
	if facts.Official, err = h.priceSample(c.UserContext(), domain, currency, quote.Policy{}); err != nil {
		return err
	}
	if currency != money.USD {
		facts.Fiat.Pair = quote.Pair{Base: string(money.USD), Quote: currency.ISOCode()}
		facts.Fiat.Leg, err = h.Quotes.Leg(domain, facts.Fiat.Pair)
		if facts.Fiat.Why, err = display.DescribeUnavailable(c.UserContext(), err); err != nil {
			return err
		}
	}
	if typed == nil {
		typed = &ui.Form{Values: policyValues(facts.Policy, facts.Now, zone)}
	}
	shell := c.FillLayout(words.T(c.UserContext(), "rate_policy.title", "Currency", string(currency)), "rates")
	shell.NextPath = policyPath(currency)
	return c.RenderStatus(status, dashboard.RatePolicy(policyProps(c.UserContext(), shell, *typed, facts, zone)))
}

// priceSample is the price that a rule gives the coin of the samples.
func (h *Handlers) priceSample(ctx context.Context, domain scope.Domain, currency money.Currency,
	policy quote.Policy) (p priced, err error) {
	p = priced{Coin: sampleCoin.Info(), Currency: currency}
	p.Quote, err = h.Quotes.Price(domain, sampleCoin, currency, policy)
	p.Why, err = display.DescribeUnavailable(ctx, err)
	return p, err
}

// currencyOf is the currency that the address names.
func currencyOf(c *page.Ctx) (money.Currency, error) {
	currency := money.Currency(c.Param("currency"))
	if !currency.IsKnown() {
		return "", fault.Missing("currency")
	}
	return currency, nil
}

func policyPath(currency money.Currency) string { return display.RatesPath + "/" + string(currency) }
