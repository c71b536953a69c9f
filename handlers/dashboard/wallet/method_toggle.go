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
	err = h.Accounts.SetMethod(c.UserContext(), c.Scope, money.Method(c.Param("code")), enabled)
	if err == nil {
		return c.Redirect("/dashboard/methods")
	}
	said, status, err := page.DescribeRefusal(err)
	if err != nil {
		return err
	}
	return h.showMethods(c, status, said)
}
