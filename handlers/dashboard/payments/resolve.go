package payments

import (
	"context"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// resolvePages answers the requests to decide about a payment.
type resolvePages struct{ *Handlers }

// acceptPayment takes a declined payment as it is, once.
func (h resolvePages) acceptPayment(c *page.Ctx) error {
	return h.resolvePayment(c, "payment.accepted", func(ctx context.Context, reference string) error {
		return h.Resolver.Resolve(ctx, c.Scope, reference)
	})
}

// closePayment writes down that a reversed payment was dealt with, once.
func (h resolvePages) closePayment(c *page.Ctx) error {
	note := page.ReadForm(c, "note").Value("note")
	return h.resolvePayment(c, "payment.dealt_with", func(ctx context.Context, reference string) error {
		return h.Resolver.Close(ctx, c.Scope, reference, note)
	})
}

// resolvePayment decides about a payment, once, and says so with a message on its page.
func (h resolvePages) resolvePayment(c *page.Ctx, done string,
	decide func(ctx context.Context, reference string) error) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	err = page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		err := decide(ctx, v.Payment.Reference)
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, done))
		}
		return v.Payment.Reference, err
	}, display.PaymentPath)
	if err == nil {
		return nil
	}
	return page.ShowRefusal(c, err, h.showPayment)
}
