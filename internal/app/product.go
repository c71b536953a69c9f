// Package app is the one wiring of the product: it opens the database and the networks that
// the settings name, hands every service its dependencies, and runs the work beside requests.
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
	"cointill/chain/node"
	simulated "cointill/chain/sandbox"
	"cointill/core/account/auth"
	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/metrics"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/outbox"
	"cointill/core/payment/observe"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/core/trace"
	"cointill/core/webhook/guard"
	"cointill/handlers/api/openapi"
	"cointill/handlers/dashboard"
	"cointill/handlers/page"
	"cointill/internal/app/customers"
	"cointill/internal/app/pages"
	"cointill/internal/app/services"
	"cointill/models"
	mailview "cointill/views/mail"
	"cointill/web"
)

// Version is set when a release is built.
var Version = "development"

// Product is everything wired together.
type Product struct {
	*services.Services
	shared     *clock.Shared // the clock, where several processes have one; else nil
	Log        *slog.Logger
	Rates      *rates
	nodes      *nodes
	Marks      *addressmark.Store
	chains     []*simulated.Chain
	Follows    []followed
	followers  sync.Map // *chain.Follower by the network that this process follows now
	Server     *web.Server
	started    time.Time
	Tracer     *trace.Tracer // nil without a collector
	metrics    *metrics.Collector
	mailServer string // where mails go; empty for nowhere
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
	p := &Product{Log: slog.Default(), limits: findLimits(), mailServer: s.mailHost(),
		Marks: addressmark.New(s.markFolders()...), release: func() error { return nil }}
	db, now, err := p.openDatabase(ctx, s, now)
	if err != nil {
		return nil, err
	}
	p.started = now()
	if err := p.wireProduct(ctx, s, services.Config{DB: db, Clock: now, Secrets: box,
		Base: s.PublicBase(listening[0].String()), Marks: p.Marks}, listening); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// openDatabase opens it, and returns it with the clock that goes with it where none is given: the machine's own
// with SQLite, and with PostgreSQL the one that every process on it goes by.
func (p *Product) openDatabase(ctx context.Context, s *Settings, given clock.Clock) (db *models.DB, now clock.Clock,
	err error) {
	switch {
	case given != nil:
		now = given
	case s.DatabaseURL == "":
		now = clock.Real()
	default:
		p.shared = clock.NewShared(clock.Real(), clock.Steady(),
			func(ctx context.Context) (time.Time, error) { return db.Now(ctx) })
		now = p.shared.Now
	}
	if db, err = s.OpenDatabase(ctx, now); err != nil || p.shared == nil {
		return db, now, err
	}
	if err = p.shared.Compare(ctx); err != nil {
		err = errors.Join(err, db.Close())
	}
	return db, now, err
}

// wireProduct completes the configuration of the services, and makes them and the server.
func (p *Product) wireProduct(ctx context.Context, s *Settings, c services.Config, listening []net.Addr) (err error) {
	if err := checkKey(ctx, c.DB, c.Secrets); err != nil {
		return err
	}
	c.Users = auth.New(c.DB, c.Clock, c.Secrets)
	c.Users.LimitHashing(p.limits.memory)
	if c.Users.AskSetupToken, err = isReachable(c.Base, listening[0]); err != nil {
		return err
	}
	if c.Depths, err = settings.ParseDepths(s.Confirmations); err != nil {
		return err
	}
	if c.Restored, err = c.DB.Restored(ctx); err != nil {
		return err
	}
	if s.SMTPURL != "" {
		if c.SMTP, err = mail.ParseSMTP(s.SMTPURL); err != nil {
			return err
		}
	}
	c.Operators, c.SharedAccounts, c.Version = s.Operators, s.XRPSharedAccounts, Version
	c.OpenPages, c.Pictures, c.DeliveryOptions = p.limits.pages, p.limits.pictures, outbox.Options{Pool: p.limits.deliveries}
	c.Clients = p.newClients(s, listening)
	c.Render = services.MailRenderers{Account: mailview.RenderAccount, Send: mailview.RenderSend,
		Wallet: mailview.RenderWalletChanged, Webhook: mailview.RenderWebhookOff,
		Receipt: func(r mail.Receipt) (subject, text, html string) { return renderReceipt(c.Base, r) }}
	c.Reached, c.Attempted = p.reportState, p.reportAttempt
	c.MailEnded = func(outcome string) { p.metrics.CountMail(outcome) }
	if err := p.openNetworks(ctx, s, &c); err != nil {
		return err
	}
	if err := p.openRates(ctx, s, &c); err != nil {
		return err
	}
	p.Services = services.New(c)
	return p.wireServer(s)
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
func (p *Product) openNetworks(ctx context.Context, s *Settings, of *services.Config) (err error) {
	if p.nodes, err = s.buildNodes(node.Access{Clock: of.Clock, Log: p.Log, Memory: p.limits.answers}); err != nil {
		return err
	}
	p.Follows = p.nodes.follow
	of.Nodes = p.nodes.Nodes
	of.Networks = &networks.Registry{DB: of.DB, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {},
		scope.Live: {}}, Homes: p.nodes.homes, Tokenless: p.nodes.tokenless}
	for domain, chains := range p.nodes.served {
		maps.Copy(of.Networks.Domains[domain], chains)
	}
	of.Simulated = map[money.Chain]sandbox.Chain{}
	shared := observe.NewAddresses(&chain.WatchSet{})
	for _, code := range money.ListNetworks() {
		if _, real := p.nodes.served[scope.Test][code]; real || code.IsEVM() && p.nodes.hasEVM(scope.Test) {
			continue
		}
		c, err := simulated.Open(ctx, of.DB, code, of.Clock)
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
		of.Simulated[code] = c
		of.Networks.Domains[scope.Test][code] = c.Network()
	}
	return of.Networks.Refresh(ctx)
}

// furtherInterval is how often the simulated networks beside each coin's first one are looked at for changes by other
// processes.
const furtherInterval = 3 * time.Second

// newClients makes the clients of webhooks, which don't reach this server's own listeners.
func (p *Product) newClients(s *Settings, listening []net.Addr) map[scope.Domain]*http.Client {
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
	return clients
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
func (p *Product) wireServer(s *Settings) error {
	registry, err := p.registerMetrics()
	if err == nil {
		err = p.openTraces(s)
	}
	if err != nil {
		return err
	}
	deps := pages.NewDeps(p.Services)
	deps.Calls, deps.Log, deps.Metrics, deps.Checks = p.Calls, p.Log, registry, p.readinessChecks()
	var document func() *openapi.Document
	deps.Routes = web.Routes{
		API: func(app fiber.Router) {
			document = pages.RegisterAPI(app, p.Services, s.RateLimit, Version)
		},
		Dashboard: func(m page.Members, v page.Visitors) { p.NewDashboard().Routes(m, v) },
		Checkout:  customers.NewPages(p.Services).Routes,
		Docs:      func(r page.Payers) { openapi.DocsRoutes(r, document) },
	}
	p.Server, err = web.New(web.Config{BaseURL: p.Base, TrustedProxies: s.TrustedProxies,
		Connections: p.limits.connections, Bodies: p.limits.bodies}, deps)
	return err
}

// NewDashboard makes the merchant's pages.
func (p *Product) NewDashboard() *dashboard.Handlers {
	return pages.NewDashboard(p.Services, p.NewSystem())
}

// Close closes the database, and gives back the data folder that this process serves.
func (p *Product) Close() error { return errors.Join(p.DB.Close(), p.release()) }
