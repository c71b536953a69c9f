package dashboard

import (
	"cointill/core/money"
	"cointill/handlers/page"
)

// methodToggle switches a coin on or off.
func (h *Handlers) methodToggle(c *page.Ctx) error {
	enabled, err := switchedOn(c, "enabled")
	if err != nil {
		return err
	}
	err = h.Accounts.SetMethod(c.UserContext(), c.Scope, money.Method(c.Param("code")), enabled)
	if err == nil {
		return c.Redirect("/dashboard/methods")
	}
	said, status, err := objection(err)
	if err != nil {
		return err
	}
	return h.showMethods(c, status, said)
}
