package books

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/handlers/page"
	"cointill/views/words"
)

// downloadCSV sends the entries of a period as a table.
func (h *Handlers) downloadCSV(c *page.Ctx) error {
	columns := entryColumns(c.UserContext())
	return h.download(c, ".csv", "text/csv; charset=utf-8",
		func(ctx context.Context, sc scope.Scope, p journal.Period, out io.Writer) error {
			table, err := spreadsheet.NewCSV(out, columns)
			if err != nil {
				return err
			}
			if err := h.Journal.ExportEntries(ctx, sc, p, func(list []journal.Entry) error {
				for _, e := range list {
					if err := table.Row(entryCells(e)); err != nil {
						return err
					}
				}
				return ctx.Err()
			}); err != nil {
				return err
			}
			return table.Close()
		})
}

// downloadHledger sends the entries of a period as a journal file of hledger.
func (h *Handlers) downloadHledger(c *page.Ctx) error {
	return h.download(c, ".journal", "text/plain; charset=utf-8", h.Journal.WriteHledger)
}

// download sends a file of the period that the address names.
func (h *Handlers) download(c *page.Ctx, ending, contentType string,
	write func(ctx context.Context, sc scope.Scope, p journal.Period, out io.Writer) error) error {
	period, wrong := h.readPeriod(c)
	if len(wrong) > 0 {
		return c.Redirect(statementPath)
	}
	end, err := h.Exports.BeginExport(c.UserContext())
	if err != nil {
		return err
	}
	sc := c.Scope
	name := page.FileSlug(c.Member.Business.Name) + "-journal-" + string(sc.Domain) + "-" + period.From + "-to-" +
		period.To + ending
	return c.SendDownload(name, contentType, end, func(ctx context.Context, out io.Writer) error {
		return write(ctx, sc, period, out)
	})
}

// entryColumns returns the columns of the table of entries.
func entryColumns(ctx context.Context) []spreadsheet.Column {
	text := func(title string) spreadsheet.Column { return spreadsheet.Column{Title: title, Width: 20} }
	number := func(title string) spreadsheet.Column {
		return spreadsheet.Column{Title: title, Kind: spreadsheet.Number, Width: 20}
	}
	return []spreadsheet.Column{text(words.T(ctx, "books.column_booked_on")),
		text(words.T(ctx, "books.column_happened_on")), text(words.T(ctx, "books.column_kind")),
		text(words.T(ctx, "books.column_debit")), text(words.T(ctx, "books.column_credit")),
		number(words.T(ctx, "books.column_amount")), text(words.T(ctx, "books.column_coin")),
		text(words.T(ctx, "books.column_network")), number(words.T(ctx, "books.column_value")),
		text(words.T(ctx, "books.column_currency")), text(words.T(ctx, "books.column_payment")),
		text(words.T(ctx, "books.column_hash")), text(words.T(ctx, "books.column_posted_at"))}
}

// entryCells is an entry in the order of the columns.
func entryCells(e journal.Entry) []spreadsheet.Cell {
	value := ""
	if e.Currency != "" {
		value = decimal.New(e.Value, -2).StringFixed(2)
	}
	text := spreadsheet.TextCell
	return []spreadsheet.Cell{text(e.BookedOn), text(e.HappenedOn), text(e.Kind), text(e.Debit), text(e.Credit),
		text(money.Coin(e.Coin).Format(e.Amount)), text(e.Coin), text(e.Network), text(value), text(e.Currency),
		text(e.Payment), text(e.Hash), text(clock.Format(e.CreatedAt))}
}
