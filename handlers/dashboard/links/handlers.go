// Package links lists, shows, creates and changes payment links.
package links

import (
	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/link"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts *account.Service
	Answers  *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock    clock.Clock
	Links    *link.Service
	Lists    *list.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/links", scope.SeeLinks, h.listLinks)
	m.Get("/dashboard/links/new", scope.ManageLinks, h.newLinkForm)
	m.Post("/dashboard/links", scope.ManageLinks, h.createLink)
	m.Get("/dashboard/links/:id", scope.SeeLinks, h.showLink)
	m.Get("/dashboard/links/:id/edit", scope.ManageLinks, h.editLinkForm)
	m.Get("/dashboard/links/:id/poster", scope.SeeLinks, h.showPoster)
	m.Get("/dashboard/links/:id/qr.png", scope.SeeLinks, h.servePicture)
	m.Post("/dashboard/links/:id", scope.ManageLinks, h.updateLink)
	m.Post("/dashboard/links/:id/toggle", scope.ManageLinks, h.toggleLink)
}
