// Package system shows operators the state of the installation.
package system

import (
	"context"

	"cointill/core/scope"
	"cointill/core/system"
	"cointill/handlers/page"
)

// System is what these pages need of core/system.
type System interface {
	Look(ctx context.Context) (system.Report, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	System System
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(systemPath, scope.SeeMethods, h.showSystem) // for operators, whatever their role
}
