// Package links lists, shows, creates and changes payment links.
package links

import (
	"context"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
)

// Accounts is what these pages need of core/account.
type Accounts interface {
	Methods(ctx context.Context, sc scope.Scope) ([]account.Method, error)
}

// Links is what these pages need of core/link.
type Links interface {
	CreateLink(ctx context.Context, sc scope.Scope, d link.Draft) (models.Link, error)
	UpdateLink(ctx context.Context, sc scope.Scope, id int64, d link.Draft) (models.Link, error)
	SetActive(ctx context.Context, sc scope.Scope, id int64, active bool) error
	FindLink(ctx context.Context, sc scope.Scope, id int64) (models.Link, error)
	ListLinks(ctx context.Context, sc scope.Scope, before int64, limit int) (rows []models.Link, next int64, err error)
	SumCollected(ctx context.Context, sc scope.Scope, ids []int64) (map[int64][]link.Sum, error)
	ListPayable(ctx context.Context, sc scope.Scope) ([]money.CoinInfo, error)
	URL(l models.Link) string
}

// Lists is what these pages need of core/payment/list.
type Lists interface {
	Search(ctx context.Context, sc scope.Scope, f list.Filter) (list.Page, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts Accounts
	Answers  *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock    clock.Clock
	Links    Links
	Lists    Lists
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
