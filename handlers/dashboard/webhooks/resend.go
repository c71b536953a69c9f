package webhooks

import (
	"context"
	"net/http"

	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const resendsPath = display.WebhooksPath + "/resends"

// listResends shows the form to send events again, and earlier orders.
func (h *Handlers) listResends(c *page.Ctx) error {
	typed, types := asked(c)
	if typed.Value("created_after") == "" {
		typed.Values["created_after"] = h.Clock().In(page.LoadZone(c.Member.Business)).AddDate(0, 0, -1).
			Format(page.FormTime)
		typed.Values["failed"] = "true"
	}
	return h.showResends(c, http.StatusOK, typed, types)
}

// reviewResend says how many events an order would send. It changes nothing.
func (h *Handlers) reviewResend(c *page.Ctx) error {
	typed, types := asked(c)
	order, unreadable := orderOf(c.UserContext(), typed, types, page.LoadZone(c.Member.Business))
	if len(unreadable) > 0 {
		return h.refuseResend(c, typed, types, page.MergeErrors(unreadable, h.Resends.Check(order)))
	}
	planned, err := h.Resends.Plan(c.UserContext(), c.Scope, order)
	if err != nil {
		return h.refuseResend(c, typed, types, err)
	}
	names, err := h.endpointNames(c)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "webhook.resend"), "webhooks")
	shell.NextPath = resendsPath
	return c.Render(dashboard.ResendReview(reviewOf(c.UserContext(), shell, typed, reviewed{order, planned, names},
		page.LoadZone(c.Member.Business))))
}

// createResend gives the order.
func (h *Handlers) createResend(c *page.Ctx) error {
	typed, types := page.ReadForm(c, orderFields...), page.ReadValues(c, "types")
	order, unreadable := orderOf(c.UserContext(), typed, types, page.LoadZone(c.Member.Business))
	if len(unreadable) > 0 {
		return h.refuseResend(c, typed, types, page.MergeErrors(unreadable, h.Resends.Check(order)))
	}
	err := page.RedirectOnce(h.Answers, c,
		func(ctx context.Context) (delivery.Resend, error) { return h.Resends.Create(ctx, c.Scope, order) },
		func(r delivery.Resend) string { return resendPath(r.ID) })
	if err != nil {
		return h.refuseResend(c, typed, types, err)
	}
	return nil
}

// showResend shows how far an order is.
func (h *Handlers) showResend(c *page.Ctx) error {
	found, err := h.Resends.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	names, err := h.endpointNames(c)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "webhook.sending_again"), "webhooks")
	shell.NextPath = resendsPath
	props := dashboard.ResendProps{Page: shell, ResendRow: resendRow(c.UserContext(), found, names,
		page.LoadZone(c.Member.Business))}
	if props.Working {
		props.Refresh = 5
	}
	return c.Render(dashboard.Resend(props))
}

func (h *Handlers) refuseResend(c *page.Ctx, typed ui.Form, types []string, refused error) error {
	return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showResends(c, status, typed, types)
	})
}

func (h *Handlers) showResends(c *page.Ctx, status int, typed ui.Form, types []string) error {
	after := page.CleanText(c.Query("after"))
	orders, next, err := h.Resends.List(c.UserContext(), c.Scope, after, listing.PageSize)
	if err != nil {
		return err
	}
	endpoints, _, err := h.Webhooks.List(c.UserContext(), c.Scope, "", 100)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "webhook.resend"), "webhooks")
	shell.NextPath = resendsPath
	facts := resendsFacts{Scope: c.Scope, Endpoints: endpoints, Orders: orders, After: after, Next: next, Types: types}
	return c.RenderStatus(status,
		dashboard.Resends(resendsProps(c.UserContext(), shell, typed, facts, page.LoadZone(c.Member.Business))))
}

// endpointNames are the names of the endpoints that there are, by their id.
func (h *Handlers) endpointNames(c *page.Ctx) (map[string]string, error) {
	endpoints, _, err := h.Webhooks.List(c.UserContext(), c.Scope, "", 100)
	return namesOf(endpoints), err
}

// asked is the order in the address of a page.
func asked(c *page.Ctx) (typed ui.Form, types []string) {
	typed.Values = map[string]string{}
	for _, name := range orderFields {
		typed.Values[name] = page.CleanText(c.Query(name))
	}
	for _, kind := range c.Context().QueryArgs().PeekMulti("types") {
		types = append(types, page.CleanText(string(kind)))
	}
	return typed, types
}

func resendPath(id string) string { return resendsPath + "/" + id }
