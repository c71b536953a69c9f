// Package people shows and changes a user's own account: name, password, e-mail address,
// passkeys, second factor and sessions.
package people

import (
	"context"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
)

// Accounts is what these pages need of core/account.
type Accounts interface {
	Workplaces(ctx context.Context, userID int64) ([]account.Workplace, error)
}

// Users is what these pages need of core/account/auth.
type Users interface {
	Rename(ctx context.Context, sc scope.Scope, name string) error
	ChooseLanguage(ctx context.Context, sc scope.Scope, language string) error
	ChangePassword(ctx context.Context, sc scope.Scope, p auth.Proof, next, session string) error
	AskEmail(ctx context.Context, sc scope.Scope, email string, p auth.Proof) error
}

// Factors is what these pages need of core/account/auth for second factors.
type Factors interface {
	BeginSecondFactor(ctx context.Context, sc scope.Scope, p auth.Proof) (auth.Setup, error)
	ResumeSecondFactor(ctx context.Context, sc scope.Scope, sealed string) (auth.Setup, error)
	ConfirmSecondFactor(ctx context.Context, sc scope.Scope, sealed, code, session, ip string) ([]string, error)
	RemoveSecondFactor(ctx context.Context, sc scope.Scope, p auth.Proof, session string) error
	NewRecoveryCodes(ctx context.Context, sc scope.Scope, p auth.Proof) ([]string, error)
	SecondFactor(ctx context.Context, sc scope.Scope) (auth.Factor, error)
}

// Sessions is what these pages need of core/account/auth for signed-in browsers.
type Sessions interface {
	Sessions(ctx context.Context, sc scope.Scope) ([]auth.Seat, error)
	EndSession(ctx context.Context, sc scope.Scope, key string) error
	EndOtherSessions(ctx context.Context, sc scope.Scope, key string) error
}

// Passkeys is what these pages need of core/account/auth for passkeys.
type Passkeys interface {
	PasskeyOrigin() string
	Passkeys(ctx context.Context, sc scope.Scope) ([]auth.Passkey, error)
	Passkey(ctx context.Context, sc scope.Scope, id int64) (auth.Passkey, error)
	BeginPasskey(ctx context.Context, sc scope.Scope, p auth.Proof, name, session string) (options []byte, err error)
	ConfirmPasskey(ctx context.Context, sc scope.Scope, session string, answer []byte) (auth.Passkey, error)
	RenamePasskey(ctx context.Context, sc scope.Scope, id int64, name string) error
	RemovePasskey(ctx context.Context, sc scope.Scope, id int64, p auth.Proof, session string) error
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   Accounts
	Users      Users
	Factors    Factors
	Sessions   Sessions
	Passkeys   Passkeys
	MailServer bool // a mail server is configured: mails are sent, not only kept
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)
	m.Get(display.AccountPath, scope.SeeMethods, h.showAccountPage)
	m.Post(display.AccountPath, scope.SeeMethods, h.rename)
	m.Post(display.AccountPath+"/language", scope.SeeMethods, h.chooseLanguage)
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
