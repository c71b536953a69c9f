// Package signin signs users in and up, resets passwords, and accepts invitations.
package signin

import (
	"context"

	"cointill/core/account"
	"cointill/handlers/page"
	"cointill/models"
)

// Accounts is what these pages need of core/account.
type Accounts interface {
	Empty(ctx context.Context) (bool, error)
	SetupTokenAsked() bool
	SignUp(ctx context.Context, n account.NewBusiness) (models.Business, account.User, error)
	SignIn(ctx context.Context, c account.Credentials) (account.Entry, error)
}

// Profiles is what these pages need of core/account for a user's own account.
type Profiles interface {
	EnterCode(ctx context.Context, pending, code, ip string) (user account.User, left int, err error)
	Arrive(ctx context.Context, user account.User, v account.Visit, expected bool) (device string, err error)
	AskReset(ctx context.Context, email, ip string) error
	FindReset(ctx context.Context, token string) (account.User, error)
	FinishReset(ctx context.Context, token, password string) error
	FindEmail(ctx context.Context, token string) (user account.User, email string, err error)
	ConfirmEmail(ctx context.Context, token string) error
	PasskeyOrigin() string
	AskPasskey(ctx context.Context, session, ip string) (options []byte, err error)
	EnterPasskey(ctx context.Context, session string, answer []byte, ip string) (account.User, error)
}

// Team is what these pages need of core/account for the members of a business.
type Team interface {
	FindInvitation(ctx context.Context, token string) (account.Invited, error)
	AcceptAsNew(ctx context.Context, token string, n account.Newcomer) (user account.User, business int64, err error)
	Accept(ctx context.Context, token string, userID int64) (business int64, err error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   Accounts
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Profiles   Profiles
	Team       Team
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
