package links

import (
	"net/http"
	"strings"

	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// editLinkForm is the form of a payment link that is there.
func (h *Handlers) editLinkForm(c *page.Ctx) error {
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.FindLink(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	var methods []string
	if found.Methods != "" {
		methods = strings.Split(found.Methods, ",")
	}
	return h.showLinkForm(c, http.StatusOK, ui.Form{Values: linkValues(found, page.LoadZone(c.Member.Business))},
		ticked(methods))
}

// updateLink changes a payment link. Payments that were started with it stay as they were.
func (h *Handlers) updateLink(c *page.Ctx) error {
	id, err := page.ReadID(c, "payment link")
	if err != nil {
		return err
	}
	found, err := h.Links.FindLink(c.UserContext(), c.Scope, id)
	if err != nil {
		return err // before any word about its fields
	}
	typed, methods := page.ReadForm(c, linkFields...), page.ReadValues(c, "methods")
	draft, errors := linkDraft(c.UserContext(), typed.Values, methods, found.ExpiresAt,
		page.LoadZone(c.Member.Business))
	if len(errors) > 0 {
		others := draft.CheckDraft(h.Clock())
		if draft.ExpiresAt == found.ExpiresAt {
			delete(others, "expires_at") // it may have passed by itself
		}
		return h.refuseLink(c, typed, methods, page.MergeErrors(errors, others))
	}
	if _, err := h.Links.UpdateLink(c.UserContext(), c.Scope, id, draft); err != nil {
		return h.refuseLink(c, typed, methods, err)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "links.saved"))
	return c.Redirect(linkPath(id))
}
