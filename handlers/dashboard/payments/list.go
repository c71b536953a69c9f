package payments

import (
	"context"

	"cointill/core/fault"
	"cointill/core/payment/list"
	"cointill/core/sse"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// newsPath streams how many payments have come since a list was shown.
const newsPath = listing.PaymentsPath + "/news"

// listPayments lists the transactions that its address asks for.
func (h *Handlers) listPayments(c *page.Ctx) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	asked := listing.ReadRequest(c)
	newest, err := h.Lists.Newest(ctx, c.Scope) // before the list, so that a payment in between counts as new
	if err != nil {
		return err
	}
	found, err := h.Lists.Search(ctx, c.Scope, asked.Filter(zone, h.Clock()))
	if fault.KindOf(err) == fault.NotFound { // the page was one of another business or domain
		asked.ReportUnreadable(ctx, "filters.no_page_begins", asked.Older+asked.Newer)
		asked = asked.FirstPage()
		found, err = h.Lists.Search(ctx, c.Scope, asked.Filter(zone, h.Clock()))
	}
	if err != nil {
		return err
	}
	facts := listFacts{Found: found, Newest: newest, Zone: zone}
	if len(asked.DescribeFilters(ctx)) > 0 && len(found.Payments) > 0 {
		if facts.Totals, err = h.Lists.Total(ctx, c.Scope, asked.Filter(zone, h.Clock())); err != nil {
			return err
		}
	}
	return c.Render(dashboard.Payments(paymentsProps(ctx, c.FillLayout(words.T(ctx, "payments.transactions"), "payments"),
		asked, facts)))
}

// streamNews streams how many payments of an open list's filter are newer than the list.
func (h *Handlers) streamNews(c *page.Ctx) error {
	asked := listing.ReadRequest(c)
	filter, since, sc := asked.Filter(page.LoadZone(c.Member.Business), h.Clock()), list.Place{Reference: asked.Newer},
		c.Scope
	filter.Before, filter.After = list.Place{}, list.Place{}
	updates, leave, err := h.Hub.SubscribeList(sse.List{Business: sc.BusinessID, Domain: string(sc.Domain)})
	if err != nil {
		return err
	}
	return c.StreamEvents(updates, leave, func(ctx context.Context) (page.Event, error) {
		n, err := h.Lists.News(ctx, sc, filter, since)
		if err != nil || n == 0 {
			return page.Event{}, err
		}
		return page.Event{Name: "news", Data: newsText(ctx, n)}, nil
	})
}

// newsText says how many payments are new; core counts up to a hundred.
func newsText(ctx context.Context, n int) string {
	if n >= 100 {
		return words.T(ctx, "payments.news_many")
	}
	return words.N(ctx, "payments.news", n)
}
