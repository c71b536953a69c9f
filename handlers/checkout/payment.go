package checkout

import (
	"cointill/handlers/page"
	view "cointill/views/checkout"
)

// showPayment shows the payment page.
func (h *Handlers) showPayment(c *page.Ctx) error {
	v, a, err := h.loadPayment(c.UserContext(), askerOf(c))
	if err != nil {
		return err
	}
	a.Claim.Done = c.Query(claimed) != ""
	return c.Render(view.Page(pageProps(v, a)))
}
