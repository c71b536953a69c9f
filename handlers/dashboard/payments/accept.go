package payments

import (
	"context"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// acceptPayment takes a declined payment as it is, once.
func (h *Handlers) acceptPayment(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	err = page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		err := h.Resolver.Resolve(ctx, c.Scope, v.Payment.Reference)
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "payment.accepted"))
		}
		return v.Payment.Reference, err
	}, display.PaymentPath)
	if err == nil {
		return nil
	}
	return page.ShowRefusal(c, err, h.showPayment)
}
