// Package servertest runs the real server, with the real core on a database of
// the test's own and a clock that the test moves, for the tests of pages.
package servertest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/addressmark"
	"cointill/core/apilog"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/fault"
	"cointill/core/golive"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/payment"
	"cointill/core/payment/erase"
	"cointill/core/payment/list"
	"cointill/core/payment/note"
	"cointill/core/quote"
	"cointill/core/quote/source"
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
	"cointill/core/system"
	"cointill/core/till"
	"cointill/core/wallet"
	"cointill/core/wallet/keyproof"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/api"
	"cointill/handlers/api/openapi"
	"cointill/handlers/dashboard"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/models/modelstest"
	mailview "cointill/views/mail"
	"cointill/web"
)

// Base is the server's address.
const Base = "http://localhost:8080"

// Password is every user's.
const Password = "a long enough passphrase"

// Server is a running instance.
type Server struct {
	T          testing.TB
	DB         *models.DB
	Clock      *clock.Fake
	App        *fiber.App
	Accounts   *account.Service
	Users      *auth.Service
	Keys       *apikey.Service
	Audits     *audit.Service
	Calls      *apilog.Log
	Payments   *payment.Service
	Sends      *send.Service
	Sandbox    *sandbox.Service
	Resolver   *payment.Resolver
	Lists      *list.Service
	Books      *journal.Service
	Notices    *notification.Service
	Tills      *till.Service
	Collecting *collect.Service
	Figures    *stats.Service
	Links      *link.Service
	Webhooks   *webhook.Service
	Sender     *delivery.Sender // delivers when a test steps its worker
	Deliveries *delivery.Service
	Resends    *delivery.Resends
	Mails      *mail.Service
	Hub        *sse.Hub
	Registry   *networks.Registry
	Wallets    *wallet.Service
	Marks      *addressmark.Store
	Quotes     *quote.Service
	Market     *Market // the live domain's prices; there are none yet
	// Ledger is what a look at an account of the XRP Ledger finds, by its address;
	// LookFails is why nothing can be looked up.
	Ledger    map[string]wallet.LedgerAccount
	LookFails error
	Pages     *dashboard.Handlers
	Signing   *signing.Service
	Settings  *settings.Service
	System    *system.Service

	nodes  map[scope.Domain]map[money.Chain]wallet.Net
	logged written
}

// written collects log lines; safe for concurrent use.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps more text.
func (w *written) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

// ReadLog reads everything that the server has logged.
func (s *Server) ReadLog() string {
	s.logged.mu.Lock()
	defer s.logged.mu.Unlock()
	return s.logged.text.String()
}

// Pages makes pages that a server has beside the dashboard, the API and the documentation: the customers' pages
// (checkouttest.WirePages).
type Pages func(s *Server) func(page.Payers)

// RunEach runs a test against a server on each kind of database, in parallel with other tests. The server has
// the customers' pages only if more names them, as checkouttest.RunEach does.
func RunEach(t *testing.T, test func(t *testing.T, s *Server), more ...Pages) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, New(t, db, more...)) })
}

// RunFull is RunEach for long tests whose answers don't depend on the kind of database: PostgreSQL runs
// at the full size only. The test's package imports speed.
func RunFull(t *testing.T, test func(t *testing.T, s *Server), more ...Pages) {
	t.Helper()
	t.Parallel()
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) { test(t, New(t, db, more...)) })
}

// New starts a server without any business.
func New(t testing.TB, db *models.DB, more ...Pages) *Server {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{T: t, DB: db, Clock: now, Accounts: accounttest.New(db, now.Now, box), Keys: apikey.New(db,
		now.Now, box), Hub: sse.New(db),
		nodes: map[scope.Domain]map[money.Chain]wallet.Net{scope.Test: {}, scope.Live: {}}}
	s.Users, s.Hub.Ended = s.Accounts.Auth, s.Accounts.FindEndedViewers
	s.wireServices(box)
	s.App = s.wirePages(more)
	return s
}

