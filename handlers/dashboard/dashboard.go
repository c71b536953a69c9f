// Package dashboard joins the pages of the merchant's dashboard. Each area of the menu is a
// package with a file for each action of a page: a handler parses the request, calls the core,
// and renders; plain functions in the props files build what pages show. A form that fails is
// shown again with its values; one that succeeds redirects to a page (303). Only new secrets
// are shown by the answer itself, because they are stored nowhere.
package dashboard

import (
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/networks"
	"cointill/core/payment"
	coresettings "cointill/core/settings"
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

// Accounts is what the areas need of core/account.
type Accounts interface {
	golive.Accounts
	links.Accounts
	overview.Accounts
	people.Accounts
	signin.Accounts
	signin.Team
	team.Team
	wallet.Accounts
}

// Users is what the areas need of core/account/auth.
type Users interface {
	people.Users
	signin.Users
}

// Passkeys is what the areas need of core/account/auth for passkeys.
type Passkeys interface {
	people.Passkeys
	signin.Passkeys
}

// Keys is what the areas need of core/account/apikey.
type Keys interface {
	developers.Keys
	overview.Keys
}

// Books is what the areas need of core/journal.
type Books interface {
	books.Journal
	overview.Books
}

// Lists is what the areas need of core/payment/list.
type Lists interface {
	links.Lists
	overview.Lists
	payments.Lists
}

// Webhooks is what the areas need of core/webhook.
type Webhooks interface {
	overview.Webhooks
	webhooks.Webhooks
}

// Deliveries is what the areas need of core/webhook/delivery.
type Deliveries interface {
	overview.Deliveries
	payments.Deliveries
	webhooks.Deliveries
}

// Mails is what the areas need of core/mail.
type Mails interface {
	mailbox.Mails
	payments.Mails
}

// Sandbox is what the areas need of core/sandbox.
type Sandbox interface {
	payments.Sandbox
	sends.Sandbox
}

// Sends is what the areas need of core/send.
type Sends interface {
	payments.Sends
	sends.Sends
}

// Wallets is what the areas need of core/wallet.
type Wallets interface {
	overview.Wallets
	payments.Wallets
	wallet.Wallets
}

// Quotes is what the areas need of core/quote.
type Quotes interface {
	overview.Quotes
	rates.Quotes
	wallet.Quotes
}

// GoingLive is what the areas need of core/golive.
type GoingLive interface {
	golive.Checklist
	wallet.Rehearsals
}

// Services are the services that pages call, and facts about the installation.
type Services struct {
	Accounts  Accounts
	Users     Users
	Factors   people.Factors
	Sessions  people.Sessions
	Passkeys  Passkeys
	Keys      Keys
	Audits    settings.Audits
	Books     Books
	Calls     developers.Calls
	Figures   overview.Figures
	Hub       live.Hub
	Links     links.Links
	Mails     Mails
	Lists     Lists
	Payments  payments.Payments
	Resolver  payments.Resolver
	Quotes    Quotes
	Receiving wallet.Receiving
	KeyProofs wallet.KeyProofs
	Sandbox   Sandbox
	Sends     Sends
	Approvals sends.Approvals
	SendRules sends.Rules
	Batches   sends.Batches
	Signing   sends.Signing
	// Transactions are those that wallets send by themselves.
	Transactions sends.Transactions
	Addresses    sends.Addresses
	Settings     settings.Settings
	System       system.System
	Wallets      Wallets
	Webhooks     Webhooks
	Deliveries   Deliveries
	Eraser       payments.Eraser
	Resends      interface {
		webhooks.Resends
		payments.Resends
	}
	Signatures webhooks.Signatures
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	Depths     coresettings.Depths // the operator's
	MailServer bool                // mails are sent, not only kept
	Networks   payment.Networks    // which network serves a coin, and its health
	Notices    notifications.Notifications
	Browsers   notifications.Browsers
	Tills      till.Tills
	Collecting wallet.Collecting
	GoingLive  GoingLive
	Views      payments.Views
	Notes      payments.Notes
	Noted      networks.Noted // what to know about a network that can be used
}

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

// New gives each area the services that it uses.
func New(s Services) *Handlers {
	exports := &page.Exports{}
	return &Handlers{
		Books:      &books.Handlers{Journal: s.Books, Exports: exports, Clock: s.Clock},
		Developers: &developers.Handlers{Keys: s.Keys, Calls: s.Calls, Answers: s.Answers, Clock: s.Clock},
		GoingLive: &golive.Handlers{Checklist: s.GoingLive, Accounts: s.Accounts, Links: s.Links, Pages: s.Payments,
			Wallets: s.Wallets, Webhooks: s.Webhooks, Deliveries: s.Deliveries, Networks: s.Networks, Answers: s.Answers},
		Links: &links.Handlers{Accounts: s.Accounts, Links: s.Links, Lists: s.Lists, Answers: s.Answers,
			Clock: s.Clock},
		Live:    &live.Handlers{Hub: s.Hub, Payments: s.Payments, Sends: s.Sends},
		Notices: &notifications.Handlers{Notifications: s.Notices, Browsers: s.Browsers},
		Mailbox: &mailbox.Handlers{Mails: s.Mails, MailServer: s.MailServer},
		Overview: &overview.Handlers{Accounts: s.Accounts, Books: s.Books, Keys: s.Keys, Figures: s.Figures,
			Lists: s.Lists, Quotes: s.Quotes, Sends: s.Sends,
			Wallets: s.Wallets, Webhooks: s.Webhooks, Deliveries: s.Deliveries, Networks: s.Networks, Clock: s.Clock},
		Payments: &payments.Handlers{Payments: s.Payments, Resolver: s.Resolver, Lists: s.Lists,
			Mails: s.Mails, Sandbox: s.Sandbox,
			Sends:      s.Sends,
			Wallets:    s.Wallets,
			Networks:   s.Networks,
			Deliveries: s.Deliveries, Resends: s.Resends, Eraser: s.Eraser, Views: s.Views, Notes: s.Notes, Answers: s.Answers,
			Exports: exports, Clock: s.Clock},
		People: &people.Handlers{Accounts: s.Accounts, Users: s.Users, Factors: s.Factors, Sessions: s.Sessions,
			Passkeys: s.Passkeys, MailServer: s.MailServer},
		Rates: &rates.Handlers{Quotes: s.Quotes, Clock: s.Clock},
		Sends: &sends.Handlers{Sends: s.Sends, Approvals: s.Approvals, Batches: s.Batches, Signing: s.Signing, Addresses: s.Addresses, Sandbox: s.Sandbox,
			Transactions: s.Transactions, Rules: s.SendRules, Answers: s.Answers, Networks: s.Networks, Clock: s.Clock},
		Settings: &settings.Handlers{Settings: s.Settings, Audits: s.Audits, Team: s.Accounts, Depths: s.Depths,
			Exports: exports, Clock: s.Clock},
		SignIn: &signin.Handlers{Accounts: s.Accounts, Users: s.Users, Passkeys: s.Passkeys, Team: s.Accounts,
			MailServer: s.MailServer},
		System: &system.Handlers{System: s.System},
		Team:   &team.Handlers{Team: s.Accounts, Answers: s.Answers, MailServer: s.MailServer, Clock: s.Clock},
		Till: &till.Handlers{Tills: s.Tills, Links: s.Links, Hub: s.Hub, Networks: s.Networks, Answers: s.Answers,
			Clock: s.Clock, Pages: s.Payments},
		Wallet: &wallet.Handlers{Accounts: s.Accounts, Wallets: s.Wallets, Receiving: s.Receiving, KeyProofs: s.KeyProofs,
			Quotes: s.Quotes, Networks: s.Networks, Noted: s.Noted, Rehearsals: s.GoingLive, Collecting: s.Collecting,
			Clock: s.Clock},
		Webhooks: &webhooks.Handlers{Webhooks: s.Webhooks, Deliveries: s.Deliveries, Resends: s.Resends,
			Signatures: s.Signatures, Answers: s.Answers, Clock: s.Clock},
	}
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
