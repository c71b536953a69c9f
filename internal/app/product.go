// Package app is the one wiring of the product: it opens the database and the networks that
// the settings name, hands every service what it needs, and runs the work beside requests.
package app

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

	"github.com/gofiber/fiber/v2"
	"github.com/shopspring/decimal"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/addressmark"
	"cointill/core/apilog"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/golive"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/lease"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/mail"
	"cointill/core/metrics"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/outbox"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/core/payment/claim"
	"cointill/core/payment/erase"
	"cointill/core/payment/list"
	"cointill/core/payment/note"
	"cointill/core/payment/observe"
	"cointill/core/quote"
	"cointill/core/receiving"
	"cointill/core/sandbox"
	"cointill/core/savedview"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/batch"
	"cointill/core/send/signing"
	"cointill/core/settings"
	"cointill/core/sse"
	"cointill/core/stats"
	"cointill/core/till"
	"cointill/core/trace"
	"cointill/core/wallet"
	"cointill/core/wallet/keyproof"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/core/webhook/guard"
	"cointill/handlers/api"
	"cointill/handlers/api/openapi"
	"cointill/handlers/checkout"
	"cointill/handlers/dashboard"
	"cointill/handlers/page"
	"cointill/models"
	mailview "cointill/views/mail"
	"cointill/web"
)

// Version is set when a release is built.
var Version = "development"

// Product is everything wired together.
type Product struct {
	Base       string
	DB         *models.DB
	Clock      clock.Clock
	shared     *clock.Shared // that clock, where several processes have one; else nil
	Log        *slog.Logger
	Accounts   *account.Service
	Users      *auth.Service
	Keys       *apikey.Service
	sessions   *auth.Sessions
	audits     *audit.Service
	Settings   *settings.Service
	calls      *apilog.Log
	Payments   *payment.Service
	Sends      *send.Service
	figures    *stats.Service
	Books      *journal.Service
	Notices    *notification.Service
	Links      *link.Service
	Hooks      *webhook.Service
	deliveries *delivery.Service
	resends    *delivery.Resends
	Sender     *delivery.Sender
	receipts   *mail.Service
	Sandbox    *sandbox.Service
	Networks   *networks.Registry
	Quotes     *quote.Service
	Rates      *rates
	nodes      *nodes
	Wallets    *wallet.Service
	Marks      *addressmark.Store
	Receiving  *receiving.Service
	hub        *sse.Hub
	limiter    *limit.Limiter
	answers    *idempotency.Store
	leases     *lease.Leases
	chains     []*simulated.Chain
	Follows    []followed
	followers  sync.Map // *chain.Follower by the network that this process follows now
	deliver    *outbox.Worker[models.Delivery]
	send       *outbox.Worker[models.Mail]
	Server     *web.Server
	started    time.Time
	Tracer     *trace.Tracer // nil without a collector
	metrics    *metrics.Collector
	// mailServer is where mails go; empty for nowhere.
	mailServer string
	limits     limits
	release    func() error // gives the data folder back that this process serves
}

// New wires the product for the addresses of its own listeners, the public one first.
func New(ctx context.Context, s *Settings, listening ...net.Addr) (*Product, error) {
	return newAt(ctx, s, nil, listening...)
}

// newAt is New with a clock in place of the usual one, unless it is nil.
func newAt(ctx context.Context, s *Settings, now clock.Clock, listening ...net.Addr) (*Product, error) {
	box, err := s.OpenMasterKey()
	if err != nil {
		return nil, err
	}
	p := &Product{Base: s.PublicBase(listening[0].String()), Clock: now, Log: slog.Default(), limits: findLimits(),
		release: func() error { return nil }}
	if err := p.openDatabase(ctx, s); err != nil {
		return nil, err
	}
	p.started = p.Clock()
	if err := p.wireProduct(ctx, s, box, listening); err != nil {
		return nil, errors.Join(err, p.DB.Close())
	}
	return p, nil
}

// openDatabase opens it, and the clock that goes with it where none is given: the machine's own
// with SQLite, and with PostgreSQL the one that every process on it goes by.
func (p *Product) openDatabase(ctx context.Context, s *Settings) (err error) {
	given := p.Clock != nil
	if !given {
		p.Clock = clock.Real()
	}
	if s.DatabaseURL != "" && !given {
		p.shared = clock.NewShared(clock.Real(), clock.Steady(),
			func(ctx context.Context) (time.Time, error) { return p.DB.Now(ctx) })
		p.Clock = p.shared.Now
	}
	if p.DB, err = s.OpenDatabase(ctx, p.Clock); err != nil || p.shared == nil {
		return err
	}
	if err = p.shared.Compare(ctx); err != nil {
		return errors.Join(err, p.DB.Close())
	}
	return nil
}

