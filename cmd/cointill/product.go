package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/account"
	"cointill/core/addressmark"
	"cointill/core/apilog"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/lease"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/outbox"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/quote"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/settings"
	"cointill/core/sse"
	"cointill/core/stats"
	"cointill/core/trace"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/handlers/api"
	"cointill/handlers/checkout"
	"cointill/handlers/dashboard"
	"cointill/handlers/page"
	"cointill/models"
	mailview "cointill/views/mail"
	"cointill/web"

	"github.com/gofiber/fiber/v2"
)

// product is everything wired together.
type product struct {
	base      string
	db        *models.DB
	clock     clock.Clock
	shared    *clock.Shared // that clock, where several processes have one; else nil
	log       *slog.Logger
	accounts  *account.Service
	audits    *audit.Service
	settings  *settings.Service
	calls     *apilog.Log
	payments  *payment.Service
	figures   *stats.Service
	links     *link.Service
	hooks     *webhook.Service
	receipts  *mail.Service
	sandbox   *sandbox.Service
	networks  *payment.Registry
	quotes    *quote.Service
	rates     *rates
	nodes     *nodes
	wallets   *wallet.Service
	marks     *addressmark.Store
	receiving *receiving.Service
	hub       *sse.Hub
	limiter   *limit.Limiter
	answers   *idempotency.Store
	leases    *lease.Leases
	chains    []*simulated.Chain
	follows   []followed
	followers sync.Map // *chain.Follower by the network that this process follows now
	deliver   *outbox.Worker[models.Delivery]
	send      *outbox.Worker[models.Mail]
	server    *web.Server
	started   time.Time
	tracer    *trace.Tracer // nil without a collector
	// mailServer is where mails go; empty for nowhere.
	mailServer string
	limits     limits
	release    func() error // gives the data folder back that this process serves
}

// buildProduct wires the product for the addresses of its own listeners, the public one first.
func (s *Settings) buildProduct(ctx context.Context, listening ...net.Addr) (*product, error) {
	box, err := s.openMasterKey()
	if err != nil {
		return nil, err
	}
	p := &product{base: s.publicBase(listening[0].String()), log: slog.Default(), limits: findLimits(),
		release: func() error { return nil }}
	if err := p.openDatabase(ctx, s); err != nil {
		return nil, err
	}
	p.started = p.clock()
	if err := p.wireProduct(ctx, s, box, listening); err != nil {
		return nil, errors.Join(err, p.db.Close())
	}
	return p, nil
}

// openDatabase opens it, and the clock that goes with it: the machine's own with
// SQLite, and with PostgreSQL the one that every process on it goes by.
func (p *product) openDatabase(ctx context.Context, s *Settings) (err error) {
	p.clock = clock.Real()
	if s.DatabaseURL == "" && s.ListsDatabaseURL != "" {
		return errors.New("COINTILL_LISTS_DATABASE_URL is for PostgreSQL: set COINTILL_DATABASE_URL, too")
	}
	if s.DatabaseURL != "" {
		p.shared = clock.NewShared(clock.Real(), clock.Steady(),
			func(ctx context.Context) (time.Time, error) { return p.db.Now(ctx) })
		p.clock = p.shared.Now
	}
	if p.db, err = s.openDatabase(ctx, p.clock); err != nil || p.shared == nil {
		return err
	}
	err = p.shared.Compare(ctx)
	if err == nil && s.ListsDatabaseURL != "" {
		err = p.db.UseStandby(ctx, s.ListsDatabaseURL)
	}
	if err != nil {
		return errors.Join(err, p.db.Close())
	}
	return nil
}

