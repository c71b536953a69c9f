package wallet

import (
	"cointill/core/money"
	"cointill/handlers/page"
)

// toggleMethod switches a coin on or off.
func (h *Handlers) toggleMethod(c *page.Ctx) error {
	enabled, err := page.ReadSwitch(c, "enabled")
	if err != nil {
		return err
	}
	return h.showChanged(c, h.Accounts.SetMethod(c.UserContext(), c.Scope, money.Method(c.Param("code")), enabled))
}

// toggleNetwork switches a network of a coin on or off.
func (h *Handlers) toggleNetwork(c *page.Ctx) error {
	enabled, err := page.ReadSwitch(c, "enabled")
	if err != nil {
		return err
	}
	return h.showChanged(c, h.Accounts.SetNetwork(c.UserContext(), c.Scope, money.Method(c.Param("code")),
		money.Chain(c.Param("network")), enabled))
}

// preselectNetwork makes a network the one that customers see chosen.
func (h *Handlers) preselectNetwork(c *page.Ctx) error {
	return h.showChanged(c, h.Accounts.PreselectNetwork(c.UserContext(), c.Scope, money.Method(c.Param("code")),
		money.Chain(c.Param("network"))))
}

// showChanged returns to the list after a change, or shows why it was refused.
func (h *Handlers) showChanged(c *page.Ctx, err error) error {
	if err == nil {
		return c.Redirect("/dashboard/methods")
	}
	return page.ShowRefusal(c, err, h.showMethods)
}
