// Package developers shows API keys, the log of API calls and the quickstart.
package developers

import (
	"context"

	"cointill/core/account/apikey"
	"cointill/core/apilog"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
)

// Keys is what these pages need of core/account/apikey.
type Keys interface {
	ListKeys(ctx context.Context, sc scope.Scope) ([]apikey.Key, error)
	CreateKey(ctx context.Context, sc scope.Scope, name string) (apikey.Key, string, error)
	CreateRestrictedKey(ctx context.Context, sc scope.Scope, name string, may []apikey.Permission) (apikey.Key, string,
		error)
	RollKey(ctx context.Context, sc scope.Scope, id int64) (apikey.Key, string, error)
	RevokeKey(ctx context.Context, sc scope.Scope, id int64) error
}

// Calls is what these pages need of core/apilog.
type Calls interface {
	ListCalls(ctx context.Context, sc scope.Scope, f apilog.Filter) (rows []models.APICall, next int64, err error)
	FindCall(ctx context.Context, sc scope.Scope, id int64) (models.APICall, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Keys    Keys
	Answers *idempotency.Store // what forms made: one that is sent twice makes it once
	Calls   Calls
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
