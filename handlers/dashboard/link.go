package dashboard

import (
	"strconv"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// link shows one payment link.
func (h *Handlers) link(c *page.Ctx) error {
	ctx, sc := c.UserContext(), c.Scope
	id, err := number(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.Find(ctx, sc, id)
	if err != nil {
		return err
	}
	collected, err := h.Links.Collected(ctx, sc, []int64{id})
	if err != nil {
		return err
	}
	started, err := h.Payments.Search(ctx, sc, payment.Filter{LinkID: &id, Limit: listSize})
	if err != nil {
		return err
	}
	payable, err := h.Links.Payable(ctx, sc)
	if err != nil {
		return err
	}
	facts := linkFacts{Link: found, URL: h.Links.URL(found), Collected: collected[id], Manage: sc.Allows(scope.ManageLinks), Payments: started.Payments, Payable: payable, Now: h.Clock()}
	return c.Render(dashboard.Link(linkProps(ctx, c.Layout(found.Title, "links"), facts, zoneOf(c.Member.Business))))
}

// number is the id in the address; what is no number is as unknown as any other.
func number(c *page.Ctx, thing string) (int64, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.Missing(thing)
	}
	return id, nil
}

func linkPath(id int64) string { return "/dashboard/links/" + strconv.FormatInt(id, 10) }
