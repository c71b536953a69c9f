package wallet

import (
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// showMethods lists the coins.
func (h *Handlers) showMethods(c *page.Ctx, status int) error {
	methods, err := h.Accounts.Methods(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	var facts []walletFacts
	for _, m := range methods {
		f, err := h.loadWallet(c, m.Coin)
		if err != nil {
			return err
		}
		facts = append(facts, f)
	}
	unpriced, err := display.FindUnpriced(c.UserContext(), h.Quotes, c.Scope, methods)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "methods.payment_methods"), "methods")
	props := methodsProps(c.UserContext(), shell, methods, facts, unpriced)
	props.Manage = c.Scope.Allows(scope.ToggleMethods)
	return c.RenderStatus(status, dashboard.Methods(props))
}
