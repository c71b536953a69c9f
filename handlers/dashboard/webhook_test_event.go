package dashboard

import (
	"context"

	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookTest sends a test event to one endpoint.
func (h *Handlers) webhookTest(c *page.Ctx) error {
	id := c.Param("id")
	err := once(h.Answers, c, func(ctx context.Context) (string, error) { return h.Webhooks.SendTest(ctx, c.Scope, id) },
		func(string) string { return webhookPath(id) })
	if err != nil {
		return h.webhookRefused(c, err)
	}
	c.Flash(string(ui.Info), words.T(c.UserContext(), "webhook.test_on_its_way"))
	return nil
}
