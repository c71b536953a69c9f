package dashboard

import (
	"context"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// overview is the first page after signing in. Whoever may not see payments in
// this domain begins at the webhooks.
func (h *Handlers) overview(c *page.Ctx) error {
	if !c.Scope.Allows(scope.SeePayments) {
		return c.Redirect("/dashboard/webhooks")
	}
	ctx, sc, now := c.UserContext(), c.Scope, h.Clock()
	summary, err := h.Payments.Summary(ctx, sc, since(now))
	if err != nil {
		return err
	}
	recent, err := h.Payments.Search(ctx, sc, payment.Filter{Limit: 8})
	if err != nil {
		return err
	}
	facts := overviewFacts{Summary: summary, Recent: recent.Payments, Now: now, Scope: sc}
	if err := h.webhookFacts(ctx, sc, &facts); err != nil {
		return err
	}
	if err := h.setUpFacts(ctx, sc, &facts); err != nil {
		return err
	}
	methods, err := h.Accounts.Methods(ctx, sc)
	if err != nil {
		return err
	}
	if facts.Unpriced, err = h.unpriced(sc, methods); err != nil {
		return err
	}
	return c.Render(dashboard.Overview(overviewProps(c.Layout("Overview", "overview"), facts, zoneOf(c.Member.Business))))
}

// webhookFacts tells how many webhooks there are, and which were switched off.
func (h *Handlers) webhookFacts(ctx context.Context, sc scope.Scope, facts *overviewFacts) error {
	if !sc.Allows(scope.SeeWebhooks) {
		return nil
	}
	endpoints, _, err := h.Webhooks.List(ctx, sc, "", 100)
	facts.SetUp.Webhooks = len(endpoints)
	for _, e := range endpoints {
		if e.OffReason != "" {
			facts.Off = append(facts.Off, e.Name)
		}
	}
	return err
}

// setUpFacts tells how far a new business has come: only in the test domain,
// and only until its first paid test.
func (h *Handlers) setUpFacts(ctx context.Context, sc scope.Scope, facts *overviewFacts) error {
	facts.SetUp.Started = len(facts.Recent) > 0
	paid, err := h.Payments.Search(ctx, sc, payment.Filter{Status: string(payment.Successful), Limit: 1})
	if err != nil {
		return err
	}
	facts.SetUp.Paid = len(paid.Payments) > 0
	if facts.SetUp.Paid || !sc.Allows(scope.ManageKeys) {
		return nil
	}
	keys, err := h.Accounts.Keys(ctx, sc)
	facts.SetUp.Keys = len(keys)
	return err
}
