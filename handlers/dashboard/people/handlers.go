// Package people shows and changes a user's own account: name, password, e-mail address,
// passkeys, second factor and sessions.
package people

import (
	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Accounts   *account.Service
	Users      *auth.Service
	Factors    *auth.Factors
	Sessions   *auth.Sessions
	Passkeys   *auth.Passkeys
	MailServer bool // a mail server is configured: mails are sent, not only kept
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Post("/dashboard/domain", scope.SeeMethods, h.switchDomain)
	m.Get(display.AccountPath, scope.SeeMethods, h.showAccountPage)
	m.Post(display.AccountPath, scope.SeeMethods, h.rename)
	m.Post(display.AccountPath+"/language", scope.SeeMethods, h.chooseLanguage)
	m.Post(display.AccountPath+"/business", scope.SeeMethods, h.chooseBusiness)
	m.Get(display.AccountPath+"/password", scope.SeeMethods, page.ShowForm(h.showPassword))
	m.Post(display.AccountPath+"/password", scope.SeeMethods, h.changePassword)
	m.Get(display.AccountPath+"/email", scope.SeeMethods, h.showEmailForm)
	m.Post(display.AccountPath+"/email", scope.SeeMethods, h.changeEmail)
	m.Get(factorPath, scope.SeeMethods, page.ShowForm(h.showFactor))
	m.Post(factorPath, scope.SeeMethods, h.beginFactor)
	m.Post(factorPath+"/confirm", scope.SeeMethods, h.confirmFactor)
	m.Post(factorPath+"/change", scope.SeeMethods, h.changeFactor)
	m.Get(passkeysPath, scope.SeeMethods, page.ShowForm(h.showPasskeys))
	m.Post(passkeysPath, scope.SeeMethods, h.beginPasskey)
	m.Post(passkeysPath+"/confirm", scope.SeeMethods, h.confirmPasskey)
	m.Get(passkeysPath+"/:passkey", scope.SeeMethods, page.ShowForm(h.showPasskey))
	m.Post(passkeysPath+"/:passkey", scope.SeeMethods, h.renamePasskey)
	m.Post(passkeysPath+"/:passkey/remove", scope.SeeMethods, h.removePasskey)
	m.Post(display.AccountPath+"/sessions/end", scope.SeeMethods, h.endSession)
	m.Post(display.AccountPath+"/sessions/end-others", scope.SeeMethods, h.endOtherSessions)
}
