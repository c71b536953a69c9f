package links

import (
	"context"
	"net/http"
	"strings"

	"cointill/core/link"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// newLinkForm is the form of a new payment link, with every coin ticked.
func (h *Handlers) newLinkForm(c *page.Ctx) error {
	empty := ui.Form{Values: map[string]string{"currency": display.FirstCurrency(c.Member.Business),
		"amount_kind": "fixed"}}
	return h.showLinkForm(c, http.StatusOK, empty, ticked(nil))
}

// createLink makes a payment link.
func (h *Handlers) createLink(c *page.Ctx) error {
	typed, methods := page.ReadForm(c, linkFields...), page.ReadValues(c, "methods")
	draft, errors := linkDraft(c.UserContext(), typed.Values, methods, nil, page.LoadZone(c.Member.Business))
	if len(errors) > 0 {
		return h.refuseLink(c, typed, methods, page.MergeErrors(errors, draft.CheckDraft(h.Clock())))
	}
	err := page.RedirectOnce(h.Answers, c,
		func(ctx context.Context) (models.Link, error) { return h.Links.CreateLink(ctx, c.Scope, draft) },
		func(l models.Link) string { return linkPath(l.ID) })
	if err != nil {
		return h.refuseLink(c, typed, methods, err)
	}
	payable, err := h.Links.ListPayable(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	made := models.Link{Methods: strings.Join(methods, ",")}
	if len(link.OfferedCoins(made, payable)) > 0 { // otherwise its page names the missing coins
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "links.link_is_ready"))
	}
	return nil
}

func (h *Handlers) refuseLink(c *page.Ctx, typed ui.Form, methods []string, refused error) error {
	status, err := page.RefuseForm(c.UserContext(), &typed, refused)
	if err != nil {
		return err
	}
	on := map[string]bool{}
	for _, code := range methods {
		on[code] = true
	}
	return h.showLinkForm(c, status, typed, on)
}

// showLinkForm offers the coins that are on, and the coins of an existing link.
func (h *Handlers) showLinkForm(c *page.Ctx, status int, f ui.Form, on map[string]bool) error {
	methods, err := h.Accounts.Methods(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	payable, err := h.Links.ListPayable(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.LinkFormProps{Page: c.FillLayout(words.T(c.UserContext(), "links.new_payment_link"), "links"),
		Form: f, MethodsOn: on, ID: c.Params("id"), Networks: map[string]string{},
		Zone: page.LoadZone(c.Member.Business).String(), Live: c.Domain() == scope.Live}
	if props.ID != "" {
		props.Title, props.NextPath = words.T(c.UserContext(), "links.edit_payment_link"), "/dashboard/links"
	}
	for _, m := range methods {
		if code := string(m.Coin.Method); m.Enabled || on[code] && props.ID != "" {
			props.Methods = append(props.Methods,
				ui.Option{Value: code, Label: m.Coin.Name + " (" + string(m.Coin.Coin) + ")"})
			props.Networks[code] = nameNetworks(m.Coin.Method, payable)
		}
	}
	return c.RenderStatus(status, dashboard.LinkForm(props))
}
