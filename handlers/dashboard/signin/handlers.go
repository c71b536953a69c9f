// Package signin signs users in and up, resets passwords, and accepts invitations.
package signin

import (
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   *account.Service
	Users      *auth.Service
	Passkeys   *auth.Passkeys
	Team       *account.Service
	MailServer bool // a mail server is configured: mails are sent, not only kept
}

// Routes declares the routes of those who are not signed in.
func (h *Handlers) Routes(v page.Visitors) {
	v.Get("/sign-up", h.showSignUpForm)
	v.Post("/sign-up", h.signUp)
	v.Get("/sign-in", h.showSignInForm)
	v.Post("/sign-in", h.signIn)
	v.Get("/sign-in/code", h.showCodeForm)
	v.Post("/sign-in/code", h.enterCode)
	// After a refusal the browser may load this address again.
	v.Get("/sign-in/passkey", func(c *page.Ctx) error { return c.Redirect("/sign-in") })
	v.Post("/sign-in/passkey", h.signInByPasskey)
	v.Post("/sign-in/passkey/begin", h.beginPasskeySignIn)
	v.Post("/sign-out", h.signOut)
	v.Get("/forgot", h.showForgotForm)
	v.Post("/forgot", h.askReset)
	v.Get("/reset/:token", h.showResetForm)
	v.Post("/reset/:token", h.resetPassword)
	v.Get("/email/:token", h.showEmailConfirmation)
	v.Post("/email/:token", h.confirmEmail)
	v.Get("/invitation/:token", page.ShowForm(h.showInvitation))
	v.Post("/invitation/:token", h.acceptInvitation)
}
