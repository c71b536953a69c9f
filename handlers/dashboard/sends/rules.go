package sends

import (
	"context"
	"net/http"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send/request"
	"cointill/core/send/rules"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showRulesPage shows who must approve sends.
func (h *Handlers) showRulesPage(c *page.Ctx) error {
	now, _, err := h.Rules.ReadRules(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	return h.showRules(c, http.StatusOK, ui.Form{Values: map[string]string{"one_from": formatRule(now.OneFrom, "0"),
		"two_from": formatRule(now.TwoFrom, ""), "day_limit": formatRule(now.DayLimit, "")}})
}

func (h *Handlers) showRules(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	now, planned, err := h.Rules.ReadRules(ctx, c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.SendRulesProps{Page: c.FillLayout(words.T(ctx, "sends.rules_title"), "sends"), Form: typed,
		Now: ruleTexts(ctx, now), Change: c.Scope.Allows(scope.ApproveSends), SecondFactor: c.Member.User.SecondFactor}
	if planned != nil {
		props.Planned, props.From = ruleTexts(ctx, planned.Rules), planned.From.In(page.LoadZone(c.Member.Business))
	}
	return c.RenderStatus(status, dashboard.SendRules(props))
}

// setRules changes who must approve sends.
func (h *Handlers) setRules(c *page.Ctx) error {
	ctx, typed := c.UserContext(), page.ReadForm(c, "one_from", "two_from", "day_limit")
	errors := fault.Fields{}
	read := func(name string) int64 {
		cents, ok := parseRule(typed.Value(name))
		if !ok || name == "one_from" && typed.Value(name) == "" {
			errors.AddMessage(name, fault.Verbatim(words.T(ctx, "sends.must_be_usd")))
		}
		return cents
	}
	asked := rules.Rules{OneFrom: read("one_from"), TwoFrom: read("two_from"), DayLimit: read("day_limit")}
	err := fault.Validation(errors)
	if err == nil {
		err = h.Rules.SetRules(ctx, c.Scope, asked, page.ReadProof(c))
	}
	if err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowAgain(c, typed, err, h.showRules)
	}
	c.SetFlash(string(ui.Good), words.T(ctx, "sends.rules_saved"))
	return c.Redirect(rulesPath)
}

// parseRule reads an amount of USD as cents; an empty text is 0.
func parseRule(text string) (cents int64, ok bool) {
	if text == "" {
		return 0, true
	}
	d, err := decimal.NewFromString(request.StripGroups(text))
	if err != nil || len(text) > 20 {
		return 0, false
	}
	d = d.Shift(2)
	return d.IntPart(), d.IsInteger() && d.Sign() >= 0 && d.LessThan(decimal.New(1, 15))
}

// formatRule writes cents as a form shows them.
func formatRule(cents int64, none string) string {
	if cents == 0 {
		return none
	}
	return money.FormatHundredths(cents)
}

func ruleTexts(ctx context.Context, r rules.Rules) dashboard.SendRuleTexts {
	usd := func(cents int64, none string) string {
		if cents == 0 {
			return none
		}
		return display.FormatHundredths(money.USD, cents)
	}
	texts := dashboard.SendRuleTexts{One: words.T(ctx, "sends.rule_every"), Two: words.T(ctx, "sends.rule_never"),
		Limit: usd(r.DayLimit, words.T(ctx, "sends.rule_no_limit"))}
	if r.OneFrom > 0 {
		texts.One = words.T(ctx, "sends.rule_from", "Amount", usd(r.OneFrom, ""))
	}
	if r.TwoFrom > 0 {
		texts.Two = words.T(ctx, "sends.rule_from", "Amount", usd(r.TwoFrom, ""))
	}
	return texts
}
