package people

import (
	"net/http"
	"slices"
	"strconv"

	"cointill/core/fault"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showAccountPage is the signed-in user's own account.
func (h *Handlers) showAccountPage(c *page.Ctx) error {
	return h.showAccount(c, http.StatusOK, ui.Form{Values: map[string]string{"name": c.Member.User.Name}})
}

func (h *Handlers) showAccount(c *page.Ctx, status int, typed ui.Form) error {
	seats, err := h.Sessions.Sessions(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	factor, err := h.Factors.SecondFactor(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	places, err := h.Accounts.Workplaces(c.UserContext(), c.Member.User.ID)
	if err != nil {
		return err
	}
	keys, err := h.Passkeys.Passkeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "account.your_account"), "account")
	shell.NextPath = display.AccountPath
	typed.Values["language"] = words.LanguageOf(c.UserContext())
	props := dashboard.AccountProps{Page: shell, Form: typed, Email: c.Member.User.Email,
		SecondFactor: factor.On, FactorSentence: factorSentence(c.UserContext(), factor),
		Passkeys: passkeysSentence(c.UserContext(), keys),
		Seats:    seatRows(c.UserContext(), seats, c.Session.Key(), page.LoadZone(c.Member.Business)),
		Places:   placeRows(c.UserContext(), places, c.Member.Business.ID)}
	return c.RenderStatus(status, dashboard.Account(props))
}

// rename gives the user another name.
func (h *Handlers) rename(c *page.Ctx) error {
	typed := page.ReadForm(c, "name")
	if refused := h.Users.Rename(c.UserContext(), c.Scope, typed.Value("name")); refused != nil {
		return page.ShowAgain(c, typed, refused, h.showAccount)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "account.your_name_is_saved"))
	return c.Redirect(display.AccountPath)
}

// chooseLanguage sets the language of the user's pages and mails.
func (h *Handlers) chooseLanguage(c *page.Ctx) error {
	lang := c.FormText("language")
	if !slices.Contains(words.DashboardLanguages(), lang) {
		return fault.Missing("language")
	}
	if err := h.Users.ChooseLanguage(c.UserContext(), c.Scope, lang); err != nil {
		return err
	}
	c.RememberLanguage(lang)
	c.SetFlash(string(ui.Good), words.T(words.WithLanguage(c.UserContext(), lang), "account.language_is_saved"))
	return c.Redirect(display.AccountPath)
}

// chooseBusiness goes to another business of the user, under a new session id.
func (h *Handlers) chooseBusiness(c *page.Ctx) error {
	id, _ := strconv.ParseInt(c.FormText("business"), 10, 64) // 0 is none of them
	places, err := h.Accounts.Workplaces(c.UserContext(), c.Member.User.ID)
	if err != nil {
		return err
	}
	for _, place := range places {
		if place.ID == id {
			c.SetBusiness(id)
			c.SetFlash(string(ui.Info), words.T(c.UserContext(), "account.you_are_in", "Business", place.Name))
			return c.Redirect("/dashboard")
		}
	}
	return fault.Missing("business")
}

// endSession signs another browser out.
func (h *Handlers) endSession(c *page.Ctx) error {
	err := h.Sessions.EndSession(c.UserContext(), c.Scope, c.FormText("session"))
	switch {
	case fault.KindOf(err) == fault.NotFound:
		c.SetFlash(string(ui.Info), words.T(c.UserContext(), "account.browser_was_out"))
	case err != nil:
		return err
	default:
		c.SetFlash(string(ui.Good), words.T(c.UserContext(), "account.browser_is_out"))
	}
	return c.Redirect(display.AccountPath)
}

// endOtherSessions signs the user out everywhere but here.
func (h *Handlers) endOtherSessions(c *page.Ctx) error {
	if err := h.Sessions.EndOtherSessions(c.UserContext(), c.Scope, c.Session.Key()); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "account.others_are_out"))
	return c.Redirect(display.AccountPath)
}
