package dashboard

import (
	"net/http"
	"strings"

	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// linkEdit is the form of a payment link that is there.
func (h *Handlers) linkEdit(c *page.Ctx) error {
	id, err := number(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.Find(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	var methods []string
	if found.Methods != "" {
		methods = strings.Split(found.Methods, ",")
	}
	return h.showLinkForm(c, http.StatusOK, ui.Form{Values: linkValues(found, zoneOf(c.Member.Business))}, ticked(methods))
}

// linkUpdate changes a payment link. What was started with it stays as it was.
func (h *Handlers) linkUpdate(c *page.Ctx) error {
	id, err := number(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.Find(c.UserContext(), c.Scope, id)
	if err != nil {
		return err // before any word about its fields
	}
	typed, methods := form(c, linkFields...), multiple(c, "methods")
	draft, errors := linkDraft(c.UserContext(), typed.Values, methods, found.ExpiresAt, zoneOf(c.Member.Business))
	if len(errors) > 0 {
		others := draft.Check(h.Clock())
		if draft.ExpiresAt == found.ExpiresAt {
			delete(others, "expires_at") // it may have passed by itself
		}
		return h.linkRefused(c, typed, methods, mistyped(errors, others))
	}
	if _, err := h.Links.Update(c.UserContext(), c.Scope, id, draft); err != nil {
		return h.linkRefused(c, typed, methods, err)
	}
	c.Flash(string(ui.Good), words.T(c.UserContext(), "links.saved"))
	return c.Redirect(linkPath(id))
}