func (p *product) wireProduct(ctx context.Context, s *Settings, box *secret.Box, listening []net.Addr) (err error) {
	if err := checkKey(ctx, p.db, box); err != nil {
		return err
	}
	p.accounts = account.New(p.db, p.clock, box)
	p.accounts.LimitHashing(p.limits.memory)
	p.accounts.Operators, p.mailServer = s.Operators, s.mailHost()
	if p.accounts.AskSetupToken, err = isReachable(p.base, listening[0]); err != nil {
		return err
	}
	p.calls = apilog.New(p.db, p.clock)
	depths, err := settings.ParseDepths(s.Confirmations)
	if err != nil {
		return err
	}
	p.settings = &settings.Service{DB: p.db, Clock: p.clock, Depths: depths, Pictures: p.limits.pictures}
	p.audits = &audit.Service{DB: p.db, Clock: p.clock, Secrets: box}
	p.answers = idempotency.New(p.db, p.clock, box)
	p.limiter = limit.New(p.db, p.clock)
	p.leases = lease.New(p.db, p.clock)
	p.hub = sse.New(p.db)
	p.hub.Most = p.limits.pages
	if err := p.openNetworks(ctx, s); err != nil {
		return err
	}
	p.hub.Problem = p.networks.Problem
	if err := p.networks.Refresh(ctx); err != nil {
		return err
	}
	p.marks = addressmark.New(s.markFolders()...)
	p.wallets = &wallet.Service{DB: p.db, Clock: p.clock, Receivers: wallet.SandboxReceivers(),
		Networks: p.nodes.findNet,
		Ledgers:  p.nodes.ledgers, Holders: p.nodes.holders, SharedAccounts: s.XRPSharedAccounts, Marks: p.marks}
	p.accounts.Missing = p.describeMissing
	if err := p.wireTelling(s, box, listening); err != nil {
		return err
	}
	if err := p.openRates(ctx, s); err != nil {
		return err
	}
	restored, err := p.db.Restored(ctx)
	if err != nil {
		return err
	}
	p.payments = &payment.Service{
		DB: p.db, Restored: restored, Clock: p.clock, Secrets: box, Quotes: p.quotes, Networks: p.networks,
		Wallet: p.wallets, Contracts: p.nodes.contracts, Events: p.hooks, Receipts: p.receipts, Depths: depths,
		PageBase: p.base + "/pay", Changed: p.signalChange,
	}
	p.figures = &stats.Service{DB: p.db, Clock: p.clock}
	p.receiving = &receiving.Service{DB: p.db, Clock: p.clock, Accounts: p.accounts, Wallets: p.wallets,
		Mails:  p.receipts,
		Render: mailview.RenderWalletChanged, Pages: p.base + "/dashboard/methods", Wake: p.send.Signal}
	p.sandbox.Payments = p.payments
	p.links = &link.Service{DB: p.db, Clock: p.clock, Payments: p.payments, Networks: p.networks, Base: p.base + "/l"}
	return p.wireServer(s, box)
}

// isReachable reports whether others than this machine may reach a server, by its listener or
// through a proxy at its base URL.
func isReachable(base string, listening net.Addr) (bool, error) {
	public, err := web.ParseBase(base)
	if err != nil {
		return true, err
	}
	at, err := netip.ParseAddrPort(listening.String())
	// An address that can't be parsed counts as reachable.
	return err != nil || !at.Addr().IsLoopback() || !public.Loopback, nil
}

// openNetworks opens the networks that the operator set nodes up for, and for
// every chain without one in the test domain a simulated chain.
func (p *product) openNetworks(ctx context.Context, s *Settings) (err error) {
	if p.nodes, err = s.buildNodes(p.clock, p.log, p.limits.answers); err != nil {
		return err
	}
	p.follows = p.nodes.follow
	p.networks = &payment.Registry{DB: p.db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {},
		scope.Live: {}}}
	for domain, chains := range p.nodes.served {
		maps.Copy(p.networks.Domains[domain], chains)
	}
	p.sandbox = &sandbox.Service{Chains: map[money.Chain]sandbox.Chain{}}
	for _, kind := range money.Chains() {
		if _, real := p.nodes.served[scope.Test][kind]; real {
			continue
		}
		c, err := simulated.Open(ctx, p.db, kind, p.clock)
		if err != nil {
			return err
		}
		p.chains = append(p.chains, c)
		p.follows = append(p.follows, followed{network: c, domain: scope.Test})
		p.sandbox.Chains[kind] = c
		p.networks.Domains[scope.Test][kind] = c.Network()
	}
	return nil
}

// wireTelling makes what tells merchants and customers: webhooks and receipts.
func (p *product) wireTelling(s *Settings, box *secret.Box, listening []net.Addr) error {
	var own []netip.AddrPort
	for _, listener := range listening {
		if address, err := netip.ParseAddrPort(listener.String()); err == nil {
			own = append(own, address)
		}
	}
	clients := map[scope.Domain]*http.Client{}
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		clients[domain] = webhook.NewClient(webhook.GuardConfig{Domain: domain, AllowLoopback: s.webhookLoopback(),
			AllowPrivate: s.WebhookPrivate, Own: own, Idle: max(p.limits.deliveries/4, 1)})
	}
	p.hooks = &webhook.Service{DB: p.db, Clock: p.clock, Secrets: box, Clients: clients, Version: version}
	p.deliver = p.hooks.Worker(outbox.Options{Pool: p.limits.deliveries})
	p.hooks.Wake = p.deliver.Signal
	p.receipts = &mail.Service{DB: p.db, Clock: p.clock}
	p.receipts.Render = func(r mail.Receipt) (subject, text, html string) { return renderReceipt(p.base, r) }
	if s.SMTPURL != "" {
		server, err := mail.ParseSMTP(s.SMTPURL)
		if err != nil {
			return err
		}
		p.receipts.SMTP = server
	}
	p.send = p.receipts.NewWorker(outbox.Options{})
	p.receipts.Wake = p.send.Signal
	p.accounts.Mails, p.accounts.Render, p.accounts.WakeMails, p.accounts.Base = p.receipts, mailview.RenderAccount,
		p.send.Signal, p.base
	p.receipts.Fill = p.accounts.Fill
	p.hooks.Mails, p.hooks.WakeMails = p.receipts, p.send.Signal
	p.hooks.Render, p.hooks.Pages = mailview.RenderWebhookOff, p.base+"/dashboard/webhooks"
	return nil
}

