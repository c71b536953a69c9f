// Package developers shows API keys, the log of API calls and the quickstart.
package developers

import (
	"cointill/core/account/apikey"
	"cointill/core/apilog"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Keys    *apikey.Service
	Answers *idempotency.Store // what forms made: one that is sent twice makes it once
	Calls   *apilog.Log
	Clock   clock.Clock
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/keys", scope.ManageKeys, h.listKeys)
	m.Post("/dashboard/keys", scope.ManageKeys, h.createKey)
	m.Post("/dashboard/keys/:id/roll", scope.ManageKeys, h.rollKey)
	m.Post("/dashboard/keys/:id/revoke", scope.ManageKeys, h.revokeKey)
	m.Get(callsPath, scope.ManageKeys, h.listCalls)
	m.Get(callsPath+"/:id", scope.ManageKeys, h.showCall)
	m.Get(quickstartPath, scope.ManageKeys, h.showQuickstartPage)
	m.Post(quickstartPath, scope.ManageKeys, h.createQuickstartKey)
}
