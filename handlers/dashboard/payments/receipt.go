package payments

import (
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// showReceipt shows a payment as a page to print: the amounts due and received, and when.
func (h *Handlers) showReceipt(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	refunds, err := h.Resolver.Refunds(c.UserContext(), c.Scope, v.Payment.ID)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "receipt.title", "Reference", v.Payment.Reference), "payments")
	shell.NextPath = display.PaymentPath(v.Payment.Reference)
	return c.Render(dashboard.PaymentReceipt(receiptProps(c.UserContext(), shell, v, refunds, h.Clock())))
}
