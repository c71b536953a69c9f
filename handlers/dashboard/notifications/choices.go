package notifications

import (
	"net/http"
	"strconv"

	"cointill/core/notification"
	"cointill/core/notification/email"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/notice"
	"cointill/views/ui"
	"cointill/views/words"
)

// showChoicesPage shows which mails the member gets about notifications of this domain.
func (h *Handlers) showChoicesPage(c *page.Ctx) error {
	modes, err := h.Notifications.Choices(c.UserContext(), c.Scope, notification.Email)
	if err != nil {
		return err
	}
	form := ui.Form{Values: map[string]string{}}
	for kind, mode := range modes {
		form.Values[string(kind)] = string(mode)
	}
	return h.showChoices(c, http.StatusOK, form)
}

func (h *Handlers) showChoices(c *page.Ctx, status int, form ui.Form) error {
	ctx := c.UserContext()
	shell := c.FillLayout(words.T(ctx, "notifications.choices"), "notifications")
	shell.NextPath = choicesPath
	props := dashboard.NotificationChoicesProps{Page: shell, Form: form, Limit: strconv.Itoa(email.MaxPerHour),
		Zone: c.Member.Business.TimeZone}
	for _, kind := range notification.KindsOf(c.Scope) {
		props.Choices = append(props.Choices, dashboard.ChannelChoice{Kind: string(kind),
			Name: notice.KindName(ctx, kind)})
	}
	return c.RenderStatus(status, dashboard.NotificationChoices(props))
}

// saveChoices changes which mails the member gets.
func (h *Handlers) saveChoices(c *page.Ctx) error {
	typed, modes := readChoices(c)
	err := h.Notifications.SetChoices(c.UserContext(), c.Scope, notification.Email, modes)
	if err == nil {
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "notifications.saved"))
		return c.Redirect(choicesPath)
	}
	return page.ShowAgain(c, typed, err, h.showChoices)
}

// readChoices reads a form with a field for each kind that the member may see.
func readChoices(c *page.Ctx) (typed ui.Form, modes map[notification.Kind]notification.Mode) {
	typed, modes = ui.Form{Values: map[string]string{}}, map[notification.Kind]notification.Mode{}
	for _, kind := range notification.KindsOf(c.Scope) {
		typed.Values[string(kind)] = c.FormText(string(kind))
		modes[kind] = notification.Mode(typed.Values[string(kind)])
	}
	return typed, modes
}
