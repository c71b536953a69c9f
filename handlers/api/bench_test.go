package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/limit"
	"cointill/core/link"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/observe"
	"cointill/core/quote"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/send/sendtest"
	"cointill/core/send/signing"
	"cointill/core/sse"
	"cointill/core/wallet"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/api"
	"cointill/handlers/api/apitest"
	"cointill/handlers/api/openapi"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/models/modelstest"
	"cointill/web"
)

const base = "http://localhost:8080"

// bench is the real server with the real core on a clock that the test moves.
type bench struct {
	*testing.T
	app       *fiber.App
	db        *models.DB
	clock     *clock.Fake
	accounts  *account.Service
	keys      *apikey.Service
	payments  *payment.Service
	hooks     *webhook.Service
	sender    *delivery.Sender
	resends   *delivery.Resends
	chains    []*simulated.Chain
	followers []*chain.Follower
	market    *market
	registry  *networks.Registry
	sends     *send.Service
	document  func() *openapi.Document
	contract  *apitest.Contract
	perMinute int64
	business  models.Business
	key       string // of the test domain
	liveKey   string
}

// market is the test domain's rates, which a test can take away.
type market struct {
	quote.Fixed
	shut bool
}

func (m *market) Readings(p quote.Pair) []quote.Reading {
	if m.shut {
		return nil
	}
	return m.Fixed.Readings(p)
}

func each(t *testing.T, test func(b *bench)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newBench(t, db, 0)) })
}

// quick is a bench on SQLite alone, for what no database has a say in.
func quick(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	return newBench(t, modelstest.Open(t, false, time.Now), 0)
}

func newBench(t *testing.T, db *models.DB, perMinute int64) *bench {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	b := &bench{T: t, db: db, clock: now, perMinute: perMinute, market: &market{Fixed: quote.Fixed{Clock: now.Now}}}
	box, err := secret.NewBox(make([]byte, 32))
	b.must(err)
	b.accounts, b.keys = accounttest.New(db, now.Now, box), apikey.New(db, now.Now, box)
	b.hooks = &webhook.Service{DB: db, Clock: now.Now, Secrets: box}
	b.sender = &delivery.Sender{DB: db, Clock: now.Now, Endpoints: b.hooks}
	b.resends = &delivery.Resends{DB: db, Clock: now.Now}
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}}}
	quotes := &quote.Service{DB: db, Clock: now.Now, Sources: map[scope.Domain]quote.Source{scope.Test: b.market}}
	b.payments = &payment.Service{
		DB: db, Clock: now.Now, Secrets: box, Networks: registry, Quotes: quotes, Wallet: &wallet.Service{Receivers: wallet.SandboxReceivers()},
		Events: b.hooks, PageBase: base + "/pay",
		Receipts: &mail.Service{DB: db, Clock: now.Now, Render: func(mail.Receipt) (string, string, string) { return "s", "t", "h" }},
	}
	sends := sendtest.New(b.payments)
	b.sends, b.registry, b.accounts.Networks = sends, registry, registry
	player := &sandbox.Service{Payments: b.payments, Sends: sends, Approvals: sends.Approvals, Chains: map[money.Chain]sandbox.Chain{}}
	for _, kind := range money.Chains() {
		c, err := simulated.Open(t.Context(), db, kind, now.Now)
		b.must(err)
		observer := observe.New(b.payments, sends, new(chain.WatchSet))
		b.followers = append(b.followers, chain.NewFollower(chain.FollowerConfig{Network: c.Network(), Source: c, Store: observer, Watch: observer.Watching, Clock: now.Now,
			Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, c.Network()) }}))
		b.chains, player.Chains[kind], registry.Domains[scope.Test][kind] = append(b.chains, c), c, c.Network()
	}
	b.serve(api.Deps{
		Payments: b.payments, Lists: &list.Service{DB: db}, Resolver: payment.NewResolver(b.payments), Webhooks: b.hooks,
		Deliveries: &delivery.Service{DB: db, Clock: now.Now, Events: b.hooks}, Resends: b.resends, Links: &link.Service{DB: db, Clock: now.Now, Payments: b.payments, Prices: quotes, Base: base + "/l"},
		Keys: b.keys, Methods: b.accounts, Networks: registry, Quotes: quotes, Sandbox: player, Sends: sends, Signing: &signing.Service{DB: db, Clock: now.Now, Payments: b.payments, Sends: sends}, ClaimURL: sends.ClaimURL, Books: &journal.Service{DB: db, Clock: now.Now}, Limits: limit.New(db, now.Now),
		Answers: idempotency.New(db, now.Now, box), Secrets: box, Clock: now.Now, PerMinute: perMinute, BaseURL: base, Version: "test",
	})
	b.business, b.key, b.liveKey = b.merchant("Kofi Books", "kofi@books.example")
	b.pass(0)
	return b
}

func (b *bench) serve(deps api.Deps) {
	b.Helper()
	server, err := web.New(web.Config{BaseURL: base, TrustedProxies: []string{"0.0.0.0"}}, web.Deps{ // where app.Test calls from
		Clock: b.clock.Now, Account: b.accounts, Keys: b.keys, Secret: deps.Secrets, Limiter: limit.New(b.db, b.clock.Now), Hub: sse.New(b.db),
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Routes: web.Routes{
			API:  func(app fiber.Router) { b.document = api.Register(app, deps) },
			Docs: func(p page.Payers) { openapi.DocsRoutes(p, b.document) },
		},
	})
	b.must(err)
	b.app, b.contract = server.App(), apitest.Load(b, b.document().JSON)
}

