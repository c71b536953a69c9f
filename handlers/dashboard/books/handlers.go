// Package books shows statements and the journal, closes months, and makes their files.
package books

import (
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Journal *journal.Service
	Exports *page.Exports
	Clock   clock.Clock
}

const (
	statementPath = "/dashboard/statements"
	journalPath   = "/dashboard/journal"
)

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get(statementPath, scope.SeeBooks, h.showStatement)
	m.Post(statementPath+"/close", scope.CloseMonths, h.closeMonth)
	m.Get(journalPath, scope.SeeBooks, h.listEntries)
	m.Get(journalPath+".hledger", scope.SeeBooks, h.downloadHledger)
	m.Get(statementPath+"/bank.csv", scope.SeeBooks, h.downloadBank)
	for _, f := range formats {
		m.Get(statementPath+f.ending, scope.SeeBooks, func(c *page.Ctx) error { return h.downloadStatement(c, f) })
		m.Get(journalPath+f.ending, scope.SeeBooks, func(c *page.Ctx) error { return h.downloadJournal(c, f) })
	}
}
