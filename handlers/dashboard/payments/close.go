package payments

import (
	"context"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// closePayment writes down that a reversed payment was dealt with, once.
func (h *Handlers) closePayment(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	note := page.ReadForm(c, "note").Value("note")
	err = page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		err := h.Resolver.Close(ctx, c.Scope, v.Payment.Reference, note)
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "payment.dealt_with"))
		}
		return v.Payment.Reference, err
	}, display.PaymentPath)
	if err == nil {
		return nil
	}
	return page.ShowRefusal(c, err, h.showPayment)
}
