// Package people signs users in and up, and shows their account, passkeys and second factor,
// and the team of a business.
package people

import (
	"context"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
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
	Rename(ctx context.Context, sc scope.Scope, name string) error
	ChangePassword(ctx context.Context, sc scope.Scope, p account.Proof, next, session string) error
	AskReset(ctx context.Context, email, ip string) error
	FindReset(ctx context.Context, token string) (account.User, error)
	FinishReset(ctx context.Context, token, password string) error
	AskEmail(ctx context.Context, sc scope.Scope, email string, p account.Proof) error
	FindEmail(ctx context.Context, token string) (user account.User, email string, err error)
	ConfirmEmail(ctx context.Context, token string) error
	BeginSecondFactor(ctx context.Context, sc scope.Scope, p account.Proof) (account.Setup, error)
	ResumeSecondFactor(ctx context.Context, sc scope.Scope, sealed string) (account.Setup, error)
	ConfirmSecondFactor(ctx context.Context, sc scope.Scope, sealed, code, session, ip string) ([]string, error)
	RemoveSecondFactor(ctx context.Context, sc scope.Scope, p account.Proof, session string) error
	NewRecoveryCodes(ctx context.Context, sc scope.Scope, p account.Proof) ([]string, error)
	SecondFactor(ctx context.Context, sc scope.Scope) (account.Factor, error)
	Sessions(ctx context.Context, sc scope.Scope) ([]account.Seat, error)
	EndSession(ctx context.Context, sc scope.Scope, key string) error
	EndOtherSessions(ctx context.Context, sc scope.Scope, key string) error
	Workplaces(ctx context.Context, userID int64) ([]account.Workplace, error)
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

// Team is what these pages need of core/account for the members of a business.
type Team interface {
	Team(ctx context.Context, sc scope.Scope) ([]account.Teammate, error)
	Invitations(ctx context.Context, sc scope.Scope) ([]account.Invitation, error)
	Invite(ctx context.Context, sc scope.Scope, email string, role scope.Role) (account.Invitation, error)
	ResendInvitation(ctx context.Context, sc scope.Scope, id int64) (account.Invitation, error)
	RevokeInvitation(ctx context.Context, sc scope.Scope, id int64) error
	SetRole(ctx context.Context, sc scope.Scope, userID int64, role scope.Role) error
	RemoveMember(ctx context.Context, sc scope.Scope, userID int64) error
	FindInvitation(ctx context.Context, token string) (account.Invited, error)
	AcceptAsNew(ctx context.Context, token string, n account.Newcomer) (user account.User, business int64, err error)
	Accept(ctx context.Context, token string, userID int64) (business int64, err error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   Accounts
	Answers    *idempotency.Store // what forms made: one that is sent twice makes it once
	Clock      clock.Clock
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Profiles   Profiles
	Team       Team
}

// VisitorRoutes declares the routes of those who are not signed in.
func (h *Handlers) VisitorRoutes(v page.Visitors) {
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

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)
	m.Get(accountPath, scope.SeeMethods, h.showAccountPage)
	m.Post(accountPath, scope.SeeMethods, h.rename)
	m.Post(accountPath+"/business", scope.SeeMethods, h.chooseBusiness)
	m.Get(accountPath+"/password", scope.SeeMethods, h.showPasswordForm)
	m.Post(accountPath+"/password", scope.SeeMethods, h.changePassword)
	m.Get(accountPath+"/email", scope.SeeMethods, h.showEmailForm)
	m.Post(accountPath+"/email", scope.SeeMethods, h.changeEmail)
	m.Get(factorPath, scope.SeeMethods, h.showFactorPage)
	m.Post(factorPath, scope.SeeMethods, h.beginFactor)
	m.Post(factorPath+"/confirm", scope.SeeMethods, h.confirmFactor)
	m.Post(factorPath+"/change", scope.SeeMethods, h.changeFactor)
	m.Get(passkeysPath, scope.SeeMethods, h.listPasskeys)
	m.Post(passkeysPath, scope.SeeMethods, h.beginPasskey)
	m.Post(passkeysPath+"/confirm", scope.SeeMethods, h.confirmPasskey)
	m.Get(passkeysPath+"/:passkey", scope.SeeMethods, h.showPasskeyPage)
	m.Post(passkeysPath+"/:passkey", scope.SeeMethods, h.renamePasskey)
	m.Post(passkeysPath+"/:passkey/remove", scope.SeeMethods, h.removePasskey)
	m.Post(accountPath+"/sessions/end", scope.SeeMethods, h.endSession)
	m.Post(accountPath+"/sessions/end-others", scope.SeeMethods, h.endOtherSessions)
	m.Get(teamPath, scope.ManageBusiness, h.showTeamPage)
	m.Post(teamPath+"/invitations", scope.ManageBusiness, h.invite)
	m.Post(teamPath+"/invitations/:id/resend", scope.ManageBusiness, h.resendInvitation)
	m.Post(teamPath+"/invitations/:id/revoke", scope.ManageBusiness, h.revokeInvitation)
	m.Post(teamPath+"/members/:id/role", scope.ManageBusiness, h.setMemberRole)
	m.Post(teamPath+"/members/:id/remove", scope.ManageBusiness, h.removeMember)
}
