package payments

import (
	"context"
	"net/url"
	"slices"

	"cointill/core/sandbox"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// simulatePayment lets the sandbox act on a payment.
func (h *Handlers) simulatePayment(c *page.Ctx) error {
	done, err := h.Sandbox.Simulate(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")),
		c.FormText("scenario"), "")
	if err != nil {
		return page.ShowRefusal(c, err, h.showPayment)
	}
	c.SetFlash(string(ui.Info), nextText(c.UserContext(), done.Next))
	return c.Redirect(display.PaymentPath(url.PathEscape(done.Reference)))
}

// nextText says how the payment goes on after a scenario. Other languages than English have the state's word of pages.
func nextText(ctx context.Context, next sandbox.Sentence) string {
	facts := slices.Clone(next.Facts)
	for i := 0; i+1 < len(facts); i += 2 {
		if facts[i] == "State" {
			facts[i+1] = ui.StateWord(ctx, facts[i+1])
		}
	}
	return words.ScenarioNext(ctx, next.Code, next.Text, facts...)
}
