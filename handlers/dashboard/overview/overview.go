package overview

import (
	"context"
	"slices"
	"time"

	"cointill/core/account"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/stats"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// findYesterday returns the day before today in a zone.
func findYesterday(now time.Time, zone *time.Location) string {
	_, day := listing.Search{Period: "yesterday"}.Days(zone, now)
	return day
}

// showOverview is the first page after signing in. A member without the right to see payments
// in this domain begins at the webhooks.
func (h *Handlers) showOverview(c *page.Ctx) error {
	if !c.Scope.Allows(scope.SeePayments) {
		return c.Redirect("/dashboard/webhooks")
	}
	ctx, sc, zone := c.UserContext(), c.Scope, page.LoadZone(c.Member.Business)
	now := h.Clock()
	f := overviewFacts{Asked: readSpan(ctx, page.ReadQuery(c), zone, now), Scope: sc, Zone: zone,
		Yesterday: findYesterday(now, zone), HidesSteps: hidesSteps(c)}
	var err error
	if f.Now, err = h.Figures.ReadFigures(ctx, sc, f.Asked.countedPeriod(zone)); err != nil {
		return err
	}
	if f.Before, err = h.Figures.ReadFigures(ctx, sc, f.Asked.previousPeriod(zone)); err != nil {
		return err
	}
	if f.Sold, err = h.listSales(ctx, sc, f.Asked.countedPeriod(zone)); err != nil {
		return err
	}
	if f.SoldBefore, err = h.listSales(ctx, sc, f.Asked.previousPeriod(zone)); err != nil {
		return err
	}
	if f.Waiting, err = h.Lists.Waiting(ctx, sc); err != nil {
		return err
	}
	recent, err := h.Lists.Search(ctx, sc, list.Filter{Limit: 8})
	if err != nil {
		return err
	}
	f.Recent = recent.Payments
	methods, err := h.Accounts.Methods(ctx, sc)
	if err != nil {
		return err
	}
	f.Unhealthy = listUnhealthy(ctx, methods)
	f.NoCoin = !slices.ContainsFunc(methods, func(m account.Method) bool { return m.Enabled })
	if f.ToApprove, err = h.countToApprove(ctx, sc); err != nil {
		return err
	}
	if f.Unpriced, err = display.FindUnpriced(ctx, h.Quotes, sc, methods); err != nil {
		return err
	}
	if err := h.loadSetUp(ctx, sc, &f); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "overview.overview"), "overview")
	c.MakeLive(&shell, "")
	return c.Render(dashboard.Overview(overviewProps(ctx, shell, f)))
}

// countToApprove counts the sends that wait for approval, for members with the right to approve.
func (h *Handlers) countToApprove(ctx context.Context, sc scope.Scope) (n int64, err error) {
	if !sc.Allows(scope.ApproveSends) {
		return 0, nil
	}
	totals, err := h.Sends.Totals(ctx, sc, h.Clock())
	for _, t := range totals {
		if t.State == send.AwaitingApproval {
			n = t.Sends
		}
	}
	return n, err
}

// listSales lists the sales that were booked in a period.
func (h *Handlers) listSales(ctx context.Context, sc scope.Scope, p stats.Period) ([]journal.DaySales, error) {
	return h.Books.ListSales(ctx, sc, journal.Period{From: p.From, To: p.To})
}

// listUnhealthy tells why methods that are on take no payments now, by their coin.
func listUnhealthy(ctx context.Context, methods []account.Method) map[money.Coin]string {
	problems := map[money.Coin]string{}
	for _, m := range methods {
		if m.Enabled {
			problems[m.Coin.Coin] = words.Translate(ctx, m.FindProblem())
		}
	}
	return problems
}

// loadSetUp tells which webhooks there are and how they do, and how far a new
// business has come. What its role may not see is left out.
func (h *Handlers) loadSetUp(ctx context.Context, sc scope.Scope, f *overviewFacts) error {
	if sc.Allows(scope.SeeWebhooks) {
		endpoints, _, err := h.Webhooks.List(ctx, sc, "", 100)
		if err != nil {
			return err
		}
		f.Endpoints = endpoints
		if f.Failed, err = h.Deliveries.LastFailures(ctx, sc); err != nil {
			return err
		}
	}
	f.SetUp.Started = len(f.Recent) > 0
	paid, err := h.Lists.Search(ctx, sc, list.Filter{States: []payment.State{payment.Successful}, Limit: 1})
	if err != nil {
		return err
	}
	f.SetUp.Paid = len(paid.Payments) > 0
	if sc.Allows(scope.ManageKeys) {
		keys, err := h.Keys.ListKeys(ctx, sc)
		if err != nil {
			return err
		}
		f.SetUp.Keys = len(keys)
	}
	return h.loadReceiving(ctx, sc, f)
}

// loadReceiving tells whether the business receives on a real network, and whether one
// is there: the simulated ones need nothing to receive with.
func (h *Handlers) loadReceiving(ctx context.Context, sc scope.Scope, f *overviewFacts) error {
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		sc.Domain = domain
		for _, c := range money.Chains() {
			network, problem := h.Networks.Network(domain, c)
			if !problem.IsZero() || network.IsSandbox() {
				continue
			}
			f.SetUp.CanReceive = true
			_, found, err := h.Wallets.Active(ctx, sc, c)
			if err != nil {
				return err
			}
			f.SetUp.Receives = f.SetUp.Receives || found
		}
	}
	return nil
}