func (p *Product) wireProduct(ctx context.Context, s *Settings, box *secret.Box, listening []net.Addr) (err error) {
	if err := checkKey(ctx, p.DB, box); err != nil {
		return err
	}
	p.Users = auth.New(p.DB, p.Clock, box)
	p.Users.LimitHashing(p.limits.memory)
	p.Accounts, p.Keys = account.New(p.DB, p.Clock, p.Users), apikey.New(p.DB, p.Clock, box)
	p.sessions = auth.NewSessions(p.Users)
	p.Accounts.Operators, p.mailServer = s.Operators, s.mailHost()
	if p.Users.AskSetupToken, err = isReachable(p.Base, listening[0]); err != nil {
		return err
	}
	p.calls = apilog.New(p.DB, p.Clock)
	depths, err := settings.ParseDepths(s.Confirmations)
	if err != nil {
		return err
	}
	p.Settings = &settings.Service{DB: p.DB, Clock: p.Clock, Depths: depths, Pictures: p.limits.pictures}
	p.audits = &audit.Service{DB: p.DB, Clock: p.Clock, Secrets: box}
	p.answers = idempotency.New(p.DB, p.Clock, box)
	p.limiter = limit.New(p.DB, p.Clock)
	p.leases = lease.New(p.DB, p.Clock)
	p.hub = sse.New(p.DB)
	p.hub.Most = p.limits.pages
	if err := p.openNetworks(ctx, s); err != nil {
		return err
	}
	p.hub.Problem = func(network string) string { return p.Networks.Problem(network).String() }
	p.hub.Ended = p.Accounts.FindEndedViewers
	if err := p.Networks.Refresh(ctx); err != nil {
		return err
	}
	p.Marks = addressmark.New(s.markFolders()...)
	p.Wallets = &wallet.Service{DB: p.DB, Clock: p.Clock, Receivers: wallet.SandboxReceivers(),
		Networks: p.nodes.findNet,
		Ledgers:  p.nodes.ledgers, Holders: p.nodes.holders, SharedAccounts: s.XRPSharedAccounts, Marks: p.Marks}
	p.Accounts.Missing, p.Accounts.Networks = p.describeMissing, p.Networks
	if err := p.wireTelling(s, box, listening); err != nil {
		return err
	}
	if err := p.openRates(ctx, s); err != nil {
		return err
	}
	restored, err := p.DB.Restored(ctx)
	if err != nil {
		return err
	}
	p.Payments = &payment.Service{
		DB: p.DB, Restored: restored, Clock: p.Clock, Secrets: box, Quotes: p.Quotes, Networks: p.Networks,
		Wallet: p.Wallets, Contracts: p.nodes.contracts, Events: p.Hooks, Receipts: p.receipts, Depths: depths,
		PageBase: p.Base + "/pay", Changed: p.signalChange,
	}
	p.Sends = send.New(send.Deps{DB: p.DB, Clock: p.Clock, Secrets: box, Quotes: p.Quotes, Networks: p.Networks,
		Payments: p.Payments, Resolver: payment.NewResolver(p.Payments), Users: p.Users, Events: p.Hooks,
		Mails: p.receipts, Depths: depths, Restored: restored, Signers: p.nodes.signers,
		Render: mailview.RenderSend, ClaimBase: p.Base + "/refund", PageBase: p.Base + "/dashboard/sends",
		HasMailServer: p.receipts.SMTP != nil, Changed: p.signalChange})
	p.figures = &stats.Service{DB: p.DB, Clock: p.Clock}
	p.Books = &journal.Service{DB: p.DB, Clock: p.Clock}
	p.Notices = &notification.Service{DB: p.DB, Clock: p.Clock}
	p.Receiving = &receiving.Service{DB: p.DB, Clock: p.Clock, Users: p.Users, Wallets: p.Wallets,
		Mails:  p.receipts,
		Render: mailview.RenderWalletChanged, Pages: p.Base + "/dashboard/methods", Wake: p.send.Signal}
	p.Sandbox.Payments, p.Sandbox.Sends, p.Sandbox.Approvals = p.Payments, p.Sends, p.Sends.Approvals
	p.Links = &link.Service{DB: p.DB, Clock: p.Clock, Payments: p.Payments, Prices: p.Quotes,
		Networks: p.Networks, Base: p.Base + "/l"}
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
// every chain without one in the test domain a simulated chain. Networks of Ethereum's kind, which share their
// addresses, are all simulated or all real.
func (p *Product) openNetworks(ctx context.Context, s *Settings) (err error) {
	if p.nodes, err = s.buildNodes(p.Clock, p.Log, p.limits.answers); err != nil {
		return err
	}
	p.Follows = p.nodes.follow
	p.Networks = &networks.Registry{DB: p.DB, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {},
		scope.Live: {}}, Homes: p.nodes.homes, Tokenless: p.nodes.tokenless}
	for domain, chains := range p.nodes.served {
		maps.Copy(p.Networks.Domains[domain], chains)
	}
	p.Sandbox = &sandbox.Service{Chains: map[money.Chain]sandbox.Chain{}}
	shared := observe.NewAddresses(&chain.WatchSet{})
	for _, code := range money.ListNetworks() {
		if _, real := p.nodes.served[scope.Test][code]; real || code.IsEVM() && p.nodes.hasEVM(scope.Test) {
			continue
		}
		c, err := simulated.Open(ctx, p.DB, code, p.Clock)
		if err != nil {
			return err
		}
		one := followed{NetworkSource: c, Domain: scope.Test}
		if code.IsEVM() {
			one.addresses = shared
			p.nodes.homes[c.Network()] = chain.Sandbox(money.Ethereum)
		}
		if code.IsEVM() && code != money.Ethereum || code == money.Tron {
			one.interval = furtherInterval // few pay there; what this process mines wakes its follower
		}
		p.chains = append(p.chains, c)
		p.Follows = append(p.Follows, one)
		p.Sandbox.Chains[code] = c
		p.Networks.Domains[scope.Test][code] = c.Network()
	}
	return nil
}