// merchant makes a business with a key in each domain.
func (b *bench) merchant(name, email string) (business models.Business, test, live string) {
	b.Helper()
	business, _, err := b.accounts.CreateBusiness(b.Context(), account.NewBusiness{BusinessName: name, Name: "Kofi Boateng", Email: email, Password: "a long enough passphrase"})
	b.must(err)
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	_, test, err = b.keys.CreateKey(b.Context(), sc, "shop")
	b.must(err)
	sc.Domain = scope.Live
	_, live, err = b.keys.CreateKey(b.Context(), sc, "shop")
	b.must(err)
	return business, test, live
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// pass lets time pass: blocks come, followers look, deadlines take effect. A minute
// passes in half seconds, what is longer in steps of five seconds.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	step := 500 * time.Millisecond
	if d > time.Minute {
		step = 5 * time.Second
	}
	for left := d; ; left -= step {
		for i, c := range b.chains {
			_, _, err := c.MineIfDue(b.Context())
			b.must(err)
			_, err = b.followers[i].Step(b.Context())
			b.must(err)
		}
		_, err := b.payments.Sweep(b.Context())
		b.must(err)
		if left <= 0 {
			return
		}
		b.clock.Advance(min(step, left))
	}
}

// answer is what came back.
type answer struct {
	Status int
	Header http.Header
	Raw    string
	Body   struct {
		Status  bool            `json:"status"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
		Meta    *struct {
			NextCursor *string `json:"next_cursor"`
			HasMore    bool    `json:"has_more"`
		} `json:"meta"`
		Warnings   []string            `json:"warnings"`
		Code       string              `json:"code"`
		Errors     map[string][]string `json:"errors"`
		ErrorCodes map[string][]string `json:"error_codes"`
		RequestID  string              `json:"request_id"`
	}
}

// into reads the answer's data.
func (b *bench) into(a answer, v any) {
	b.Helper()
	if err := json.Unmarshal(a.Body.Data, v); err != nil {
		b.Fatalf("%v in %s", err, a.Raw)
	}
}

// call sends a request with the test key, and holds the answer against the document.
func (b *bench) call(method, path, body string, headers ...string) answer {
	b.Helper()
	return b.callAs(b.key, method, path, body, headers...)
}

// callAs sends a request with a key; headers are names and values in turn.
func (b *bench) callAs(key, method, path, body string, headers ...string) answer {
	b.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = strings.TrimPrefix(base, "http://")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := b.app.Test(r, -1)
	b.must(err)
	defer func() { _ = response.Body.Close() }()
	b.contract.Validate(b, r, response)
	text, err := io.ReadAll(response.Body)
	b.must(err)
	a := answer{Status: response.StatusCode, Header: response.Header, Raw: string(text)}
	if method != http.MethodHead && path != "/v1/openapi.json" {
		if err := json.Unmarshal(text, &a.Body); err != nil {
			b.Fatalf("%s %s answered %d without the envelope: %q", method, path, a.Status, text)
		}
		b.envelope(a)
	}
	return a
}

// envelope checks what every answer has in common.
func (b *bench) envelope(a answer) {
	b.Helper()
	id := a.Header.Get("X-Request-Id")
	if a.Body.Status != (a.Status < 300) || a.Body.Message == "" || !strings.HasPrefix(id, "req_") {
		b.Errorf("%d with status %v, message %q, request id %q", a.Status, a.Body.Status, a.Body.Message, id)
	}
	if !a.Body.Status && (a.Body.Code == "" || a.Body.RequestID != id) {
		b.Errorf("a failure without its code or request id: %s", a.Raw)
	}
	if len(a.Body.ErrorCodes) != len(a.Body.Errors) {
		b.Errorf("the codes are of other fields than the sentences: %s", a.Raw)
	}
	for field, sentences := range a.Body.Errors {
		if codes := a.Body.ErrorCodes[field]; len(codes) != len(sentences) || slices.Contains(codes, "invalid") {
			b.Errorf("the field %s has the codes %v for the sentences %q, want one of each", field, codes, sentences)
		}
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		b.Errorf("an answer that may be cached: %v", a.Header)
	}
}

// expect fails unless the answer has the status and, for a failure, the code.
func (b *bench) expect(a answer, status int, code string) answer {
	b.Helper()
	if a.Status != status || a.Body.Code != code {
		b.Fatalf("answered %d %q, want %d %q: %s", a.Status, a.Body.Code, status, code, a.Raw)
	}
	return a
}

// body is a good initiation with some fields in place of its own; "" takes one out.
func body(changes ...string) string {
	fields := [][2]string{
		{"currency", `"NGN"`}, {"amount", `25000`}, {"first_name", `"Ada"`}, {"last_name", `"Obi"`}, {"email", `"ada@example.com"`},
		{"payment_method", `"crypto_bitcoin"`},
	}
	var out []string
	changed := map[string]string{}
	for i := 0; i+1 < len(changes); i += 2 {
		changed[changes[i]] = changes[i+1]
	}
	for _, f := range fields {
		value, given := changed[f[0]]
		if !given {
			value = f[1]
		}
		delete(changed, f[0])
		if value != "" {
			out = append(out, fmt.Sprintf("%q:%s", f[0], value))
		}
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if value, left := changed[changes[i]]; left {
			out = append(out, fmt.Sprintf("%q:%s", changes[i], value))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// started is the data of an initiation.
type started struct {
	PaymentURL        string `json:"payment_url"`
	AccessToken       string `json:"access_token"`
	Reference         string `json:"reference"`
	Amount            int64  `json:"amount"`
	Currency          string `json:"currency"`
	BusinessReference string `json:"business_reference"`
	ExpiresAt         string `json:"expires_at"`
}

// initiate starts a payment that nothing is wrong with.
func (b *bench) initiate(changes ...string) (s started) {
	b.Helper()
	b.into(b.expect(b.call("POST", "/v1/payment/initiate", body(changes...)), 201, ""), &s)
	return s
}
