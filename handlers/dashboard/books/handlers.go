// Package books shows statements and the journal, closes months, and makes their files.
package books

import (
	"context"
	"io"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/models"
)

// Journal is what these pages need of core/journal.
type Journal interface {
	ReadStatement(ctx context.Context, sc scope.Scope, p journal.Period) (journal.Statement, error)
	ListMonths(ctx context.Context, sc scope.Scope) ([]journal.Month, error)
	ListEntries(ctx context.Context, sc scope.Scope, f journal.Filter) ([]journal.Entry, int64, error)
	ExportEntries(ctx context.Context, sc scope.Scope, p journal.Period, batch func([]journal.Entry) error) error
	WriteHledger(ctx context.Context, sc scope.Scope, p journal.Period, out io.Writer) error
	ListBankLines(ctx context.Context, sc scope.Scope, p journal.Period, currency string,
		part int) ([]journal.BankLine, error)
	ListLate(ctx context.Context, sc scope.Scope, p journal.Period, limit int) ([]journal.Entry, error)
	CloseMonth(ctx context.Context, sc scope.Scope, month string) (models.ClosedMonth, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Journal Journal
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
