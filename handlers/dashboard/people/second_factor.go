package people

import (
	"net/http"

	"cointill/core/account/auth"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const factorPath = display.AccountPath + "/second-factor"

// showFactor shows how the second factor stands.
func (h *Handlers) showFactor(c *page.Ctx, status int, typed ui.Form) error {
	factor, err := h.Factors.SecondFactor(c.UserContext(), c.Scope)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "second_factor.title"), "account")
	shell.NextPath = factorPath
	props := dashboard.FactorProps{Page: shell, Form: typed, On: factor.On,
		Left: leftSentence(c.UserContext(), factor.Left), Few: factor.Left < fewCodes}
	if factor.On {
		props.Since = ui.TimeText(c.UserContext(), factor.Since.In(page.LoadZone(c.Member.Business)))
	}
	return c.RenderStatus(status, dashboard.SecondFactor(props))
}

// beginFactor shows the secret of a new second factor. It is stored only once a
// code of it came back.
func (h *Handlers) beginFactor(c *page.Ctx) error {
	made, refused := h.Factors.BeginSecondFactor(c.UserContext(), c.Scope, page.ReadProof(c))
	if refused != nil {
		return h.refuseFactor(c, refused)
	}
	return h.showSetup(c, http.StatusOK, made, ui.Form{})
}

// refuseFactor shows the page with the errors of its form.
func (h *Handlers) refuseFactor(c *page.Ctx, refused error) error {
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, ui.Form{}, refused, h.showFactor) // never a password
}

func (h *Handlers) showSetup(c *page.Ctx, status int, made auth.Setup, typed ui.Form) error {
	path, size, err := ui.QRPath(made.URL)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "second_factor.setup_title"), "account")
	shell.NextPath = factorPath
	return c.RenderStatus(status,
		dashboard.FactorSetup(dashboard.FactorSetupProps{Page: shell, Form: typed, Key: made.Key, Sealed: made.Sealed,
			QR: ui.QRProps{Path: path, Size: size, Alt: words.T(c.UserContext(), "second_factor.qr")}}))
}

// confirmFactor switches the second factor on and shows the recovery codes,
// once; the session goes on under a new id.
func (h *Handlers) confirmFactor(c *page.Ctx) error {
	sealed := c.FormText("setup")
	codes, refused := h.Factors.ConfirmSecondFactor(c.UserContext(), c.Scope, sealed, c.FormText("code"), c.Session.Key(),
		c.ClientIP)
	if refused == nil {
		c.Session.Rotate()
		return h.showCodes(c, codes)
	}
	made, err := h.Factors.ResumeSecondFactor(c.UserContext(), c.Scope, sealed)
	if err != nil || c.Member.User.SecondFactor {
		return h.refuseFactor(c, refused)
	}
	page.SetRetryAfter(c, refused)
	return page.ShowAgain(c, ui.Form{}, refused, func(c *page.Ctx, status int, typed ui.Form) error {
		return h.showSetup(c, status, made, typed)
	})
}

// changeFactor makes new recovery codes, or switches the second factor off.
func (h *Handlers) changeFactor(c *page.Ctx) error {
	if c.FormText("what") == "codes" {
		codes, refused := h.Factors.NewRecoveryCodes(c.UserContext(), c.Scope, page.ReadProof(c))
		if refused != nil {
			return h.refuseFactor(c, refused)
		}
		return h.showCodes(c, codes)
	}
	if refused := h.Factors.RemoveSecondFactor(c.UserContext(), c.Scope, page.ReadProof(c),
		c.Session.Key()); refused != nil {
		return h.refuseFactor(c, refused)
	}
	c.Session.Rotate()
	c.SetFlash(string(ui.Warn), words.T(c.UserContext(), "second_factor.off"))
	return c.Redirect(display.AccountPath)
}

func (h *Handlers) showCodes(c *page.Ctx, codes []string) error {
	shell := c.FillLayout(words.T(c.UserContext(), "second_factor.codes_title"), "account")
	shell.NextPath = display.AccountPath
	return c.RenderStatus(http.StatusCreated, dashboard.RecoveryCodes(dashboard.CodesProps{Page: shell, Codes: codes}))
}
