// Package system shows operators the state of the installation.
package system

import (
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	System *system.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(systemPath, scope.SeeMethods, h.showSystem) // for operators, whatever their role
}
