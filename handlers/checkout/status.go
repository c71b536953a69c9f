package checkout

import (
	"cointill/handlers/page"
	view "cointill/views/checkout"
)

// showStatus gives the live part of the payment page, to pages whose stream is silent.
func (h *Handlers) showStatus(c *page.Ctx) error {
	v, a, err := h.loadPayment(c.UserContext(), askerOf(c))
	if err != nil {
		return err
	}
	return c.Render(view.Live(pageProps(v, a)))
}
