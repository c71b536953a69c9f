package dashboard

import (
	"context"

	"cointill/handlers/page"
	"cointill/views/ui"
)

// webhookTest sends a test event to one endpoint.
func (h *Handlers) webhookTest(c *page.Ctx) error {
	id := c.Param("id")
	err := once(h, c, func(ctx context.Context) (string, error) { return h.Webhooks.SendTest(ctx, c.Scope, id) },
		func(string) string { return webhookPath(id) })
	if err != nil {
		return h.webhookRefused(c, err)
	}
	c.Flash(string(ui.Info), "A test event is on its way. Load the page again in a moment to see what your server answered.")
	return nil
}