// renderReceipt writes a receipt by its views.
func renderReceipt(base string, r mail.Receipt) (subject, text, html string) {
	fiat := r.Currency + " " + r.Amount
	if amount, err := decimal.NewFromString(r.Amount); err == nil {
		fiat = money.Currency(r.Currency).FormatForPeople(amount)
	}
	props := mailview.ReceiptProps{
		Lang: r.Language, Merchant: r.BusinessName, CustomerName: r.CustomerName, Fiat: fiat,
		Coin:      r.CoinAmount + " " + r.Coin,
		Reference: r.Reference, BusinessReference: r.BusinessReference, Hash: r.TxHash, Paid: r.PaidAt,
		Test:    r.Domain == scope.Test,
		Contact: r.Contact,
	}
	if r.Logo != "" {
		props.LogoURL = base + r.Logo
	}
	var page strings.Builder
	if err := mailview.Receipt(props).Render(context.Background(), &page); err != nil {
		slog.Error("a receipt goes without its HTML form", "error", err) // the text says the same
	}
	return props.Subject(), mailview.ReceiptText(props), page.String()
}

// wireServer makes the HTTP server with its routes.
func (p *product) wireServer(s *Settings, box *secret.Box) (err error) {
	metrics, err := p.registerMetrics()
	if err == nil {
		err = p.openTraces(s)
	}
	if err != nil {
		return err
	}
	pages := &checkout.Handlers{Logos: p.settings, Payments: p.payments, Links: p.links, Sandbox: p.sandbox, Hub: p.hub,
		Networks: p.networks}
	var document *api.Document
	p.server, err = web.New(web.Config{BaseURL: p.base, TrustedProxies: s.TrustedProxies,
		Connections: p.limits.connections, Bodies: p.limits.bodies}, web.Deps{
		Calls: p.calls, Clock: p.clock, Account: p.accounts, Secret: box, Limiter: p.limiter, Hub: p.hub, Log: p.log,
		Metrics: metrics,
		Checks:  p.readinessChecks(),
		Routes: web.Routes{
			API: func(app fiber.Router) {
				document = api.Register(app, api.Deps{
					Payments: p.payments, Lists: &list.Service{DB: p.db}, Webhooks: p.hooks, Links: p.links,
					Keys: p.accounts, Methods: p.accounts, Networks: p.networks, Quotes: p.quotes,
					Sandbox: p.sandbox, Limits: p.limiter, Answers: p.answers, Secrets: box, Clock: p.clock,
					PerMinute: s.RateLimit, BaseURL: p.base, Version: version,
				})
			},
			Dashboard: func(m page.Members, v page.Visitors) { p.newDashboard().Routes(m, v) },
			Checkout:  pages.Routes,
			Docs:      func(r page.Payers) { r.Get("/docs", api.Docs(document)) },
		},
	})
	return err
}

// newDashboard makes the merchant's pages.
func (p *product) newDashboard() *dashboard.Handlers {
	return dashboard.New(dashboard.Services{
		Accounts: p.accounts, Audits: p.audits, Calls: p.calls, Figures: p.figures, Hub: p.hub, Links: p.links,
		Mails: p.receipts, Payments: p.payments, Lists: &list.Service{DB: p.db}, Quotes: p.quotes,
		Receiving: p.receiving, Sandbox: p.sandbox,
		Settings: p.settings, System: p.newSystem(), Wallets: p.wallets, Webhooks: p.hooks, Answers: p.answers,
		Clock: p.clock, Depths: p.settings.Depths, MailServer: p.receipts.SMTP != nil, Networks: p.networks,
		Noted: p.networks,
	})
}

// signalChange tells open pages and workers that something was committed.
func (p *product) signalChange() {
	p.hub.Signal()
	p.deliver.Signal()
	p.send.Signal()
}
