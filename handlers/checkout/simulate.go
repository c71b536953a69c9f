package checkout

import (
	"net/http"

	"cointill/core/fault"
	"cointill/handlers/page"
)

// playScenario lets the sandbox play the customer's wallet: test domain only.
func (h *Handlers) playScenario(c *page.Ctx) error {
	ctx, who, status := c.UserContext(), askerOf(c), http.StatusOK
	v, err := h.Payments.ByToken(ctx, who.Token)
	if err != nil {
		return err
	}
	_, err = h.Sandbox.Simulate(ctx, customerScope(v), v.Payment.Reference, c.FormText("scenario"), "")
	if isScripted(c) && (fault.KindOf(err) == fault.Invalid || fault.KindOf(err) == fault.Conflict) {
		// The page was older than the payment; its new state shows the reason.
		status, err = page.ExplainError(err).Status, nil
	}
	if err != nil {
		return err
	}
	v, a, err := h.loadPayment(ctx, who)
	if err != nil {
		return err
	}
	return writeAnswer(c, status, v, a, "")
}
