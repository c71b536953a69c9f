package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/apilog"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/limit"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/sse"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/models/modelstest"
	"cointill/web"
)

const (
	password = "a long enough phrase"
	token    = "tokentokentokentokentokentokentokentoken123"
	canary   = "canary-5e1f"
)

type bench struct {
	*web.Server
	db    *models.DB
	clock *clock.Fake
	user  auth.User
	keys  *apikey.Service
	log   *buffer
	base  string
	paid  chan struct{} // updates of the stream route
	left  chan struct{} // closed when its page has left
	says  func() string // the data of its events
	fail  error         // of the readiness check
	shown func()        // runs while the overview is made or the domain chosen; nil does nothing
}

// buffer is a log that many goroutines write.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}
func (b *buffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.all.String() }

// setup makes a bench on SQLite.
func setup(t *testing.T, config web.Config) *bench {
	t.Helper()
	return setupWith(t, config, modelstest.Open(t, false, time.Now))
}

func setupWith(t *testing.T, config web.Config, db *models.DB) *bench {
	t.Helper()
	b := &bench{clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), log: &buffer{}, base: config.BaseURL, db: db,
		paid: make(chan struct{}, 1), left: make(chan struct{}), says: func() string { return "<p>paid\n\nin full</p>" }}
	box, err := secret.NewBox([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	accounts := accounttest.New(b.db, b.clock.Now, box)
	if _, b.user, err = accounts.SignUp(t.Context(), account.NewBusiness{BusinessName: "Shop", Name: "Ada", Email: "ada@example.com", Password: password}); err != nil {
		t.Fatal(err)
	}
	b.keys = apikey.New(b.db, b.clock.Now, box)
	b.Server, err = web.New(config, web.Deps{Clock: b.clock.Now, Account: accounts, Sessions: auth.NewSessions(accounts.Auth), Keys: b.keys, Secret: box, Limiter: limit.New(b.db, b.clock.Now),
		Hub: sse.New(b.db), Calls: apilog.New(b.db, b.clock.Now), Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Metrics: prometheus.NewRegistry(),
		Checks: map[string]func(context.Context) error{"database": func(context.Context) error { return b.fail }},
		Routes: web.Routes{API: api, Dashboard: b.dashboard, Checkout: b.checkout}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// api has a route for each way to fail.
func api(app fiber.Router) {
	limited := fault.New(fault.Limited, "rate_limited", "Too many.")
	limited.RetryAfter = 1500 * time.Millisecond
	failures := map[string]error{
		"invalid": fault.RefuseField("email", "Is required."), "conflict": fault.New(fault.Conflict, "duplicate",
			"Taken."),
		"unauthenticated": fault.New(fault.Unauthenticated, "invalid_api_key", "Send a key."), "limited": limited,
		"unavailable": fault.Retry("no_rate", 5*time.Second, "No fresh rate.").Because(errors.New(canary)), "unknown": errors.New(canary),
		"forbidden": fault.New(fault.Forbidden, "role", "No."), "gone": fault.New(fault.Gone, "gone", "Gone."),
		"late": context.DeadlineExceeded, "unreadable": fault.New(fault.Unreadable, "unreadable_json", "No JSON."),
	}
	app.Get("/v1/fail/:how", func(c *fiber.Ctx) error { return failures[c.Params("how")] })
	app.Get("/v1/panic", func(*fiber.Ctx) error { panic(canary) })
	app.Get("/v1/long", func(c *fiber.Ctx) error { return c.JSON(strings.Repeat("long ", 2000)) })
	app.Get("/v1/huge", func(c *fiber.Ctx) error { return c.Send(make([]byte, 16<<20)) })
	app.Get("/v1/listed", func(c *fiber.Ctx) error {
		c.Locals(page.LocalCaller, scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "key:1", Role: scope.API})
		return c.JSON(strings.Repeat("long ", 1000))
	})
	app.Post("/v1/echo", func(c *fiber.Ctx) error { return c.Send(c.Body()) })
	app.Patch("/v1/echo", func(c *fiber.Ctx) error { return c.Send(c.Body()) })
}

func text(format string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, format); return err })
}

