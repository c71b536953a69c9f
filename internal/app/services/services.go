// Package services makes the services of the core from a database, networks and prices, for the program,
// the test server and the simulation.
package services

import (
	"context"
	"net/http"

	"cointill/chain"
	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/apilog"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/lease"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/mail"
	"cointill/core/memory"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/outbox"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/place"
	"cointill/core/quote"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/core/send/payer"
	"cointill/core/send/signing"
	"cointill/core/settings"
	"cointill/core/sse"
	"cointill/core/stats"
	"cointill/core/till"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// Config configures the services.
type Config struct {
	DB       *models.DB
	Clock    clock.Clock
	Secrets  *secret.Box
	Base     string // the address of this instance, without a slash at its end
	Users    *auth.Service
	Networks *networks.Registry
	Quotes   *quote.Service

	// The further fields may be empty.

	// Marks keep outside of the database how far addresses of keys were given out. Networks of the sandbox
	// need none.
	Marks     wallet.Marks
	Render    MailRenderers
	Nodes     Nodes
	Depths    settings.Depths // the operator's numbers of confirmations
	Restored  models.Restored // of a restored backup
	Operators []string        // their mail addresses
	// SharedAccounts lets several businesses receive with one account of the XRP Ledger.
	SharedAccounts bool
	// Simulated are the chains of the sandbox.
	Simulated map[money.Chain]sandbox.Chain
	// SMTP is the mail server; nil keeps mails.
	SMTP *mail.SMTP
	// Clients make the requests of webhooks, and DeliveryOptions say how many at once. Version is the
	// program's, in these requests.
	Clients         map[scope.Domain]*http.Client
	DeliveryOptions outbox.Options
	Version         string
	// Reached, MailEnded and Attempted count payments' states, attempts to send mails and requests of
	// webhooks.
	Reached   func(payment.Change)
	MailEnded func(outcome string)
	Attempted func(delivery.Attempted)
	OpenPages int          // most pages that are kept up to date; 0 for the usual number
	Pictures  *memory.Part // memory for decoding logos
}

// MailRenderers write mails. Without one for accounts or for webhooks these mails aren't sent; the others are needed
// where such a mail can be sent.
type MailRenderers struct {
	Account func(auth.Letter) (subject, text, html string)
	Receipt func(mail.Receipt) (subject, text, html string)
	Send    func(letter.Letter) (subject, text, html string)
	Wallet  func(receiving.Notice) (subject, text, html string)
	Webhook func(webhook.Notice) (subject, text, html string)
}

// Nodes are the real networks.
type Nodes struct {
	// Find returns the network that serves a chain in a domain, if payments to keys are received on it.
	Find func(scope.Domain, money.Chain) (wallet.Net, bool)
	// Ledgers are the networks of the XRP Ledger.
	Ledgers map[scope.Domain]wallet.Ledger
	// Holders look up balances of addresses on networks of Ethereum's kind, and money is collected on the
	// networks in Collecting.
	Holders    map[scope.Domain]map[money.Chain]wallet.Holder
	Collecting map[scope.Domain][]collect.Network
	// Contracts are the ids and tokens of Ethereum's networks, for wallets.
	Contracts map[chain.Network]place.Contract
	Signers   map[string]payer.Signer // by network
}

// Services are the services of the core. Make them with New.
type Services struct {
	DB             *models.DB
	Clock          clock.Clock
	Secrets        *secret.Box
	Base           string
	Accounts       *account.Service
	Users          *auth.Service
	Sessions       *auth.Sessions
	Keys           *apikey.Service
	Audits         *audit.Service
	Calls          *apilog.Log
	Settings       *settings.Service
	Answers        *idempotency.Store
	Limiter        *limit.Limiter
	Leases         *lease.Leases
	Hub            *sse.Hub
	Networks       *networks.Registry
	Quotes         *quote.Service
	Wallets        *wallet.Service
	Mails          *mail.Service
	MailWorker     *outbox.Worker[models.Mail]
	Webhooks       *webhook.Service
	Sender         *delivery.Sender
	DeliveryWorker *outbox.Worker[models.Delivery]
	Deliveries     *delivery.Service
	Resends        *delivery.Resends
	Payments       *payment.Service
	Resolver       *payment.Resolver
	Lists          *list.Service
	Sends          *send.Service
	Signing        *signing.Service
	Sandbox        *sandbox.Service
	Figures        *stats.Service
	Books          *journal.Service
	Notices        *notification.Service
	Browsers       *push.Service
	Receiving      *receiving.Service
	Collecting     *collect.Service
	Links          *link.Service
	Tills          *till.Service
}

// New makes the services. It starts nothing.
func New(c Config) *Services {
	db, now := c.DB, c.Clock
	s := &Services{DB: db, Clock: now, Secrets: c.Secrets, Base: c.Base, Users: c.Users, Networks: c.Networks,
		Quotes: c.Quotes}
	s.wireAccounts(c)
	s.wireMessages(c)
	s.wirePayments(c)
	s.Figures = &stats.Service{DB: db, Clock: now}
	s.Books = &journal.Service{DB: db, Clock: now}
	s.Notices = &notification.Service{DB: db, Clock: now}
	s.Browsers = &push.Service{DB: db, Clock: now, Secrets: c.Secrets}
	s.Receiving = &receiving.Service{DB: db, Clock: now, Users: s.Users, Wallets: s.Wallets, Mails: s.Mails,
		Render: c.Render.Wallet, Pages: c.Base + "/dashboard/methods", Wake: s.MailWorker.Signal}
	s.Collecting = &collect.Service{DB: db, Clock: now, Sheets: s.Wallets, Quotes: c.Quotes, Home: c.Networks.Home,
		Networks: c.Nodes.Collecting}
	s.Links = &link.Service{DB: db, Clock: now, Payments: s.Payments, Prices: c.Quotes, Networks: c.Networks,
		Base: c.Base + "/l"}
	s.Tills = &till.Service{DB: db, Clock: now, Payments: s.Payments, Networks: c.Networks, Secrets: c.Secrets}
	return s
}

// wireAccounts makes the services of businesses, their members and their settings.
func (s *Services) wireAccounts(c Config) {
	db, now := c.DB, c.Clock
	s.Accounts, s.Keys = account.New(db, now, c.Users), apikey.New(db, now, c.Secrets)
	s.Accounts.Operators, s.Accounts.Missing, s.Accounts.Networks = c.Operators, s.describeMissing, c.Networks
	s.Sessions = auth.NewSessions(c.Users)
	s.Audits = &audit.Service{DB: db, Clock: now, Secrets: c.Secrets}
	s.Calls = apilog.New(db, now)
	s.Settings = &settings.Service{DB: db, Clock: now, Depths: c.Depths, Pictures: c.Pictures}
	s.Answers = idempotency.New(db, now, c.Secrets)
	s.Limiter = limit.New(db, now)
	s.Leases = lease.New(db, now)
	s.Hub = sse.New(db)
	if c.OpenPages > 0 {
		s.Hub.Most = c.OpenPages
	}
	s.Hub.Problem = func(network string) string { return c.Networks.Problem(network).String() }
	s.Hub.Ended = s.Accounts.FindEndedViewers
	s.Wallets = &wallet.Service{DB: db, Clock: now, Receivers: wallet.SandboxReceivers(), Networks: c.Nodes.Find,
		Ledgers: c.Nodes.Ledgers, Holders: c.Nodes.Holders, SharedAccounts: c.SharedAccounts, Marks: c.Marks}
}

// wireMessages makes the services of mails and webhooks.
func (s *Services) wireMessages(c Config) {
	db, now := c.DB, c.Clock
	s.Mails = &mail.Service{DB: db, Clock: now, Render: c.Render.Receipt, Fill: c.Users.Fill, SMTP: c.SMTP,
		Ended: c.MailEnded}
	s.MailWorker = s.Mails.NewWorker(outbox.Options{})
	s.Mails.Wake = s.MailWorker.Signal
	c.Users.Mails, c.Users.Render, c.Users.WakeMails, c.Users.Base = s.Mails, c.Render.Account, s.MailWorker.Signal, c.Base
	s.Webhooks = &webhook.Service{DB: db, Clock: now, Secrets: c.Secrets, Mails: s.Mails, WakeMails: s.MailWorker.Signal,
		Render: c.Render.Webhook, Pages: c.Base + "/dashboard/webhooks"}
	s.Sender = &delivery.Sender{DB: db, Clock: now, Endpoints: s.Webhooks, Clients: c.Clients, Version: c.Version,
		Attempted: c.Attempted}
	s.DeliveryWorker = s.Sender.Worker(c.DeliveryOptions)
	s.Deliveries = &delivery.Service{DB: db, Clock: now, Events: s.Webhooks, Wake: s.DeliveryWorker.Signal}
	s.Resends = &delivery.Resends{DB: db, Clock: now, Wake: s.DeliveryWorker.Signal}
}

// wirePayments makes the services of payments and sends.
func (s *Services) wirePayments(c Config) {
	db, now := c.DB, c.Clock
	s.Payments = &payment.Service{DB: db, Restored: c.Restored, Clock: now, Secrets: c.Secrets, Quotes: c.Quotes,
		Networks: c.Networks, Wallet: s.Wallets, Contracts: c.Nodes.Contracts, Events: s.Webhooks, Receipts: s.Mails,
		Depths: c.Depths, PageBase: c.Base + "/pay", Changed: s.signalChange, Reached: c.Reached}
	s.Resolver, s.Lists = payment.NewResolver(s.Payments), &list.Service{DB: db}
	s.Sends = send.New(send.Deps{DB: db, Clock: now, Secrets: c.Secrets, Quotes: c.Quotes, Networks: c.Networks,
		Payments: s.Payments, Resolver: s.Resolver, Users: c.Users, Events: s.Webhooks, Mails: s.Mails,
		Depths: c.Depths, Restored: c.Restored, Signers: c.Nodes.Signers, Render: c.Render.Send,
		ClaimBase: c.Base + "/refund", PageBase: c.Base + "/dashboard/sends", HasMailServer: c.SMTP != nil,
		Changed: s.signalChange})
	s.Signing = &signing.Service{DB: db, Clock: now, Payments: s.Payments, Sends: s.Sends}
	s.Sandbox = &sandbox.Service{Payments: s.Payments, Sends: s.Sends, Approvals: s.Sends.Approvals, Chains: c.Simulated}
}

// signalChange tells open pages and workers that something was committed.
func (s *Services) signalChange() {
	s.Hub.Signal()
	s.DeliveryWorker.Signal()
	s.MailWorker.Signal()
}

// describeMissing returns what keeps a payment method from working for a business.
func (s *Services) describeMissing(ctx context.Context, sc scope.Scope, method money.Method) (fault.Message, error) {
	info, _ := method.Info()
	if len(s.Networks.Served(sc.Domain, info)) > 0 && s.Quotes.Sources[sc.Domain] == nil {
		return fault.NewMessage("The operator of this server has set up no source of live prices, so no payment could " +
			"be priced."), nil
	}
	return wallet.DescribeMissing(ctx, s.Wallets, s.Networks, sc, method)
}
