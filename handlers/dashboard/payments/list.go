package payments

import (
	"context"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listPayments lists the transactions that its address asks for.
func (h *Handlers) listPayments(c *page.Ctx) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	asked := listing.ReadRequest(c)
	named, err := h.findNamed(c, asked)
	if err != nil {
		return err
	}
	if list.IsCustomerCode(named) {
		return c.OpenPage(customersPath + "/" + named)
	}
	if named != "" {
		return c.OpenPage(listing.PaymentsPath + "/" + named)
	}
	newest, err := h.Lists.Newest(ctx, c.Scope) // before the list, so that a payment in between counts as new
	if err != nil {
		return err
	}
	found, err := h.Lists.Search(ctx, c.Scope, h.makeFilter(c, asked))
	if fault.KindOf(err) == fault.NotFound { // the page was one of another business or domain
		asked.ReportUnreadable(ctx, "filters.no_page_begins", asked.Older+asked.Newer)
		asked = asked.FirstPage()
		found, err = h.Lists.Search(ctx, c.Scope, h.makeFilter(c, asked))
	}
	if err != nil {
		return err
	}
	if named = findOnlyPayment(c, asked, found); named != "" {
		return c.OpenPage(listing.PaymentsPath + "/" + named)
	}
	facts := listFacts{Found: found, Newest: newest, Zone: zone, Resend: c.Scope.Allows(scope.ManageWebhooks)}
	facts.Summed = len(asked.DescribeFilters(ctx)) > 0 || page.ReadQuery(c).Get("totals") == "show"
	if facts.Summed && len(found.Payments) > 0 {
		if facts.Totals, err = h.Lists.Total(ctx, c.Scope, h.makeFilter(c, asked)); err != nil {
			return err
		}
	}
	if facts.News, err = h.countNewer(c, h.makeFilter(c, asked)); err != nil {
		return err
	}
	if facts.Views, err = h.Views.List(ctx, c.Scope); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "payments.transactions"), "payments")
	c.MakeLive(&shell, "")
	return c.Render(dashboard.Payments(paymentsProps(ctx, shell, asked, facts)))
}

// makeFilter makes the filter that a list was asked for.
func (h *Handlers) makeFilter(c *page.Ctx, asked listing.Search) list.Filter {
	f := asked.Filter(page.LoadZone(c.Member.Business), h.Clock())
	if asked.Network != "" {
		f.Network = networks.FindName(h.Networks, c.Scope.Domain, money.Chain(asked.Network))
	}
	return f
}

// findNamed returns the payment or the customer that a search names whole, without other filters; "" for none.
func (h *Handlers) findNamed(c *page.Ctx, asked listing.Search) (string, error) {
	if asked.Query == "" || asked.Older+asked.Newer != "" || len(asked.DescribeFilters(c.UserContext())) > 1 {
		return "", nil
	}
	return h.Lists.FindExact(c.UserContext(), c.Scope, asked.Query)
}

// findOnlyPayment returns the only payment that a search of the overview found; "" for none, or another search.
func findOnlyPayment(c *page.Ctx, asked listing.Search, found list.Page) string {
	if page.ReadQuery(c).Get("only") != "open" || asked.Query == "" || len(asked.Wrong) > 0 {
		return ""
	}
	if len(found.Payments) != 1 || found.Older || found.Newer {
		return ""
	}
	return found.Payments[0].Reference
}

// countNewer counts the payments of a list's filter that are newer than its page, where the script of an open page
// asks.
func (h *Handlers) countNewer(c *page.Ctx, f list.Filter) (int, error) {
	since, asked := c.LiveSince()
	if !asked {
		return 0, nil
	}
	f.Before, f.After = list.Place{}, list.Place{}
	return h.Lists.CountNewer(c.UserContext(), c.Scope, f, list.Place{Reference: since})
}

// newsText says how many payments are new, "" for none; core counts up to a hundred.
func newsText(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	if n >= 100 {
		return words.T(ctx, "payments.news_many")
	}
	return words.N(ctx, "payments.news", n)
}
