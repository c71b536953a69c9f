package dashboard

import (
	"net/url"

	"cointill/handlers/page"
	"cointill/views/ui"
)

// paymentAccept takes a declined payment as it is.
func (h *Handlers) paymentAccept(c *page.Ctx) error {
	reference := clean(c.Param("reference"))
	if err := h.Payments.Resolve(c.UserContext(), c.Scope, reference); err != nil {
		said, status, err := objection(err)
		if err != nil {
			return err
		}
		return h.showPayment(c, status, said)
	}
	c.Flash(string(ui.Good), "The payment is accepted: it counts as successful, and your server is told.")
	return c.Redirect(paymentPath(url.PathEscape(reference)))
}
