package people

import (
	"strconv"

	"cointill/core/fault"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const passkeysPath = display.AccountPath + "/passkeys"

// showPasskeys lists the user's passkeys.
func (h *Handlers) showPasskeys(c *page.Ctx, status int, typed ui.Form) error {
	list, err := h.Passkeys.Passkeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "passkeys.passkeys"), "account")
	shell.NextPath = passkeysPath
	props := dashboard.PasskeysProps{Page: shell, Form: typed, SecondFactor: c.Member.User.SecondFactor,
		Origin: h.Passkeys.PasskeyOrigin()}
	for _, each := range list {
		props.Rows = append(props.Rows, passkeyRow(each, page.LoadZone(c.Member.Business)))
	}
	return c.RenderStatus(status, dashboard.Passkeys(props))
}

// refusePasskeys shows the list with the errors of a form.
func (h *Handlers) refusePasskeys(c *page.Ctx, typed ui.Form, refused error) error {
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, typed, refused, h.showPasskeys)
}

// beginPasskey takes the name of a new passkey, and shows the page on which the
// browser makes it.
func (h *Handlers) beginPasskey(c *page.Ctx) error {
	typed := page.ReadForm(c, "name") // never a password
	options, refused := h.Passkeys.BeginPasskey(c.UserContext(), c.Scope, page.ReadProof(c), typed.Value("name"),
		c.Session.Key())
	if refused != nil {
		return h.refusePasskeys(c, typed, refused)
	}
	shell := c.FillLayout(words.T(c.UserContext(), "passkeys.make_the_passkey"), "account")
	shell.NextPath = passkeysPath
	return c.Render(dashboard.PasskeySetup(dashboard.PasskeySetupProps{Page: shell, Name: typed.Value("name"),
		Origin: h.Passkeys.PasskeyOrigin(), Options: string(options)}))
}

// confirmPasskey stores what the browser made; the session goes on under a new id.
func (h *Handlers) confirmPasskey(c *page.Ctx) error {
	made, refused := h.Passkeys.ConfirmPasskey(c.UserContext(), c.Scope, c.Session.Key(),
		[]byte(c.FormValue("credential")))
	if refused != nil {
		return h.refusePasskeys(c, ui.Form{}, refused)
	}
	c.Session.Rotate()
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "passkeys.passkey_is_ready", "Name", made.Name))
	return c.Redirect(passkeysPath)
}

// showPasskey shows a passkey.
func (h *Handlers) showPasskey(c *page.Ctx, status int, typed ui.Form) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	found, err := h.Passkeys.Passkey(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	if typed.Values == nil {
		typed.Values = map[string]string{"name": found.Name}
	}
	shell := c.FillLayout(found.Name, "account")
	shell.NextPath = passkeysPath
	return c.RenderStatus(status,
		dashboard.Passkey(dashboard.PasskeyProps{Page: shell, Form: typed, SecondFactor: c.Member.User.SecondFactor,
			Row: passkeyRow(found, page.LoadZone(c.Member.Business))}))
}

// passkeyOf is the passkey that an address names.
func passkeyOf(c *page.Ctx) (int64, error) {
	id, err := strconv.ParseInt(c.Params("passkey"), 10, 64)
	if err != nil {
		return 0, fault.Missing("passkey")
	}
	return id, nil
}

// renamePasskey gives one another name.
func (h *Handlers) renamePasskey(c *page.Ctx) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	typed := page.ReadForm(c, "name")
	if refused := h.Passkeys.RenamePasskey(c.UserContext(), c.Scope, id, typed.Value("name")); refused != nil {
		return page.ShowAgain(c, typed, refused, h.showPasskey)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "passkeys.the_name_is_saved"))
	return c.Redirect(passkeysPath)
}

// removePasskey removes one; the session goes on under a new id.
func (h *Handlers) removePasskey(c *page.Ctx) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	if refused := h.Passkeys.RemovePasskey(c.UserContext(), c.Scope, id, page.ReadProof(c),
		c.Session.Key()); refused != nil {
		page.SetRetryAfter(c, refused)
		return page.ShowAgain(c, ui.Form{}, refused, h.showPasskey)
	}
	c.Session.Rotate()
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "passkeys.passkey_is_removed"))
	return c.Redirect(passkeysPath)
}