// wireServices wires the services as the command does.
func (s *Server) wireServices(box *secret.Box) {
	now := s.Clock.Now
	s.Calls = apilog.New(s.DB, now)
	s.Audits = &audit.Service{DB: s.DB, Clock: now, Secrets: box}
	s.Registry = &networks.Registry{DB: s.DB, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {},
		scope.Live: {}}}
	for _, c := range money.Chains() {
		s.Registry.Domains[scope.Test][c] = chain.Sandbox(c)
	}
	s.Market = &Market{}
	s.Quotes = &quote.Service{DB: s.DB, Clock: now, Asked: source.Standard(),
		Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now}, scope.Live: s.Market}}
	s.Webhooks = &webhook.Service{DB: s.DB, Clock: now, Secrets: box}
	s.Sender = &delivery.Sender{DB: s.DB, Clock: now, Endpoints: s.Webhooks}
	s.Deliveries = &delivery.Service{DB: s.DB, Clock: now, Events: s.Webhooks}
	s.Resends = &delivery.Resends{DB: s.DB, Clock: now}
	s.Mails = &mail.Service{DB: s.DB, Clock: now, Render: func(r mail.Receipt) (string, string, string) {
		return "Receipt " + r.Reference, "Thank you, " + r.CustomerName, "<p>Thank you</p>"
	}}
	s.Users.Mails, s.Users.Render, s.Users.Base = s.Mails, mailview.RenderAccount, Base
	s.Mails.Fill = s.Users.Fill
	s.Marks = addressmark.New(s.T.TempDir())
	s.Wallets = &wallet.Service{DB: s.DB, Clock: now, Receivers: wallet.SandboxReceivers(), Networks: s.findNode,
		Ledgers: map[scope.Domain]wallet.Ledger{}, Marks: s.Marks}
	s.Accounts.Missing, s.Accounts.Networks = s.describeMissing, s.Registry
	s.Payments = &payment.Service{
		DB: s.DB, Clock: now, Secrets: box, Networks: s.Registry, Quotes: s.Quotes,
		Wallet: s.Wallets, Events: s.Webhooks, Receipts: s.Mails,
		PageBase: Base + "/pay", Changed: s.Hub.Signal,
	}
	s.Resolver = payment.NewResolver(s.Payments)
	s.Sends = send.New(send.Deps{DB: s.DB, Clock: now, Secrets: box, Quotes: s.Quotes, Networks: s.Registry,
		Payments: s.Payments, Resolver: s.Resolver, Users: s.Users, Events: s.Webhooks, Mails: s.Mails,
		Render: mailview.RenderSend, ClaimBase: Base + "/refund", PageBase: Base + "/dashboard/sends",
		Changed: s.Hub.Signal})
	s.Signing = &signing.Service{DB: s.DB, Clock: now, Payments: s.Payments, Sends: s.Sends}
	s.Lists = &list.Service{DB: s.DB}
	s.Books = &journal.Service{DB: s.DB, Clock: s.Clock.Now}
	s.Notices = &notification.Service{DB: s.DB, Clock: s.Clock.Now}
	s.Figures = &stats.Service{DB: s.DB, Clock: now}
	s.Links = &link.Service{DB: s.DB, Clock: now, Payments: s.Payments, Prices: s.Quotes, Networks: s.Registry,
		Base: Base + "/l"}
}

// ConnectNetwork gives a chain in a domain a real network by its name, such as
// regtest, without any node: its health is what the test writes.
func (s *Server) ConnectNetwork(domain scope.Domain, c money.Chain, name string) {
	s.T.Helper()
	p, known := wallet.Find(string(c) + "-" + name)
	if !known {
		s.T.Fatalf("%s has no network %q", c, name)
	}
	s.nodes[domain][c], s.Registry.Domains[domain][c] = p, p.Network()
}

// ConnectLedger gives XRP in a domain a real network by its name, such as testnet,
// without any server: what accounts there are is what Ledger says.
func (s *Server) ConnectLedger(domain scope.Domain, name string) {
	s.T.Helper()
	p, known := xrp.Lookup(name)
	if !known {
		s.T.Fatalf("there is no network %q", name)
	}
	s.Registry.Domains[domain][money.XRPL] = p.Network()
	s.Wallets.Ledgers[domain] = wallet.Ledger{Params: p,
		Look: func(_ context.Context, a xrp.Account) (wallet.LedgerAccount, error) {
			return s.Ledger[a.String()], s.LookFails
		}}
}

func (s *Server) findNode(domain scope.Domain, c money.Chain) (wallet.Net, bool) {
	p, ok := s.nodes[domain][c]
	return p, ok
}

