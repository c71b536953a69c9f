package webhooks

import (
	"context"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// sendTest sends a test event to one endpoint.
func (h *Handlers) sendTest(c *page.Ctx) error {
	id := c.Param("id")
	err := page.RedirectOnce(h.Answers, c,
		func(ctx context.Context) (string, error) { return h.Deliveries.SendTest(ctx, c.Scope, id) },
		func(string) string { return display.WebhookPath(id) })
	if err != nil {
		return h.refuseEndpoint(c, err)
	}
	c.SetFlash(string(ui.Info), words.T(c.UserContext(), "webhook.test_on_its_way"))
	return nil
}
