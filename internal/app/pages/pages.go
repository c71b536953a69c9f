// Package pages makes the API and the pages of merchants from the services of the core.
package pages

import (
	"github.com/gofiber/fiber/v2"

	"cointill/core/account/auth"
	"cointill/core/golive"
	"cointill/core/payment/erase"
	"cointill/core/payment/note"
	"cointill/core/savedview"
	"cointill/core/send/batch"
	"cointill/core/system"
	"cointill/core/wallet/keyproof"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/api"
	"cointill/handlers/api/openapi"
	"cointill/handlers/dashboard"
	"cointill/handlers/dashboard/books"
	"cointill/handlers/dashboard/developers"
	checklist "cointill/handlers/dashboard/golive"
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
	reports "cointill/handlers/dashboard/system"
	"cointill/handlers/dashboard/team"
	"cointill/handlers/dashboard/till"
	"cointill/handlers/dashboard/wallet"
	"cointill/handlers/dashboard/webhooks"
	"cointill/handlers/page"
	"cointill/internal/app/services"
	"cointill/web"
)

// NewDashboard makes the pages of merchants: each area gets the services that it uses. operators serves the page of
// operators.
func NewDashboard(s *services.Services, operators *system.Service) *dashboard.Handlers {
	db, now, exports := s.DB, s.Clock, &page.Exports{}
	goingLive := golive.New(golive.Deps{DB: db, Clock: now, Networks: s.Networks, Payments: s.Payments,
		Quotes: s.Quotes, Users: s.Users, System: operators})
	mailServer := s.Mails.SMTP != nil
	passkeys := auth.NewPasskeys(s.Users)
	return &dashboard.Handlers{
		Books:      &books.Handlers{Journal: s.Books, Exports: exports, Clock: now},
		Developers: &developers.Handlers{Keys: s.Keys, Calls: s.Calls, Answers: s.Answers, Clock: now},
		GoingLive: &checklist.Handlers{Checklist: goingLive, Links: s.Links, Pages: s.Payments,
			Wallets: s.Wallets, Webhooks: s.Webhooks, Deliveries: s.Deliveries, Networks: s.Networks,
			Answers: s.Answers},
		Links:   &links.Handlers{Accounts: s.Accounts, Links: s.Links, Lists: s.Lists, Answers: s.Answers, Clock: now},
		Live:    &live.Handlers{Hub: s.Hub, Payments: s.Payments, Sends: s.Sends},
		Notices: &notifications.Handlers{Notifications: s.Notices, Browsers: s.Browsers},
		Mailbox: &mailbox.Handlers{Mails: s.Mails, MailServer: mailServer},
		Overview: &overview.Handlers{Accounts: s.Accounts, Books: s.Books, Keys: s.Keys, Figures: s.Figures,
			Lists: s.Lists, Quotes: s.Quotes, Sends: s.Sends, Wallets: s.Wallets, Webhooks: s.Webhooks,
			Deliveries: s.Deliveries, Networks: s.Networks, Clock: now},
		Payments: &payments.Handlers{Payments: s.Payments, Resolver: s.Resolver, Lists: s.Lists, Mails: s.Mails,
			Sandbox: s.Sandbox, Sends: s.Sends, Wallets: s.Wallets, Networks: s.Networks, Deliveries: s.Deliveries,
			Resends: s.Resends, Views: &savedview.Service{DB: db, Clock: now}, Notes: &note.Service{DB: db, Clock: now},
			Eraser:  &erase.Service{DB: db, Clock: now, Users: s.Users, Calls: s.Calls, Answers: s.Answers},
			Answers: s.Answers, Exports: exports, Clock: now},
		People: &people.Handlers{Accounts: s.Accounts, Users: s.Users, Factors: auth.NewFactors(s.Users),
			Sessions: s.Sessions, Passkeys: passkeys, MailServer: mailServer},
		Rates: &rates.Handlers{Quotes: s.Quotes, Clock: now},
		Sends: &sends.Handlers{Sends: s.Sends, Approvals: s.Sends.Approvals, Batches: &batch.Batches{Sends: s.Sends},
			Signing: s.Sends.Signing, Addresses: s.Sends.Addresses, Sandbox: s.Sandbox, Transactions: s.Signing,
			Rules: s.Sends.Rules, Answers: s.Answers, Networks: s.Networks, Clock: now},
		Settings: &settings.Handlers{Settings: s.Settings, Audits: s.Audits, Team: s.Accounts,
			Depths: s.Settings.Depths, Exports: exports, Clock: now},
		SignIn: &signin.Handlers{Accounts: s.Accounts, Users: s.Users, Passkeys: passkeys, Team: s.Accounts,
			MailServer: mailServer},
		System: &reports.Handlers{System: operators},
		Team:   &team.Handlers{Team: s.Accounts, Answers: s.Answers, MailServer: mailServer, Clock: now},
		Till: &till.Handlers{Tills: s.Tills, Links: s.Links, Hub: s.Hub, Networks: s.Networks, Answers: s.Answers,
			Clock: now, Pages: s.Payments},
		Wallet: &wallet.Handlers{Accounts: s.Accounts, Wallets: s.Wallets, Receiving: s.Receiving,
			KeyProofs: &keyproof.Service{DB: db, Clock: now, Users: s.Users, Wallets: s.Wallets, Secrets: s.Secrets,
				Site: s.Base},
			Quotes: s.Quotes, Networks: s.Networks, Noted: s.Networks, Rehearsals: goingLive,
			Collecting: s.Collecting, Clock: now},
		Webhooks: &webhooks.Handlers{Webhooks: s.Webhooks, Deliveries: s.Deliveries, Resends: s.Resends,
			Signatures: &diagnose.Service{DB: db, Clock: now, Endpoints: s.Webhooks}, Answers: s.Answers, Clock: now},
	}
}

// RegisterAPI puts the endpoints of /v1 on an app, and returns the document that describes them.
// perMinute is how many requests a key may make in a minute; 0 means the usual number. version is the program's.
func RegisterAPI(app fiber.Router, s *services.Services, perMinute int64, version string) func() *openapi.Document {
	return api.Register(app, api.Deps{
		Payments: s.Payments, Lists: s.Lists, Resolver: s.Resolver, Webhooks: s.Webhooks, Deliveries: s.Deliveries,
		Resends: s.Resends, Links: s.Links, Keys: s.Keys, Methods: s.Accounts, Networks: s.Networks, Quotes: s.Quotes,
		Sandbox: s.Sandbox, Sends: s.Sends, Signing: s.Signing, ClaimURL: s.Sends.ClaimURL, Books: s.Books,
		Limits: s.Limiter, Answers: s.Answers, Secrets: s.Secrets, Clock: s.Clock, PerMinute: perMinute,
		BaseURL: s.Base, Version: version,
	})
}

// NewDeps hands the services to the web server. The caller adds the log, metrics, checks and routes, and
// whether calls of the API are noted.
func NewDeps(s *services.Services) web.Deps {
	return web.Deps{Clock: s.Clock, Account: s.Accounts, Sessions: s.Sessions, Keys: s.Keys, Secret: s.Secrets,
		Limiter: s.Limiter, Hub: s.Hub, Notifications: s.Notices}
}