// describeMissing describes what keeps a payment method from working, as the command does.
func (s *Server) describeMissing(ctx context.Context, sc scope.Scope, method money.Method) (fault.Message, error) {
	return wallet.DescribeMissing(ctx, s.Wallets, s.Registry, sc, method)
}

// wirePages wires the pages as the command does.
func (s *Server) wirePages(more []Pages) *fiber.App {
	chains := map[money.Chain]sandbox.Chain{}
	for _, kind := range money.Chains() {
		opened, err := simulated.Open(s.T.Context(), s.DB, kind, s.Clock.Now)
		if err != nil {
			s.T.Fatal(err)
		}
		chains[kind] = opened
	}
	s.Settings = &settings.Service{DB: s.DB, Clock: s.Clock.Now}
	s.Collecting = &collect.Service{DB: s.DB, Clock: s.Clock.Now, Sheets: s.Wallets, Quotes: s.Quotes,
		Home: s.Registry.Home, Networks: map[scope.Domain][]collect.Network{}}
	player := &sandbox.Service{Payments: s.Payments, Sends: s.Sends, Approvals: s.Sends.Approvals, Chains: chains}
	s.Sandbox = player
	change := &receiving.Service{DB: s.DB, Clock: s.Clock.Now, Users: s.Users, Wallets: s.Wallets, Mails: s.Mails,
		Render: mailview.RenderWalletChanged, Pages: Base + "/dashboard/methods"}
	s.System = &system.Service{DB: s.DB, Clock: s.Clock.Now, Version: "1.2.3", Started: s.Clock.Now(), Quotes: s.Quotes,
		Marks:    s.Marks.Status,
		Networks: []system.Network{{Name: chain.Sandbox(money.Bitcoin), Domain: scope.Test}},
		Checks:   map[string]func(context.Context) error{"database": s.DB.Ping}}
	answers := idempotency.New(s.DB, s.Clock.Now, s.Payments.Secrets)
	s.Tills = &till.Service{DB: s.DB, Clock: s.Clock.Now, Payments: s.Payments, Networks: s.Payments.Networks,
		Secrets: s.Payments.Secrets}
	s.Pages = dashboard.New(dashboard.Services{Accounts: s.Accounts, Users: s.Users, Factors: auth.NewFactors(s.Users),
		Sessions: auth.NewSessions(s.Users), Passkeys: auth.NewPasskeys(s.Users), Books: s.Books, Keys: s.Keys,
		Payments: s.Payments, Resolver: s.Resolver, Lists: s.Lists,
		Figures:  s.Figures,
		Webhooks: s.Webhooks, Deliveries: s.Deliveries, Resends: s.Resends,
		Eraser:     &erase.Service{DB: s.DB, Clock: s.Clock.Now, Users: s.Users, Calls: s.Calls, Answers: answers},
		Signatures: &diagnose.Service{DB: s.DB, Clock: s.Clock.Now, Endpoints: s.Webhooks},
		Links:      s.Links, Mails: s.Mails,
		Sandbox: player, Sends: s.Sends, Approvals: s.Sends.Approvals, Batches: &batch.Batches{Sends: s.Sends}, Signing: s.Sends.Signing,
		Addresses: s.Sends.Addresses, SendRules: s.Sends.Rules,
		Transactions: s.Signing, Calls: s.Calls,
		Audits:   s.Audits,
		Settings: s.Settings, System: s.System, Wallets: s.Wallets, Receiving: change, Networks: s.Registry,
		KeyProofs: &keyproof.Service{DB: s.DB, Clock: s.Clock.Now, Users: s.Users, Wallets: s.Wallets,
			Secrets: s.Payments.Secrets, Site: Base},
		Tills: s.Tills,
		Views: &savedview.Service{DB: s.DB, Clock: s.Clock.Now},
		Notes: &note.Service{DB: s.DB, Clock: s.Clock.Now},
		GoingLive: golive.New(golive.Deps{DB: s.DB, Clock: s.Clock.Now, Networks: s.Registry, Payments: s.Payments,
			Quotes: s.Quotes, Users: s.Users, System: s.System}),
		Noted: s.Registry, Notices: s.Notices, Quotes: s.Quotes, Collecting: s.Collecting,
		Browsers: &push.Service{DB: s.DB, Clock: s.Clock.Now, Secrets: s.Payments.Secrets},
		Clock:    s.Clock.Now, Answers: answers, Hub: s.Hub})
	limits := limit.New(s.DB, s.Clock.Now)
	var document func() *openapi.Document
	server, err := web.New(web.Config{BaseURL: Base}, web.Deps{
		Clock: s.Clock.Now, Account: s.Accounts, Sessions: auth.NewSessions(s.Users), Keys: s.Keys,
		Secret: s.Payments.Secrets, Limiter: limits, Hub: s.Hub, Notifications: s.Notices,
		Log: slog.New(slog.NewTextHandler(&s.logged, nil)), Metrics: prometheus.NewRegistry(),
		Routes: web.Routes{Dashboard: s.Pages.Routes, Checkout: func(p page.Payers) {
			for _, pages := range more {
				pages(s)(p)
			}
		},
			API: func(app fiber.Router) {
				document = api.Register(app, api.Deps{Payments: s.Payments, Lists: s.Lists,
					Resolver: s.Resolver, Webhooks: s.Webhooks,
					Deliveries: s.Deliveries, Resends: s.Resends, Links: s.Links, Keys: s.Keys, Methods: s.Accounts,
					Networks: s.Registry, Quotes: s.Quotes, Sandbox: player, Sends: s.Sends, Signing: s.Signing,
					ClaimURL: s.Sends.ClaimURL, Books: s.Books, Limits: limits,
					Answers: answers,
					Secrets: s.Payments.Secrets, Clock: s.Clock.Now,
					PerMinute: 100_000, BaseURL: Base, Version: "1.2.3"})
			},
			Docs: func(p page.Payers) { openapi.DocsRoutes(p, document) }},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return server.App()
}

// UseMailServer makes the pages act as with a mail server.
func (s *Server) UseMailServer() {
	s.Pages.People.MailServer, s.Pages.Team.MailServer = true, true
	s.Pages.SignIn.MailServer, s.Pages.Mailbox.MailServer = true, true
}

// CreateBusiness makes a business with its owner, and gives the owner's scope in the test domain.
func (s *Server) CreateBusiness(name, email string) scope.Scope {
	s.T.Helper()
	made, owner, err := s.Accounts.CreateBusiness(s.T.Context(),
		account.NewBusiness{BusinessName: name, Name: "Ama Mensah", Email: email, Password: Password})
	s.FailOn(err)
	m, err := s.Accounts.Membership(s.T.Context(), owner.ID, 0)
	s.FailOn(err)
	if m.Business.ID != made.ID {
		s.T.Fatalf("the owner of %d is a member of %d", made.ID, m.Business.ID)
	}
	return m.Scope(scope.Test)
}

// SetRole gives the owner of a business another role.
func (s *Server) SetRole(sc scope.Scope, role scope.Role) {
	s.T.Helper()
	s.FailOn(s.DB.Exec(s.T.Context()).Model(&models.Member{}).Where("business_id = ?", sc.BusinessID).
		Update("role", string(role)).Error)
}

// NewRequest returns a payment that nothing is wrong with.
func NewRequest(method money.Method) payment.Request {
	return payment.Request{Currency: "NGN", Amount: 5000, FirstName: "Ngozi", LastName: "Okafor",
		Email: "ngozi@example.com", Method: string(method)}
}

// InitiatePayment starts a payment.
func (s *Server) InitiatePayment(sc scope.Scope, r payment.Request) payment.Started {
	s.T.Helper()
	started, err := s.Payments.Initiate(s.T.Context(), sc, r)
	s.FailOn(err)
	return started
}

// UpdatePayment puts a payment into a place without the road to it: what a page shows
// depends on the row alone.
func (s *Server) UpdatePayment(reference string, columns map[string]any) {
	s.T.Helper()
	changed := s.DB.Exec(s.T.Context()).Model(&models.Payment{}).Where("reference = ?", reference).Updates(columns)
	s.FailOn(changed.Error)
	if changed.RowsAffected != 1 {
		s.T.Fatalf("%d payments with the reference %s", changed.RowsAffected, reference)
	}
}

// FailOn ends the test at an error.
func (s *Server) FailOn(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}
