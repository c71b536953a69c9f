package dashboard

import (
	"context"
	"net/http"
	"strings"

	"cointill/core/fault"
	"cointill/core/link"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// linkForm is the form of a new payment link, with every coin ticked.
func (h *Handlers) linkForm(c *page.Ctx) error {
	empty := ui.Form{Values: map[string]string{"currency": currencyFirst(c.Member.Business), "amount_kind": "fixed"}}
	return h.showLinkForm(c, http.StatusOK, empty, ticked(nil))
}

// linkCreate makes a payment link.
func (h *Handlers) linkCreate(c *page.Ctx) error {
	typed, methods := form(c, linkFields...), multiple(c, "methods")
	draft, errors := linkDraft(c.UserContext(), typed.Values, methods, nil, zoneOf(c.Member.Business))
	if len(errors) > 0 {
		return h.linkRefused(c, typed, methods, mistyped(errors, draft.Check(h.Clock())))
	}
	err := once(h.Answers, c, func(ctx context.Context) (models.Link, error) { return h.Links.Create(ctx, c.Scope, draft) },
		func(l models.Link) string { return linkPath(l.ID) })
	if err != nil {
		return h.linkRefused(c, typed, methods, err)
	}
	payable, err := h.Links.Payable(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	made := models.Link{Methods: strings.Join(methods, ",")}
	if len(link.Offered(made, payable)) > 0 { // else its page says what is missing
		c.Flash(string(ui.Good), words.T(c.UserContext(), "links.link_is_ready"))
	}
	return nil
}

// mistyped is the refusal of a form in which some fields can't even be read:
// the other fields' sentences come with theirs, all at once.
func mistyped(unreadable, others fault.Fields) error {
	for name, sentences := range others {
		if len(unreadable[name]) == 0 {
			unreadable[name] = sentences
		}
	}
	return fault.Validation(unreadable)
}

func (h *Handlers) linkRefused(c *page.Ctx, typed ui.Form, methods []string, refused error) error {
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	on := map[string]bool{}
	for _, code := range methods {
		on[code] = true
	}
	return h.showLinkForm(c, status, typed, on)
}

// showLinkForm offers the coins that are on, and those of a link that is there.
func (h *Handlers) showLinkForm(c *page.Ctx, status int, f ui.Form, on map[string]bool) error {
	methods, err := h.Accounts.Methods(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.LinkFormProps{Page: c.Layout(words.T(c.UserContext(), "links.new_payment_link"), "links"), Form: f, MethodsOn: on, ID: c.Params("id"),
		Zone: zoneOf(c.Member.Business).String(), Live: c.Domain() == scope.Live}
	if props.ID != "" {
		props.Title, props.NextPath = words.T(c.UserContext(), "links.edit_payment_link"), "/dashboard/links"
	}
	for _, m := range methods {
		if code := string(m.Coin.Method); m.Enabled || on[code] && props.ID != "" {
			props.Methods = append(props.Methods, ui.Option{Value: code, Label: m.Coin.Name + " (" + string(m.Coin.Coin) + ")"})
		}
	}
	return c.RenderStatus(status, dashboard.LinkForm(props))
}

// multiple are the values of a field that may come several times.
func multiple(c *page.Ctx, name string) (values []string) {
	for _, value := range c.Context().PostArgs().PeekMulti(name) {
		values = append(values, string(value))
	}
	return values
}
