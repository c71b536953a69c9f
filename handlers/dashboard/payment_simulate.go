package dashboard

import (
	"net/url"

	"cointill/handlers/page"
	"cointill/views/ui"
)

// paymentSimulate lets the sandbox act on a payment.
func (h *Handlers) paymentSimulate(c *page.Ctx) error {
	done, err := h.Sandbox.Simulate(c.UserContext(), c.Scope, clean(c.Param("reference")), c.Text("scenario"))
	if err != nil {
		said, status, err := objection(err)
		if err != nil {
			return err
		}
		return h.showPayment(c, status, said)
	}
	c.Flash(string(ui.Info), done.Next)
	return c.Redirect(paymentPath(url.PathEscape(done.Reference)))
}
