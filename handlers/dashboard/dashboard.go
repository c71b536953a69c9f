// Package dashboard joins the pages of the merchant's dashboard. Each area of the menu is a
// package with a file for each action of a page: a handler parses the request, calls the core,
// and renders; plain functions in the props files build what pages show. A form that fails is
// shown again with its values; one that succeeds redirects to a page (303). Only new secrets
// are shown by the answer itself, because they are stored nowhere.
package dashboard

import (
	"cointill/handlers/dashboard/books"
	"cointill/handlers/dashboard/developers"
	"cointill/handlers/dashboard/golive"
	"cointill/handlers/dashboard/links"
	"cointill/handlers/dashboard/live"
	"cointill/handlers/dashboard/mailbox"
	"cointill/handlers/dashboard/notifications"
	"cointill/handlers/dashboard/overview"
	"cointill/handlers/dashboard/payments"
	"cointill/handlers/dashboard/people"
	"cointill/handlers/dashboard/rates"
	"cointill/handlers/dashboard/sends"
	"cointill/handlers/dashboard/settings"
	"cointill/handlers/dashboard/signin"
	"cointill/handlers/dashboard/system"
	"cointill/handlers/dashboard/team"
	"cointill/handlers/dashboard/till"
	"cointill/handlers/dashboard/wallet"
	"cointill/handlers/dashboard/webhooks"
	"cointill/handlers/page"
)

// Handlers are the dashboard's pages by area.
type Handlers struct {
	Books      *books.Handlers
	Developers *developers.Handlers
	GoingLive  *golive.Handlers
	Links      *links.Handlers
	Live       *live.Handlers
	Mailbox    *mailbox.Handlers
	Notices    *notifications.Handlers
	Overview   *overview.Handlers
	Payments   *payments.Handlers
	People     *people.Handlers
	Rates      *rates.Handlers
	Sends      *sends.Handlers
	Settings   *settings.Handlers
	SignIn     *signin.Handlers
	System     *system.Handlers
	Team       *team.Handlers
	Till       *till.Handlers
	Wallet     *wallet.Handlers
	Webhooks   *webhooks.Handlers
}

// Routes declares the dashboard's routes. A member whose role may not do the action of a
// route in the chosen domain is refused before its handler.
func (h *Handlers) Routes(m page.Members, v page.Visitors) {
	v.Get("/", func(c *page.Ctx) error { return c.Redirect("/dashboard") })
	h.SignIn.Routes(v)
	h.Overview.Routes(m)
	h.Live.Routes(m)
	h.Notices.Routes(m)
	h.Payments.Routes(m)
	h.Sends.Routes(m)
	h.Books.Routes(m)
	h.Wallet.Routes(m)
	h.GoingLive.Routes(m)
	h.Rates.Routes(m)
	h.Webhooks.Routes(m)
	h.Links.Routes(m)
	h.Developers.Routes(m)
	h.Mailbox.Routes(m)
	h.Settings.Routes(m)
	h.System.Routes(m)
	h.People.Routes(m)
	h.Team.Routes(m)
	h.Till.Routes(m)
}
