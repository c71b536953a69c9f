package web

import (
	"context"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"cointill/handlers/page"
	"cointill/static"
)

// SignInPath is where members sign in.
const SignInPath = "/sign-in"

// Routes are the handlers that the route table leads to. A nil one leads nowhere.
type Routes struct {
	// API registers everything under /v1 on the app, with full paths.
	API func(app fiber.Router)
	// Dashboard registers the merchant's pages.
	Dashboard func(m page.Members, v page.Visitors)
	// Checkout registers the customer's pages: payments and payment links.
	Checkout func(p page.Payers)
	// Docs registers the API reference and the other public pages.
	Docs func(p page.Payers)
}

// routes is the whole route table.
func (s *Server) routes(r Routes) {
	s.app.Get("/healthz", func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "ok"}) })
	s.app.Get("/readyz", s.ready)
	s.app.Get(static.Prefix+"*", s.assets.serve)
	s.app.Get(static.WorkerPath, s.assets.serveWorker)

	if r.API != nil {
		r.API(s.app)
	}
	if r.Checkout != nil {
		r.Checkout(payers{s})
	}
	if r.Docs != nil {
		r.Docs(payers{s})
	}
	if r.Dashboard != nil {
		r.Dashboard(members{s}, visitors{s})
	}
}

// ready asks every check, and says of those that fail why the database can't be
// used if it is that; more stands in the log.
func (s *Server) ready(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), 5*time.Second)
	defer cancel()
	status, word, checks := http.StatusOK, "ok", map[string]string{}
	for name, check := range s.Checks {
		checks[name] = "ok"
		if err := check(ctx); err != nil {
			s.Log.Warn("not ready", "check", name, "error", err)
			status, word, checks[name] = http.StatusServiceUnavailable, "not ready", page.ExplainUnready(err)
		}
	}
	return c.Status(status).JSON(fiber.Map{"status": word, "checks": checks})
}
