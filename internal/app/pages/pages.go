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
	"cointill/internal/app/services"
	"cointill/web"
)

// NewDashboard makes the pages of merchants. operators serves the page of operators.
func NewDashboard(s *services.Services, operators *system.Service) *dashboard.Handlers {
	db, now := s.DB, s.Clock
	return dashboard.New(dashboard.Services{
		Accounts: s.Accounts, Users: s.Users, Factors: auth.NewFactors(s.Users), Sessions: s.Sessions,
		Passkeys: auth.NewPasskeys(s.Users), Keys: s.Keys, Audits: s.Audits, Books: s.Books, Calls: s.Calls,
		Figures: s.Figures, Hub: s.Hub, Links: s.Links, Mails: s.Mails, Payments: s.Payments, Resolver: s.Resolver,
		Lists: s.Lists, Quotes: s.Quotes, Receiving: s.Receiving, Sandbox: s.Sandbox, Sends: s.Sends,
		KeyProofs: &keyproof.Service{DB: db, Clock: now, Users: s.Users, Wallets: s.Wallets, Secrets: s.Secrets,
			Site: s.Base},
		Approvals: s.Sends.Approvals, SendRules: s.Sends.Rules, Batches: &batch.Batches{Sends: s.Sends},
		Signing: s.Sends.Signing, Addresses: s.Sends.Addresses, Transactions: s.Signing, Settings: s.Settings,
		System: operators, Wallets: s.Wallets, Webhooks: s.Webhooks, Deliveries: s.Deliveries, Resends: s.Resends,
		Eraser:     &erase.Service{DB: db, Clock: now, Users: s.Users, Calls: s.Calls, Answers: s.Answers},
		Signatures: &diagnose.Service{DB: db, Clock: now, Endpoints: s.Webhooks},
		Answers:    s.Answers, Clock: now, Depths: s.Settings.Depths, MailServer: s.Mails.SMTP != nil,
		Networks: s.Networks, Noted: s.Networks, Notices: s.Notices, Browsers: s.Browsers, Collecting: s.Collecting,
		Tills: s.Tills,
		Views: &savedview.Service{DB: db, Clock: now},
		Notes: &note.Service{DB: db, Clock: now},
		GoingLive: golive.New(golive.Deps{DB: db, Clock: now, Networks: s.Networks, Payments: s.Payments,
			Quotes: s.Quotes, Users: s.Users, System: operators}),
	})
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
