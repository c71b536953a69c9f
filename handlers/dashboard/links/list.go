package links

import (
	"strconv"

	"cointill/core/link"
	"cointill/core/scope"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listLinks lists the payment links.
func (h *Handlers) listLinks(c *page.Ctx) error {
	ctx, sc, from := c.UserContext(), c.Scope, page.ReadBefore(c)
	links, next, err := h.Links.ListLinks(ctx, sc, from, listing.PageSize)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(links))
	for _, l := range links {
		ids = append(ids, l.ID)
	}
	collected, err := h.Links.SumCollected(ctx, sc, ids)
	if err != nil {
		return err
	}
	payable, err := h.Links.ListPayable(ctx, sc)
	if err != nil {
		return err
	}
	props := dashboard.LinksProps{Page: c.FillLayout(words.T(ctx, "links.payment_links"), "links"),
		Manage: sc.Allows(scope.ManageLinks)}
	for _, l := range links {
		props.Rows = append(props.Rows, linkRow(ctx, l, collected[l.ID], link.StateFor(l, payable, h.Clock()),
			page.LoadZone(c.Member.Business)))
	}
	props.Pager = listing.MakePager(words.N(ctx, "links.counted", len(links)), from > 0, "/dashboard/links",
		next > 0, "/dashboard/links?before="+strconv.FormatInt(next, 10))
	return c.Render(dashboard.Links(props))
}
