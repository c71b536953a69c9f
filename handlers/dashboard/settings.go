package dashboard

import (
	"context"
	"io"
	"net/http"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const settingsPath = "/dashboard/settings"

// Settings is what the dashboard needs of core/settings.
type Settings interface {
	SetProfile(ctx context.Context, sc scope.Scope, p settings.Profile) error
	SetRules(ctx context.Context, sc scope.Scope, r settings.Rules) error
	SetDepths(ctx context.Context, sc scope.Scope, depths map[money.Coin]settings.Depth) error
	SetMails(ctx context.Context, sc scope.Scope, m settings.Mails) error
	SetLogo(ctx context.Context, sc scope.Scope, file []byte) error
	RemoveLogo(ctx context.Context, sc scope.Scope) error
}

// The forms of the page, by the last part of their addresses.
const (
	profileForm       = "profile"
	logoForm          = "logo"
	rulesForm         = "payments"
	confirmationsForm = "confirmations"
	mailsForm         = "mails"
)

// settings shows what the business decides about itself.
func (h *Handlers) settings(c *page.Ctx) error {
	// A file that the server didn't take no handler saw.
	if why := map[string]string{"too_large": "settings.picture_too_large", "again": "settings.picture_again"}[c.Query(logoForm)]; why != "" {
		return h.showSettings(c, http.StatusOK, logoForm, ui.Form{Errors: map[string][]string{"logo": {words.T(c.UserContext(), why)}}})
	}
	return h.showSettings(c, http.StatusOK, "", ui.Form{})
}

// showSettings shows all forms: one as it was typed, the others as things stand.
func (h *Handlers) showSettings(c *page.Ctx, status int, name string, typed ui.Form) error {
	shell := c.Layout(words.T(c.UserContext(), "settings.title"), "settings")
	shell.NextPath = settingsPath
	return c.RenderStatus(status, dashboard.Settings(settingsProps(shell, c.Member.Business, h.Depths, name, typed)))
}

// saved answers a form: back to its place on the page, or with what was wrong.
func (h *Handlers) saved(c *page.Ctx, name string, typed ui.Form, refused error, done string) error {
	if refused == nil {
		c.Flash(string(ui.Good), done)
		return c.Redirect(settingsPath + "#" + name)
	}
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	return h.showSettings(c, status, name, typed)
}

// settingsProfile changes how customers see the business.
func (h *Handlers) settingsProfile(c *page.Ctx) error {
	typed := form(c, "name", "contact_email", "support_url")
	err := h.Settings.SetProfile(c.UserContext(), c.Scope, settings.Profile{
		Name: typed.Value("name"), ContactEmail: typed.Value("contact_email"), SupportURL: typed.Value("support_url")})
	return h.saved(c, profileForm, typed, err, words.T(c.UserContext(), "settings.saved_profile"))
}

// settingsLogo takes a picture.
func (h *Handlers) settingsLogo(c *page.Ctx) error {
	file, err := upload(c, "logo", settings.MaxLogo)
	if err == nil {
		err = h.Settings.SetLogo(c.UserContext(), c.Scope, file)
	}
	return h.saved(c, logoForm, ui.Form{}, err, words.T(c.UserContext(), "settings.logo_set"))
}

// settingsLogoRemove takes the picture away.
func (h *Handlers) settingsLogoRemove(c *page.Ctx) error {
	err := h.Settings.RemoveLogo(c.UserContext(), c.Scope)
	return h.saved(c, logoForm, ui.Form{}, err, words.T(c.UserContext(), "settings.logo_removed"))
}

// upload is the file of a form's field; Invalid with a sentence where there is none.
func upload(c *page.Ctx, field string, most int64) ([]byte, error) {
	part, err := c.FormFile(field)
	if err != nil || part.Size == 0 {
		return nil, fault.Validation(fault.Fields{field: {words.T(c.UserContext(), "settings.choose_file")}})
	}
	file, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(file, most+1))
}

// settingsPayments changes what counts as paid.
func (h *Handlers) settingsPayments(c *page.Ctx) error {
	typed := form(c, "under", "over", "late_payments", "currency", "time_zone")
	err := h.Settings.SetRules(c.UserContext(), c.Scope, settings.Rules{Under: tolerance(typed.Value("under")), Over: tolerance(typed.Value("over")),
		LatePayments: typed.Value("late_payments"), Currency: typed.Value("currency"), TimeZone: typed.Value("time_zone")})
	return h.saved(c, rulesForm, typed, err, words.T(c.UserContext(), "settings.saved_payments"))
}

// settingsConfirmations changes how long payments wait.
func (h *Handlers) settingsConfirmations(c *page.Ctx) error {
	typed, depths := ui.Form{Values: map[string]string{}}, map[money.Coin]settings.Depth{}
	for _, coin := range raisable() {
		small, large := string(coin)+"_small", string(coin)+"_large"
		typed.Values[small], typed.Values[large] = c.Text(small), c.Text(large)
		depths[coin] = settings.Depth{Small: wholeNumber(c.Text(small)), Large: wholeNumber(c.Text(large))}
	}
	err := h.Settings.SetDepths(c.UserContext(), c.Scope, depths)
	return h.saved(c, confirmationsForm, typed, err, words.T(c.UserContext(), "settings.saved_confirmations"))
}

// settingsMails changes which mails go out.
func (h *Handlers) settingsMails(c *page.Ctx) error {
	mails := settings.Mails{Receipts: c.Text("receipts") == "true"}
	for _, kind := range settings.MutableMails() {
		if c.Text(kind) != "true" {
			mails.Muted = append(mails.Muted, kind)
		}
	}
	return h.saved(c, mailsForm, ui.Form{}, h.Settings.SetMails(c.UserContext(), c.Scope, mails), words.T(c.UserContext(), "settings.saved"))
}

// currencyFirst is the currency that the forms of a business begin with.
func currencyFirst(b models.Business) string {
	if money.Currency(b.Currency).Known() {
		return b.Currency
	}
	return string(money.NGN)
}
