package checkout

import (
	"cointill/handlers/page"
	view "cointill/views/checkout"
)

// payment shows the payment page.
func (h *Handlers) payment(c *page.Ctx) error {
	v, err := h.Payments.ByToken(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	a, err := h.about(c.UserContext(), v, askerOf(c))
	if err != nil {
		return err
	}
	a.Claim.Done = c.Query(claimed) != ""
	return c.Render(view.Page(pageProps(v, a)))
}