// furtherInterval is how often the simulated networks beside each coin's first one are looked at for changes by other
// processes.
const furtherInterval = 3 * time.Second

// wireTelling makes what tells merchants and customers: webhooks and receipts.
func (p *Product) wireTelling(s *Settings, box *secret.Box, listening []net.Addr) error {
	var own []netip.AddrPort
	for _, listener := range listening {
		if address, err := netip.ParseAddrPort(listener.String()); err == nil {
			own = append(own, address)
		}
	}
	clients := map[scope.Domain]*http.Client{}
	for _, domain := range []scope.Domain{scope.Test, scope.Live} {
		clients[domain] = guard.NewClient(guard.Config{Domain: domain, AllowLoopback: s.AllowsWebhookLoopback(),
			AllowPrivate: s.WebhookPrivate, Own: own, Idle: max(p.limits.deliveries/4, 1)})
	}
	p.receipts = &mail.Service{DB: p.DB, Clock: p.Clock}
	p.receipts.Render = func(r mail.Receipt) (subject, text, html string) { return renderReceipt(p.Base, r) }
	if s.SMTPURL != "" {
		server, err := mail.ParseSMTP(s.SMTPURL)
		if err != nil {
			return err
		}
		p.receipts.SMTP = server
	}
	p.send = p.receipts.NewWorker(outbox.Options{})
	p.receipts.Wake = p.send.Signal
	p.Users.Mails, p.Users.Render, p.Users.WakeMails, p.Users.Base = p.receipts, mailview.RenderAccount,
		p.send.Signal, p.Base
	p.receipts.Fill = p.Users.Fill
	p.Hooks = &webhook.Service{DB: p.DB, Clock: p.Clock, Secrets: box, Mails: p.receipts, WakeMails: p.send.Signal,
		Render: mailview.RenderWebhookOff, Pages: p.Base + "/dashboard/webhooks"}
	p.Sender = &delivery.Sender{DB: p.DB, Clock: p.Clock, Endpoints: p.Hooks, Clients: clients, Version: Version,
		Attempted: p.reportAttempt}
	p.deliver = p.Sender.Worker(outbox.Options{Pool: p.limits.deliveries})
	p.deliveries = &delivery.Service{DB: p.DB, Clock: p.Clock, Events: p.Hooks, Wake: p.deliver.Signal}
	p.resends = &delivery.Resends{DB: p.DB, Clock: p.Clock, Wake: p.deliver.Signal}
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
		Coin: r.CoinAmount + " " + r.Coin, Network: r.Network, Rate: "1 " + r.Coin + " = " + r.Price + " " + r.Currency,
		Reference: r.Reference, BusinessReference: r.BusinessReference, Item: r.Item, Hash: r.TxHash,
		ExplorerURL: r.ExplorerURL, Paid: r.PaidAt,
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
func (p *Product) wireServer(s *Settings, box *secret.Box) (err error) {
	metrics, err := p.registerMetrics()
	if err == nil {
		err = p.openTraces(s)
	}
	if err != nil {
		return err
	}
	pages := &checkout.Handlers{Logos: p.Settings, Payments: p.Payments, Claims: &claim.Service{Payments: p.Payments},
		Choices: &choice.Service{Payments: p.Payments},
		Links:   p.Links, Refunds: p.Sends.Claims,
		Sandbox: p.Sandbox, Hub: p.hub, Networks: p.Networks}
	var document func() *openapi.Document
	p.Server, err = web.New(web.Config{BaseURL: p.Base, TrustedProxies: s.TrustedProxies,
		Connections: p.limits.connections, Bodies: p.limits.bodies}, web.Deps{
		Calls: p.calls, Clock: p.Clock, Account: p.Accounts, Sessions: p.sessions, Keys: p.Keys, Secret: box,
		Limiter: p.limiter, Hub: p.hub, Log: p.Log, Notifications: p.Notices,
		Metrics: metrics,
		Checks:  p.readinessChecks(),
		Routes: web.Routes{
			API: func(app fiber.Router) {
				document = api.Register(app, api.Deps{
					Payments: p.Payments, Lists: &list.Service{DB: p.DB},
					Resolver: payment.NewResolver(p.Payments), Webhooks: p.Hooks,
					Deliveries: p.deliveries, Resends: p.resends, Links: p.Links,
					Keys: p.Keys, Methods: p.Accounts, Networks: p.Networks, Quotes: p.Quotes,
					Sandbox: p.Sandbox, Sends: p.Sends, Signing: p.newSigning(),
					ClaimURL: p.Sends.ClaimURL, Books: p.Books, Limits: p.limiter,
					Answers: p.answers, Secrets: box,
					Clock:     p.Clock,
					PerMinute: s.RateLimit, BaseURL: p.Base, Version: Version,
				})
			},
			Dashboard: func(m page.Members, v page.Visitors) { p.NewDashboard().Routes(m, v) },
			Checkout:  pages.Routes,
			Docs:      func(r page.Payers) { openapi.DocsRoutes(r, document) },
		},
	})
	return err
}

// newSigning makes the service that hands sends to wallets, and finds their transactions.
func (p *Product) newSigning() *signing.Service {
	return &signing.Service{DB: p.DB, Clock: p.Clock, Payments: p.Payments, Sends: p.Sends}
}

// NewDashboard makes the merchant's pages.
func (p *Product) NewDashboard() *dashboard.Handlers {
	return dashboard.New(dashboard.Services{
		Accounts: p.Accounts, Users: p.Users, Factors: auth.NewFactors(p.Users), Sessions: p.sessions,
		Passkeys: auth.NewPasskeys(p.Users), Keys: p.Keys, Audits: p.audits, Books: p.Books, Calls: p.calls,
		Figures: p.figures,
		Hub:     p.hub, Links: p.Links,
		Mails: p.receipts, Payments: p.Payments, Resolver: payment.NewResolver(p.Payments),
		Lists: &list.Service{DB: p.DB}, Quotes: p.Quotes,
		KeyProofs: &keyproof.Service{DB: p.DB, Clock: p.Clock, Users: p.Users, Wallets: p.Wallets,
			Secrets: p.Payments.Secrets, Site: p.Base},
		Receiving: p.Receiving, Sandbox: p.Sandbox, Sends: p.Sends, Approvals: p.Sends.Approvals, SendRules: p.Sends.Rules,
		Batches: &batch.Batches{Sends: p.Sends}, Signing: p.Sends.Signing, Addresses: p.Sends.Addresses, Transactions: p.newSigning(),
		Settings: p.Settings, System: p.NewSystem(), Wallets: p.Wallets, Webhooks: p.Hooks, Deliveries: p.deliveries,
		Eraser:  &erase.Service{DB: p.DB, Clock: p.Clock, Users: p.Users, Calls: p.calls, Answers: p.answers},
		Resends: p.resends, Answers: p.answers,
		Signatures: &diagnose.Service{DB: p.DB, Clock: p.Clock, Endpoints: p.Hooks},
		Clock:      p.Clock, Depths: p.Settings.Depths, MailServer: p.receipts.SMTP != nil, Networks: p.Networks,
		Noted: p.Networks, Notices: p.Notices, Browsers: p.newPush(),
		Collecting: &collect.Service{DB: p.DB, Clock: p.Clock, Sheets: p.Wallets, Quotes: p.Quotes,
			Home: p.Networks.Home, Networks: p.nodes.collecting},
		Tills: &till.Service{DB: p.DB, Clock: p.Clock, Payments: p.Payments, Networks: p.Payments.Networks,
			Secrets: p.Payments.Secrets},
		Views: &savedview.Service{DB: p.DB, Clock: p.Clock},
		Notes: &note.Service{DB: p.DB, Clock: p.Clock},
		GoingLive: golive.New(golive.Deps{DB: p.DB, Clock: p.Clock, Networks: p.Networks, Payments: p.Payments,
			Quotes: p.Quotes, Users: p.Users, System: p.NewSystem()}),
	})
}

// signalChange tells open pages and workers that something was committed.
func (p *Product) signalChange() {
	p.hub.Signal()
	p.deliver.Signal()
	p.send.Signal()
}

// Close closes the database, and gives back the data folder that this process serves.
func (p *Product) Close() error { return errors.Join(p.DB.Close(), p.release()) }
