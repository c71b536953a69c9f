package dashboard

import (
	"context"

	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// paymentClose writes down that a reversed payment was dealt with, once.
func (h *Handlers) paymentClose(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, clean(c.Param("reference")))
	if err != nil {
		return err
	}
	note := form(c, "note").Value("note")
	err = once(h.Answers, c, func(ctx context.Context) (string, error) {
		err := h.Payments.Close(ctx, c.Scope, v.Payment.Reference, note)
		if err == nil {
			c.Flash(string(ui.Good), words.T(ctx, "payment.dealt_with"))
		}
		return v.Payment.Reference, err
	}, paymentPath)
	if err == nil {
		return nil
	}
	said, status, err := objection(err)
	if err != nil {
		return err
	}
	return h.showPayment(c, status, said)
}
