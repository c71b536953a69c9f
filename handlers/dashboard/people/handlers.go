// Package people shows and changes a user's own account: name, password, e-mail address,
// passkeys, second factor and sessions.
package people

import (
	"context"

	"cointill/core/account"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
)

// Profiles is what these pages need of core/account for a user's own account.
type Profiles interface {
	Rename(ctx context.Context, sc scope.Scope, name string) error
	ChangePassword(ctx context.Context, sc scope.Scope, p account.Proof, next, session string) error
	AskEmail(ctx context.Context, sc scope.Scope, email string, p account.Proof) error
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
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Profiles   Profiles
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)
	m.Get(display.AccountPath, scope.SeeMethods, h.showAccountPage)
	m.Post(display.AccountPath, scope.SeeMethods, h.rename)
	m.Post(display.AccountPath+"/business", scope.SeeMethods, h.chooseBusiness)
	m.Get(display.AccountPath+"/password", scope.SeeMethods, h.showPasswordForm)
	m.Post(display.AccountPath+"/password", scope.SeeMethods, h.changePassword)
	m.Get(display.AccountPath+"/email", scope.SeeMethods, h.showEmailForm)
	m.Post(display.AccountPath+"/email", scope.SeeMethods, h.changeEmail)
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
	m.Post(display.AccountPath+"/sessions/end", scope.SeeMethods, h.endSession)
	m.Post(display.AccountPath+"/sessions/end-others", scope.SeeMethods, h.endOtherSessions)
}
