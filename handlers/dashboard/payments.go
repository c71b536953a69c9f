package dashboard

import (
	"context"
	"net/url"
	"strconv"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/stream"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// newsPath streams how many payments have come since a list was shown.
const newsPath = paymentsPath + "/news"

// payments lists the transactions that its address asks for.
func (h *Handlers) payments(c *page.Ctx) error {
	ctx, zone := c.UserContext(), zoneOf(c.Member.Business)
	asked := searchOf(c)
	newest, err := h.Payments.Newest(ctx, c.Scope) // before the list is read: what comes between is told as new, not left out
	if err != nil {
		return err
	}
	found, err := h.Payments.Search(ctx, c.Scope, asked.filter(zone, h.Clock()))
	if fault.KindOf(err) == fault.NotFound { // the page was one of another business or domain
		asked.wrong(ctx, "filters.no_page_begins", asked.Older+asked.Newer)
		asked = asked.first()
		found, err = h.Payments.Search(ctx, c.Scope, asked.filter(zone, h.Clock()))
	}
	if err != nil {
		return err
	}
	return c.Render(dashboard.Payments(paymentsProps(ctx, c.Layout(words.T(ctx, "payments.transactions"), "payments"), asked, listFacts{Found: found, Newest: newest, Zone: zone})))
}

// searchOf reads the search from the address of a request.
func searchOf(c *page.Ctx) search { return readSearch(c.UserContext(), queryOf(c)) }

// queryOf is what the address of a request asks for; what can't be read is left out.
func queryOf(c *page.Ctx) url.Values {
	values, _ := url.ParseQuery(string(c.Request().URI().QueryString()))
	return values
}

// paymentsNews streams how many payments are newer than an open list, as far as
// they are what it was asked for.
func (h *Handlers) paymentsNews(c *page.Ctx) error {
	asked := searchOf(c)
	filter, since, sc := asked.filter(zoneOf(c.Member.Business), h.Clock()), payment.Place{Reference: asked.Newer}, c.Scope
	filter.Before, filter.After = payment.Place{}, payment.Place{}
	updates, leave, err := h.Hub.SubscribeList(stream.List{Business: sc.BusinessID, Domain: string(sc.Domain)})
	if err != nil {
		return err
	}
	return c.Stream(updates, leave, func(ctx context.Context) (page.Event, error) {
		n, err := h.Payments.News(ctx, sc, filter, since)
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

// before is where a page of a list begins; 0 is its start.
func before(c *page.Ctx) int64 {
	n, err := strconv.ParseInt(c.Query("before"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
