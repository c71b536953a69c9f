package developers

import (
	"context"
	"net/http"

	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

const quickstartPath = "/dashboard/quickstart"

// showQuickstartPage shows programs that take a payment, with a place for the key.
func (h *Handlers) showQuickstartPage(c *page.Ctx) error {
	return h.showQuickstart(c, http.StatusOK, "")
}

// createQuickstartKey makes a test key and shows the programs with it, once: they run
// as they stand.
func (h *Handlers) createQuickstartKey(c *page.Ctx) error {
	if c.Scope.Domain != scope.Test {
		return fault.New(fault.Conflict, "test_domain_only", "%s", words.T(c.UserContext(), "calls.test_only"))
	}
	_, secret, refused := h.createKeyOnce(c, func(ctx context.Context) (apikey.Key, string, error) {
		return h.Keys.CreateKey(ctx, c.Scope, words.T(ctx, "calls.quickstart"))
	})
	if refused != nil {
		return page.ShowRefusal(c, refused, func(c *page.Ctx, status int) error {
			return h.showQuickstart(c, status, "")
		})
	}
	return h.showQuickstart(c, http.StatusCreated, secret)
}

func (h *Handlers) showQuickstart(c *page.Ctx, status int, key string) error {
	shell := c.FillLayout(words.T(c.UserContext(), "calls.quickstart"), "keys")
	shell.NextPath = quickstartPath
	return c.RenderStatus(status,
		dashboard.Quickstart(dashboard.QuickstartProps{Page: shell, Key: key,
			ExactLabel: display.ScenarioLabel(c.UserContext(), sandbox.Exact),
			Snippets:   snippets(c.UserContext(), c.BaseURL, key, string(c.Scope.Domain))}))
}
