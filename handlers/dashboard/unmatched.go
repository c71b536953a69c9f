package dashboard

import (
	"strconv"

	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// unmatchedPath is the list of transfers that credit no payment.
const unmatchedPath = "/dashboard/unmatched"

// unmatched lists the transfers that credit no payment.
func (h *Handlers) unmatched(c *page.Ctx) error {
	from := before(c)
	transfers, next, err := h.Payments.Unmatched(c.UserContext(), c.Scope, from, listSize)
	if err != nil {
		return err
	}
	props := dashboard.UnmatchedProps{Page: c.Layout("Unmatched", "unmatched")}
	for _, t := range transfers {
		props.Rows = append(props.Rows, unmatchedRow(t, zoneOf(c.Member.Business)))
	}
	props.Pager = pager(ui.Count(len(transfers), "transfer", "transfers"), from > 0, unmatchedPath,
		next > 0, unmatchedPath+"?before="+strconv.FormatInt(next, 10))
	return c.Render(dashboard.Unmatched(props))
}
