package payments

import (
	"net/url"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
)

// simulatePayment lets the sandbox act on a payment.
func (h *Handlers) simulatePayment(c *page.Ctx) error {
	done, err := h.Sandbox.Simulate(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")),
		c.FormText("scenario"), "")
	if err != nil {
		said, status, err := page.DescribeRefusal(err)
		if err != nil {
			return err
		}
		return h.showPayment(c, status, said)
	}
	c.SetFlash(string(ui.Info), done.Next.Text)
	return c.Redirect(display.PaymentPath(url.PathEscape(done.Reference)))
}
