package links

import (
	"strconv"

	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// showLink shows one payment link.
func (h *Handlers) showLink(c *page.Ctx) error {
	ctx, sc := c.UserContext(), c.Scope
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.FindLink(ctx, sc, id)
	if err != nil {
		return err
	}
	collected, err := h.Links.SumCollected(ctx, sc, []int64{id})
	if err != nil {
		return err
	}
	started, err := h.Lists.Search(ctx, sc, list.Filter{LinkID: &id, Limit: listing.PageSize})
	if err != nil {
		return err
	}
	payable, err := h.Links.ListPayable(ctx, sc)
	if err != nil {
		return err
	}
	facts := linkFacts{Link: found, URL: h.Links.URL(found), Collected: collected[id],
		Manage: sc.Allows(scope.ManageLinks), Payments: started.Payments, Payable: payable, Now: h.Clock()}
	return c.Render(dashboard.Link(linkProps(ctx, c.FillLayout(found.Title, "links"), facts,
		page.LoadZone(c.Member.Business))))
}

func linkPath(id int64) string { return "/dashboard/links/" + strconv.FormatInt(id, 10) }
