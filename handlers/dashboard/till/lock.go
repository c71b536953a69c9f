package till

import (
	"net/http"

	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// lockTill puts the browser into till mode.
func (h *Handlers) lockTill(c *page.Ctx) error {
	if err := h.Tills.Lock(c.UserContext(), c.Scope); err != nil {
		flash, _, err := page.DescribeRefusal(c.UserContext(), err)
		if err != nil {
			return err
		}
		c.SetFlash(flash.Kind, flash.Text)
		return c.Redirect(settingsPath)
	}
	c.EnterTill()
	return c.Redirect(page.TillPath)
}

// askPIN shows the form with which till mode is left.
func (h *Handlers) askPIN(c *page.Ctx) error { return h.renderLeave(c, http.StatusOK, ui.Form{}) }

func (h *Handlers) renderLeave(c *page.Ctx, status int, typed ui.Form) error {
	props := dashboard.TillLeaveProps{TillPage: h.fillShell(c, words.T(c.UserContext(), "till.leave_title")), Form: typed}
	return c.RenderStatus(status, dashboard.TillLeave(props))
}

// leaveTill ends till mode by the PIN: a member with another role is in the dashboard again, one with the till role signed out.
func (h *Handlers) leaveTill(c *page.Ctx) error {
	err := h.Tills.Unlock(c.UserContext(), c.Scope, c.FormText("pin"))
	if err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowAgain(c, ui.Form{}, err, h.renderLeave) // the PIN is not shown again
	}
	if c.Member.Role == scope.Till {
		c.Session.SignOut()
		return c.Redirect("/sign-in")
	}
	c.LeaveTill()
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "till.left"))
	return c.Redirect("/dashboard")
}
