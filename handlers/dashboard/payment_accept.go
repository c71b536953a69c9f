package dashboard

import (
	"context"

	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// paymentAccept takes a declined payment as it is, once.
func (h *Handlers) paymentAccept(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, clean(c.Param("reference")))
	if err != nil {
		return err
	}
	err = once(h.Answers, c, func(ctx context.Context) (string, error) {
		err := h.Payments.Resolve(ctx, c.Scope, v.Payment.Reference)
		if err == nil {
			c.Flash(string(ui.Good), words.T(ctx, "payment.accepted"))
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
