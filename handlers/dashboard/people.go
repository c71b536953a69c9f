package dashboard

import (
	"context"

	"cointill/core/account"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Profiles is what the dashboard needs of core/account for a user's own account.
type Profiles interface {
	Passkeys
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
}

// Team is what the dashboard needs of core/account for who works in a business.
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

// proof is what a form says to show that its sender is the session's user.
func proof(c *page.Ctx) account.Proof {
	return account.Proof{Password: c.FormValue("password"), Code: c.Text("code"), IP: c.ClientIP, Device: c.Session.Device()}
}

// arrive signs a user in, and notes the browser.
func (h *Handlers) arrive(c *page.Ctx, user account.User, expected bool) error {
	visit := account.Visit{Device: c.Session.Device(), UserAgent: c.Get("User-Agent"), IP: c.ClientIP}
	device, err := h.Profiles.Arrive(c.UserContext(), user, visit, expected)
	if err != nil {
		return err
	}
	c.Session.SetDevice(device)
	c.Session.SignIn(user.ID)
	return nil
}
