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
	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/collect"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/system"
	"cointill/core/wallet"
	"cointill/handlers/api/openapi"
	"cointill/handlers/dashboard"
	"cointill/handlers/page"
	"cointill/internal/app/pages"
	"cointill/internal/app/services"
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
	*services.Services
	T      testing.TB
	Clock  *clock.Fake
	App    *fiber.App
	Market *Market // the live domain's prices; there are none yet
	Marks  *addressmark.Store
	// Ledger is what a look at an account of the XRP Ledger finds, by its address;
	// LookFails is why nothing can be looked up.
	Ledger    map[string]wallet.LedgerAccount
	LookFails error
	Pages     *dashboard.Handlers
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
	s := &Server{T: t, Clock: now, Market: &Market{}, Marks: addressmark.New(t.TempDir()),
		nodes: map[scope.Domain]map[money.Chain]wallet.Net{scope.Test: {}, scope.Live: {}}}
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {},
		scope.Live: {}}}
	chains := map[money.Chain]sandbox.Chain{}
	for _, c := range money.Chains() {
		registry.Domains[scope.Test][c] = chain.Sandbox(c)
		opened, err := simulated.Open(t.Context(), db, c, now.Now)
		if err != nil {
			t.Fatal(err)
		}
		chains[c] = opened
	}
	s.Services = services.New(services.Config{DB: db, Clock: now.Now, Secrets: box, Base: Base,
		Users: accounttest.NewUsers(db, now.Now, box), Networks: registry, Simulated: chains, Marks: s.Marks,
		Quotes: &quote.Service{DB: db, Clock: now.Now, Asked: source.Standard(),
			Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now.Now}, scope.Live: s.Market}},
		Nodes: services.Nodes{Find: s.findNode, Ledgers: map[scope.Domain]wallet.Ledger{},
			Collecting: map[scope.Domain][]collect.Network{}},
		Render: services.MailRenderers{Account: mailview.RenderAccount, Send: mailview.RenderSend,
			Wallet: mailview.RenderWalletChanged, Webhook: mailview.RenderWebhookOff,
			Receipt: func(r mail.Receipt) (string, string, string) {
				return "Receipt " + r.Reference, "Thank you, " + r.CustomerName, "<p>Thank you</p>"
			}}})
	s.App = s.wirePages(more)
	return s
}

// ConnectNetwork gives a chain in a domain a real network by its name, such as
// regtest, without any node: its health is what the test writes.
func (s *Server) ConnectNetwork(domain scope.Domain, c money.Chain, name string) {
	s.T.Helper()
	p, known := wallet.Find(string(c) + "-" + name)
	if !known {
		s.T.Fatalf("%s has no network %q", c, name)
	}
	s.nodes[domain][c], s.Networks.Domains[domain][c] = p, p.Network()
}

// ConnectLedger gives XRP in a domain a real network by its name, such as testnet,
// without any server: what accounts there are is what Ledger says.
func (s *Server) ConnectLedger(domain scope.Domain, name string) {
	s.T.Helper()
	p, known := xrp.Lookup(name)
	if !known {
		s.T.Fatalf("there is no network %q", name)
	}
	s.Networks.Domains[domain][money.XRPL] = p.Network()
	s.Wallets.Ledgers[domain] = wallet.Ledger{Params: p,
		Look: func(_ context.Context, a xrp.Account) (wallet.LedgerAccount, error) {
			return s.Ledger[a.String()], s.LookFails
		}}
}

func (s *Server) findNode(domain scope.Domain, c money.Chain) (wallet.Net, bool) {
	p, ok := s.nodes[domain][c]
	return p, ok
}

// wirePages makes the pages and their server.
func (s *Server) wirePages(more []Pages) *fiber.App {
	s.System = &system.Service{DB: s.DB, Clock: s.Clock.Now, Version: "1.2.3", Started: s.Clock.Now(), Quotes: s.Quotes,
		Marks:    s.Marks.Status,
		Networks: []system.Network{{Name: chain.Sandbox(money.Bitcoin), Domain: scope.Test}},
		Checks:   map[string]func(context.Context) error{"database": s.DB.Ping}}
	s.Pages = pages.NewDashboard(s.Services, s.System)
	deps := pages.NewDeps(s.Services)
	deps.Log, deps.Metrics = slog.New(slog.NewTextHandler(&s.logged, nil)), prometheus.NewRegistry()
	var document func() *openapi.Document
	deps.Routes = web.Routes{
		Dashboard: s.Pages.Routes,
		Checkout: func(p page.Payers) {
			for _, others := range more {
				others(s)(p)
			}
		},
		API: func(app fiber.Router) {
			document = pages.RegisterAPI(app, s.Services, 100_000, "1.2.3")
		},
		Docs: func(p page.Payers) { openapi.DocsRoutes(p, document) },
	}
	server, err := web.New(web.Config{BaseURL: Base}, deps)
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
