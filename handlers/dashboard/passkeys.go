package dashboard

import (
	"context"
	"net/http"
	"strconv"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// Passkeys is what the dashboard needs of core/account for passkeys.
type Passkeys interface {
	PasskeyOrigin() string
	Passkeys(ctx context.Context, sc scope.Scope) ([]account.Passkey, error)
	Passkey(ctx context.Context, sc scope.Scope, id int64) (account.Passkey, error)
	BeginPasskey(ctx context.Context, sc scope.Scope, p account.Proof, name, session string) (options []byte, err error)
	ConfirmPasskey(ctx context.Context, sc scope.Scope, session string, answer []byte) (account.Passkey, error)
	RenamePasskey(ctx context.Context, sc scope.Scope, id int64, name string) error
	RemovePasskey(ctx context.Context, sc scope.Scope, id int64, p account.Proof, session string) error
	AskPasskey(ctx context.Context, session, ip string) (options []byte, err error)
	EnterPasskey(ctx context.Context, session string, answer []byte, ip string) (account.User, error)
}

const passkeysPath = accountPath + "/passkeys"

// passkeys lists the user's passkeys.
func (h *Handlers) passkeys(c *page.Ctx) error { return h.showPasskeys(c, http.StatusOK, ui.Form{}) }

func (h *Handlers) showPasskeys(c *page.Ctx, status int, typed ui.Form) error {
	list, err := h.Profiles.Passkeys(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.Layout(words.T(c.UserContext(), "passkeys.passkeys"), "account")
	shell.NextPath = passkeysPath
	props := dashboard.PasskeysProps{Page: shell, Form: typed, SecondFactor: c.Member.User.SecondFactor, Origin: h.Profiles.PasskeyOrigin()}
	for _, each := range list {
		props.Rows = append(props.Rows, passkeyRow(each, zoneOf(c.Member.Business)))
	}
	return c.RenderStatus(status, dashboard.Passkeys(props))
}

// passkeysRefused shows the list with what was wrong about a form.
func (h *Handlers) passkeysRefused(c *page.Ctx, typed ui.Form, refused error) error {
	retryAfter(c, refused)
	status, err := refuse(&typed, refused)
	if err != nil {
		return err
	}
	return h.showPasskeys(c, status, typed)
}

// passkeyBegin takes the name of a new passkey, and shows the page on which the
// browser makes it.
func (h *Handlers) passkeyBegin(c *page.Ctx) error {
	typed := form(c, "name") // never a password
	options, refused := h.Profiles.BeginPasskey(c.UserContext(), c.Scope, proof(c), typed.Value("name"), c.Session.Key())
	if refused != nil {
		return h.passkeysRefused(c, typed, refused)
	}
	shell := c.Layout(words.T(c.UserContext(), "passkeys.make_the_passkey"), "account")
	shell.NextPath = passkeysPath
	return c.Render(dashboard.PasskeySetup(dashboard.PasskeySetupProps{Page: shell, Name: typed.Value("name"),
		Origin: h.Profiles.PasskeyOrigin(), Options: string(options)}))
}

// passkeyConfirm stores what the browser made; the session goes on under a new id.
func (h *Handlers) passkeyConfirm(c *page.Ctx) error {
	made, refused := h.Profiles.ConfirmPasskey(c.UserContext(), c.Scope, c.Session.Key(), []byte(c.FormValue("credential")))
	if refused != nil {
		return h.passkeysRefused(c, ui.Form{}, refused)
	}
	c.Session.Rotate()
	c.Flash(string(ui.Good), words.T(c.UserContext(), "passkeys.passkey_is_ready", "Name", made.Name))
	return c.Redirect(passkeysPath)
}

// passkey shows one.
func (h *Handlers) passkey(c *page.Ctx) error {
	return h.showPasskey(c, http.StatusOK, ui.Form{})
}

func (h *Handlers) showPasskey(c *page.Ctx, status int, typed ui.Form) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	found, err := h.Profiles.Passkey(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	if typed.Values == nil {
		typed.Values = map[string]string{"name": found.Name}
	}
	shell := c.Layout(found.Name, "account")
	shell.NextPath = passkeysPath
	return c.RenderStatus(status, dashboard.Passkey(dashboard.PasskeyProps{Page: shell, Form: typed, SecondFactor: c.Member.User.SecondFactor,
		Row: passkeyRow(found, zoneOf(c.Member.Business))}))
}

// passkeyOf is the passkey that an address names.
func passkeyOf(c *page.Ctx) (int64, error) {
	id, err := strconv.ParseInt(c.Params("passkey"), 10, 64)
	if err != nil {
		return 0, fault.Missing("passkey")
	}
	return id, nil
}

// passkeyRename gives one another name.
func (h *Handlers) passkeyRename(c *page.Ctx) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	typed := form(c, "name")
	if refused := h.Profiles.RenamePasskey(c.UserContext(), c.Scope, id, typed.Value("name")); refused != nil {
		status, err := refuse(&typed, refused)
		if err != nil {
			return err
		}
		return h.showPasskey(c, status, typed)
	}
	c.Flash(string(ui.Good), words.T(c.UserContext(), "passkeys.the_name_is_saved"))
	return c.Redirect(passkeysPath)
}

// passkeyRemove removes one; the session goes on under a new id.
func (h *Handlers) passkeyRemove(c *page.Ctx) error {
	id, err := passkeyOf(c)
	if err != nil {
		return err
	}
	if refused := h.Profiles.RemovePasskey(c.UserContext(), c.Scope, id, proof(c), c.Session.Key()); refused != nil {
		typed := ui.Form{}
		retryAfter(c, refused)
		status, err := refuse(&typed, refused)
		if err != nil {
			return err
		}
		return h.showPasskey(c, status, typed)
	}
	c.Session.Rotate()
	c.Flash(string(ui.Good), words.T(c.UserContext(), "passkeys.passkey_is_removed"))
	return c.Redirect(passkeysPath)
}
