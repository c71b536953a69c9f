// Package signin signs users in and up, resets passwords, and accepts invitations.
package signin

import (
	"context"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/handlers/page"
	"cointill/models"
)

// Accounts is what these pages need of core/account.
type Accounts interface {
	Empty(ctx context.Context) (bool, error)
	SignUp(ctx context.Context, n account.NewBusiness) (models.Business, auth.User, error)
}

// Users is what these pages need of core/account/auth.
type Users interface {
	SetupTokenAsked() bool
	SignIn(ctx context.Context, c auth.Credentials) (auth.Entry, error)
	EnterCode(ctx context.Context, pending, code, ip string) (user auth.User, left int, err error)
	Arrive(ctx context.Context, user auth.User, v auth.Visit, expected bool) (device string, err error)
	AskReset(ctx context.Context, email, ip string) error
	FindReset(ctx context.Context, token string) (auth.User, error)
	FinishReset(ctx context.Context, token, password string) error
	FindEmail(ctx context.Context, token string) (user auth.User, email string, err error)
	ConfirmEmail(ctx context.Context, token string) error
}

// Passkeys is what these pages need of core/account/auth for passkeys.
type Passkeys interface {
	PasskeyOrigin() string
	AskPasskey(ctx context.Context, session, ip string) (options []byte, err error)
	EnterPasskey(ctx context.Context, session string, answer []byte, ip string) (auth.User, error)
}

// Team is what these pages need of core/account for the members of a business.
type Team interface {
	FindInvitation(ctx context.Context, token string) (account.Invited, error)
	AcceptAsNew(ctx context.Context, token string, n account.Newcomer) (user auth.User, business int64, err error)
	Accept(ctx context.Context, token string, userID int64) (business int64, err error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   Accounts
	Users      Users
	Passkeys   Passkeys
	Team       Team
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
	v.Get("/invitation/:token", h.showInvitationPage)
	v.Post("/invitation/:token", h.acceptInvitation)
}
