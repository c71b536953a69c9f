package notifications

import (
	"net/http"
	"strconv"

	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/notice"
	"cointill/views/ui"
	"cointill/views/words"
)

// showBrowsersPage shows in which browsers the member has notifications, and about what.
func (h *Handlers) showBrowsersPage(c *page.Ctx) error {
	modes, err := h.Notifications.Choices(c.UserContext(), c.Scope, notification.Push)
	if err != nil {
		return err
	}
	form := ui.Form{Values: map[string]string{}}
	for kind, mode := range modes {
		form.Values[string(kind)] = string(mode)
	}
	return h.showBrowsers(c, http.StatusOK, form)
}

func (h *Handlers) showBrowsers(c *page.Ctx, status int, form ui.Form) error {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	list, err := h.Browsers.List(ctx, c.Scope, c.Session.Key())
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "push.title"), "notifications")
	shell.NextPath = browsersPath
	props := dashboard.BrowsersProps{Page: shell, Form: form, Limit: strconv.Itoa(push.MaxPerHour)}
	for _, b := range list {
		row := dashboard.BrowserRow{ID: strconv.FormatInt(b.ID, 10), Name: ui.BrowserName(ctx, b.UserAgent),
			Service: b.Service, Amounts: b.Amounts, Here: b.Here, Since: b.Since.In(zone)}
		props.Rows = append(props.Rows, row)
	}
	for _, kind := range notification.KindsOf(c.Scope) {
		props.Choices = append(props.Choices, dashboard.ChannelChoice{Kind: string(kind), Name: notice.KindName(ctx, kind)})
	}
	return c.RenderStatus(status, dashboard.Browsers(props))
}

// sendKey answers a script with the key that a browser is switched on with, and with a mark of the member.
func (h *Handlers) sendKey(c *page.Ctx) error {
	key, err := h.Browsers.PublicKey(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(map[string]string{"key": key, "member": h.Browsers.MarkOf(c.Scope)})
}

// addBrowser switches notifications on in the browser of this session. A script sends what the browser says.
func (h *Handlers) addBrowser(c *page.Ctx) error {
	sub := push.Subscription{Endpoint: c.FormText("endpoint"), P256dh: c.FormText("p256dh"), Auth: c.FormText("auth"),
		Key: c.FormText("key")}
	err := h.Browsers.Register(c.UserContext(), c.Scope, c.Session.Key(), sub)
	if err != nil {
		said := page.ExplainError(err)
		return c.Status(said.Status).SendString(said.SentenceIn(c.UserContext()))
	}
	return c.SendStatus(http.StatusNoContent)
}

// setAmounts says whether a browser shows amounts on the lock screen.
func (h *Handlers) setAmounts(c *page.Ctx) error {
	id, err := page.ReadID(c, "browser")
	if err != nil {
		return err
	}
	if err := h.Browsers.ShowAmounts(c.UserContext(), c.Scope, id, c.FormText("amounts") == "show"); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "notifications.saved"))
	return c.Redirect(browsersPath)
}

// removeBrowser switches notifications off in a browser.
func (h *Handlers) removeBrowser(c *page.Ctx) error {
	id, err := page.ReadID(c, "browser")
	if err != nil {
		return err
	}
	if err := h.Browsers.Remove(c.UserContext(), c.Scope, id); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "push.removed"))
	return c.Redirect(browsersPath)
}

// saveKinds changes what browsers show.
func (h *Handlers) saveKinds(c *page.Ctx) error {
	typed, modes := readChoices(c)
	err := h.Notifications.SetChoices(c.UserContext(), c.Scope, notification.Push, modes)
	if err == nil {
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "notifications.saved"))
		return c.Redirect(browsersPath)
	}
	return page.ShowAgain(c, typed, err, h.showBrowsers)
}
