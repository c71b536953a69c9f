package settings

import (
	"net/http"

	"cointill/core/money"
	"cointill/core/settings"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const settingsPath = "/dashboard/settings"

// The forms of the page, by the last part of their addresses.
const (
	profileForm       = "profile"
	logoForm          = "logo"
	rulesForm         = "payments"
	confirmationsForm = "confirmations"
	mailsForm         = "mails"
)

// showSettingsPage shows what the business decides about itself.
func (h *Handlers) showSettingsPage(c *page.Ctx) error {
	// A file that the server didn't take no handler saw.
	if why := map[string]string{"too_large": "settings.picture_too_large",
		"again": "settings.picture_again"}[c.Query(logoForm)]; why != "" {
		return h.showSettings(c, http.StatusOK, logoForm,
			ui.Form{Errors: map[string][]string{"logo": {words.T(c.UserContext(), why)}}})
	}
	return h.showSettings(c, http.StatusOK, "", ui.Form{})
}

// showSettings shows all forms: one as it was typed, the others as things stand.
func (h *Handlers) showSettings(c *page.Ctx, status int, name string, typed ui.Form) error {
	shell := c.FillLayout(words.T(c.UserContext(), "settings.title"), "settings")
	shell.NextPath = settingsPath
	return c.RenderStatus(status, dashboard.Settings(settingsProps(shell, c.Member.Business, h.Depths, name, typed)))
}

// answerForm redirects to the form's place on the page, or shows its errors.
func (h *Handlers) answerForm(c *page.Ctx, name string, typed ui.Form, refused error, done string) error {
	if refused == nil {
		c.SetFlash(string(ui.Good), done)
		return c.Redirect(settingsPath + "#" + name)
	}
	return page.ShowAgain(c, typed, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showSettings(c, status, name, typed)
	})
}

// saveProfile changes how customers see the business.
func (h *Handlers) saveProfile(c *page.Ctx) error {
	typed := page.ReadForm(c, "name", "contact_email", "support_url")
	err := h.Settings.SetProfile(c.UserContext(), c.Scope, settings.Profile{
		Name: typed.Value("name"), ContactEmail: typed.Value("contact_email"), SupportURL: typed.Value("support_url")})
	return h.answerForm(c, profileForm, typed, err, words.T(c.UserContext(), "settings.saved_profile"))
}

// saveLogo takes a picture.
func (h *Handlers) saveLogo(c *page.Ctx) error {
	file, err := page.ReadUpload(c, "logo", settings.MaxLogo)
	if err == nil {
		err = h.Settings.SetLogo(c.UserContext(), c.Scope, file)
	}
	return h.answerForm(c, logoForm, ui.Form{}, err, words.T(c.UserContext(), "settings.logo_set"))
}

// removeLogo takes the picture away.
func (h *Handlers) removeLogo(c *page.Ctx) error {
	err := h.Settings.RemoveLogo(c.UserContext(), c.Scope)
	return h.answerForm(c, logoForm, ui.Form{}, err, words.T(c.UserContext(), "settings.logo_removed"))
}

// savePaymentRules changes what counts as paid.
func (h *Handlers) savePaymentRules(c *page.Ctx) error {
	typed := page.ReadForm(c, "under", "over", "late_payments", "currency", "time_zone")
	err := h.Settings.SetRules(c.UserContext(), c.Scope, settings.Rules{Under: parseTolerance(typed.Value("under")),
		Over:         parseTolerance(typed.Value("over")),
		LatePayments: typed.Value("late_payments"), Currency: typed.Value("currency"),
		TimeZone: typed.Value("time_zone")})
	return h.answerForm(c, rulesForm, typed, err, words.T(c.UserContext(), "settings.saved_payments"))
}

// saveConfirmations changes how long payments wait.
func (h *Handlers) saveConfirmations(c *page.Ctx) error {
	typed, depths := ui.Form{Values: map[string]string{}}, map[money.Coin]settings.Depth{}
	for _, coin := range listRaisable() {
		small, large := string(coin)+"_small", string(coin)+"_large"
		typed.Values[small], typed.Values[large] = c.FormText(small), c.FormText(large)
		depths[coin] = settings.Depth{Small: page.ParseWholeNumber(c.FormText(small)),
			Large: page.ParseWholeNumber(c.FormText(large))}
	}
	err := h.Settings.SetDepths(c.UserContext(), c.Scope, depths)
	return h.answerForm(c, confirmationsForm, typed, err, words.T(c.UserContext(), "settings.saved_confirmations"))
}

// saveMails changes which mails go out.
func (h *Handlers) saveMails(c *page.Ctx) error {
	typed := page.ReadForm(c, "receipts", "statements")
	mails := settings.Mails{Receipts: c.FormText("receipts") == "true", Statements: typed.Value("statements")}
	for _, kind := range settings.MutableMails() {
		if typed.Values[kind] = c.FormText(kind); typed.Values[kind] != "true" {
			mails.Muted = append(mails.Muted, kind)
		}
	}
	return h.answerForm(c, mailsForm, typed, h.Settings.SetMails(c.UserContext(), c.Scope, mails),
		words.T(c.UserContext(), "settings.saved"))
}
