package checkout

import (
	"cointill/handlers/page"
	view "cointill/views/checkout"
)

// status gives the live part of the payment page, to pages whose stream is silent.
func (h *Handlers) status(c *page.Ctx) error {
	v, err := h.Payments.ByToken(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	a, err := h.about(c.UserContext(), v, askerOf(c))
	if err != nil {
		return err
	}
	return c.Render(view.Live(pageProps(v, a)))
}
