// Package settings shows and changes what a business decides about itself, and shows its
// audit log.
package settings

import (
	"cointill/core/account"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Audits   *audit.Service
	Clock    clock.Clock
	Depths   settings.Depths // the operator's
	Settings *settings.Service
	Team     *account.Service
	Exports  *page.Exports // bounds how many files are made at once
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(settingsPath, scope.ManageBusiness, h.showSettingsPage)
	m.Post(settingsPath+"/profile", scope.ManageBusiness, h.saveProfile)
	m.Post(settingsPath+"/logo", scope.ManageBusiness, h.saveLogo)
	m.Post(settingsPath+"/logo/remove", scope.ManageBusiness, h.removeLogo)
	m.Post(settingsPath+"/payments", scope.ManageBusiness, h.savePaymentRules)
	m.Post(settingsPath+"/confirmations", scope.ManageBusiness, h.saveConfirmations)
	m.Post(settingsPath+"/mails", scope.ManageBusiness, h.saveMails)
	m.Get(auditPath, scope.SeeAudit, h.showAudit)
	m.Get(auditPath+".csv", scope.SeeAudit, h.downloadAudit)
}
