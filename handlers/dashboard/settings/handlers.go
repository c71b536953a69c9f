// Package settings shows and changes what a business decides about itself, and shows its
// audit log.
package settings

import (
	"context"

	"cointill/core/account"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/handlers/page"
)

// Audits is what these pages need of core/audit.
type Audits interface {
	ListEntries(ctx context.Context, sc scope.Scope, f audit.Filter) (list []audit.Entry, next int64, err error)
	FindActor(ctx context.Context, sc scope.Scope, actor string) (audit.Entry, bool, error)
	ExportEntries(ctx context.Context, sc scope.Scope, f audit.Filter, t audit.Table) error
	VerifyChain(ctx context.Context, business, most int64) (audit.Verdict, error)
}

// Settings is what these pages need of core/settings.
type Settings interface {
	SetProfile(ctx context.Context, sc scope.Scope, p settings.Profile) error
	SetRules(ctx context.Context, sc scope.Scope, r settings.Rules) error
	SetDepths(ctx context.Context, sc scope.Scope, depths map[money.Coin]settings.Depth) error
	SetMails(ctx context.Context, sc scope.Scope, m settings.Mails) error
	SetLogo(ctx context.Context, sc scope.Scope, file []byte) error
	RemoveLogo(ctx context.Context, sc scope.Scope) error
}

// Team is what these pages need of core/account for the members of a business.
type Team interface {
	Team(ctx context.Context, sc scope.Scope) ([]account.Teammate, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Audits   Audits
	Clock    clock.Clock
	Depths   settings.Depths // the operator's
	Settings Settings
	Team     Team
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