func (b *bench) dashboard(m page.Members, v page.Visitors) {
	v.Get("/sign-in", func(c *page.Ctx) error {
		return c.Render(text("token=" + c.Session.FormToken() + " " + c.TakeFlash().Text))
	})
	v.Post("/sign-in", func(c *page.Ctx) error {
		entry, err := b.Account.Auth.SignIn(c.UserContext(), auth.Credentials{Email: c.FormText("email"), Password: c.FormValue("password"), IP: c.ClientIP})
		if err != nil {
			return err
		}
		c.Session.SignIn(entry.User.ID)
		c.SetFlash("good", "Welcome "+entry.User.Name)
		return c.Redirect(page.LocalPath(c.FormText("next"), "/dashboard"))
	})
	v.Post("/sign-out", func(c *page.Ctx) error { c.Session.SignOut(); return c.Redirect("/sign-in") })
	m.Get("/dashboard", scope.SeePayments, func(c *page.Ctx) error {
		shell := c.FillLayout("Overview", "overview")
		b.callShown()
		return c.Render(text("token=" + shell.CSRF + " " + shell.Flash.Text + " " + shell.UserName + " " + shell.Domain + strings.Repeat(" ", 2000)))
	})
	m.Post("/dashboard/domain", scope.SeePayments, func(c *page.Ctx) error {
		b.callShown()
		if err := c.SetDomain(scope.Domain(c.FormText("domain"))); err != nil {
			return err
		}
		return c.Redirect("/dashboard")
	})
	m.Post("/dashboard/lock", scope.SeePayments, func(c *page.Ctx) error { c.Session.Rotate(); return c.Redirect("/dashboard") })
	m.Post("/dashboard/methods", scope.ToggleMethods, func(c *page.Ctx) error { return c.Render(text("toggled by " + c.Scope.Actor)) })
	m.Get("/dashboard/panic", scope.SeePayments, func(*page.Ctx) error { panic(canary) })
}

func (b *bench) callShown() {
	if b.shown != nil {
		b.shown()
	}
}

func (b *bench) checkout(p page.Payers) {
	p.Get("/pay/:token", func(c *page.Ctx) error {
		if c.Param("token") != token {
			return fault.Missing("payment")
		}
		return c.Render(text("pay at " + c.BaseURL + " from " + c.ClientIP))
	})
	p.Post("/pay/:token/open", func(c *page.Ctx) error { return c.Redirect("/pay/" + c.Param("token")) })
	p.Get("/pay/:token/late", func(c *page.Ctx) error {
		ctx, cancel := context.WithTimeout(c.UserContext(), 0)
		defer cancel()
		c.SetUserContext(ctx)
		return ctx.Err()
	})
	p.Start("/l/:code", func(c *page.Ctx) error { return c.Redirect("/pay/" + token) })
	events := func(c *page.Ctx) error {
		return c.StreamEvents(b.paid, func() { close(b.left) }, func(context.Context) (page.Event, error) {
			return page.Event{Name: "status", Data: b.says()}, nil
		})
	}
	p.Get("/pay/:token/events", events)
	p.Get("/pay/:token/torn", func(c *page.Ctx) error { return errors.Join(events(c), errors.New(canary)) }) // as when a session can't be saved
	p.Get("/pay/:token/part", func(c *page.Ctx) error {
		return c.SendDownload("a.csv", "text/csv", func() { close(b.left) }, func(_ context.Context, out io.Writer) error { // more than is held back
			_, err := io.WriteString(out, strings.Repeat("a,b\n", 4<<10))
			return errors.Join(err, errors.New(canary))
		})
	})
	p.Get("/pay/:token/file", func(c *page.Ctx) error {
		return c.SendDownload("a.csv", "text/csv", func() { close(b.left) }, func(_ context.Context, out io.Writer) error { _, err := io.WriteString(out, "a,b\n"); return err })
	})
}

// do sends a request without a socket. Headers are given as name, value, name, value.
func (b *bench) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := b.App().Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(all)
}

// browser keeps one cookie and the last form token, as a browser on one page does.
type browser struct {
	*bench
	t      *testing.T
	cookie string // name=value
	token  string
}

var formToken = regexp.MustCompile(`token=([\w-]+)`)

func (w *browser) get(path string) (*http.Response, string) {
	w.t.Helper()
	return w.keep(w.do(w.t, "GET", path, "", "Cookie", w.cookie))
}

func (w *browser) post(path string, fields url.Values) (*http.Response, string) {
	w.t.Helper()
	fields.Set(page.FormField, w.token)
	return w.keep(w.do(w.t, "POST", path, fields.Encode(), "Cookie", w.cookie, "Origin", w.base, "Sec-Fetch-Site", "same-origin",
		"Content-Type", "application/x-www-form-urlencoded"))
}

func (w *browser) keep(answer *http.Response, body string) (*http.Response, string) {
	for _, cookie := range answer.Cookies() {
		w.cookie = cookie.Name + "=" + cookie.Value
	}
	if found := formToken.FindStringSubmatch(body); found != nil {
		w.token = found[1]
	}
	return answer, body
}

// owner is the scope of the business's owner.
func (b *bench) owner(t *testing.T) scope.Scope {
	t.Helper()
	member, err := b.Account.Membership(t.Context(), b.user.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	return scope.Scope{BusinessID: member.Business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
}

// signedIn is the owner's browser after sign-in.
func (b *bench) signedIn(t *testing.T) *browser {
	t.Helper()
	return b.signIn(t, "ada@example.com")
}

// signIn returns a browser after sign-in.
func (b *bench) signIn(t *testing.T, email string) *browser {
	t.Helper()
	w := &browser{bench: b, t: t}
	w.get("/sign-in")
	answer, body := w.post("/sign-in", url.Values{"email": {email}, "password": {password}})
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("answer.StatusCode = %v, body = %v", answer.StatusCode, body)
	}
	return w
}
