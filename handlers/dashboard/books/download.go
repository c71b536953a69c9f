package books

import (
	"context"
	"io"
	"strconv"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/spreadsheet"
	"cointill/handlers/page"
	"cointill/views/words"
)

// format is a kind of table that a page offers.
type format struct {
	ending, contentType string
	begin               func(io.Writer, []spreadsheet.Column) (spreadsheet.Writer, error)
}

var formats = []format{
	{".csv", spreadsheet.CSVType, spreadsheet.NewCSV},
	{".xlsx", spreadsheet.XLSXType, spreadsheet.NewXLSX},
}

// downloadStatement sends the figures of a period as a table, one in each row.
func (h *Handlers) downloadStatement(c *page.Ctx, f format) error {
	period, wrong := h.readPeriod(c)
	if len(wrong) > 0 {
		return refusePeriod(c)
	}
	statement, err := h.Journal.ReadStatement(c.UserContext(), c.Scope, period)
	if err != nil {
		return err
	}
	columns, rows := figureColumns(c.UserContext()), figureRows(c.UserContext(), statement)
	return h.sendTable(c, "statement", period, f, func(_ context.Context, table spreadsheet.Writer) error {
		for _, row := range rows {
			if err := table.Row(row); err != nil {
				return err
			}
		}
		return nil
	}, columns)
}

// downloadJournal sends the entries of a filter as a table.
func (h *Handlers) downloadJournal(c *page.Ctx, f format) error {
	filter, wrong := h.readFilter(c)
	if len(wrong) > 0 {
		return refusePeriod(c)
	}
	if f.ending == ".xlsx" {
		n, err := h.Journal.CountEntries(c.UserContext(), c.Scope, filter)
		if err != nil {
			return err
		}
		if err := page.CheckWorkbook(n); err != nil {
			return err
		}
	}
	sc := c.Scope
	return h.sendTable(c, "journal", filter.Period, f, func(ctx context.Context, table spreadsheet.Writer) error {
		return h.Journal.ExportEntries(ctx, sc, filter, func(list []journal.Entry) error {
			for _, e := range list {
				if err := table.Row(entryCells(e)); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}, entryColumns(c.UserContext()))
}

// sendTable sends a table that is made on its way.
func (h *Handlers) sendTable(c *page.Ctx, what string, p journal.Period, f format,
	fill func(ctx context.Context, table spreadsheet.Writer) error, columns []spreadsheet.Column) error {
	return h.sendFile(c, what, p, f.ending, f.contentType, func(ctx context.Context, out io.Writer) error {
		table, err := f.begin(out, columns)
		if err != nil {
			return err
		}
		if err := fill(ctx, table); err != nil {
			return err
		}
		return table.Close()
	})
}

// downloadHledger sends the entries of a filter as a journal file of hledger.
func (h *Handlers) downloadHledger(c *page.Ctx) error {
	filter, wrong := h.readFilter(c)
	if len(wrong) > 0 {
		return refusePeriod(c)
	}
	sc := c.Scope
	return h.sendFile(c, "journal", filter.Period, ".journal", "text/plain; charset=utf-8",
		func(ctx context.Context, out io.Writer) error { return h.Journal.WriteHledger(ctx, sc, filter, out) })
}

// sendFile sends a file of a period.
func (h *Handlers) sendFile(c *page.Ctx, what string, p journal.Period, ending, contentType string,
	write func(ctx context.Context, out io.Writer) error) error {
	end, err := h.Exports.BeginExport(c.UserContext())
	if err != nil {
		return err
	}
	days := p.From + "-to-" + p.To
	if !(journal.Filter{Period: p}).HasStart() {
		days = "to-" + p.To
	}
	name := page.FileSlug(c.Member.Business.Name) + "-" + what + "-" + string(c.Scope.Domain) + "-" + days + ending
	return c.SendDownload(name, contentType, end, write)
}

// figureColumns returns the columns of the table of a statement.
func figureColumns(ctx context.Context) []spreadsheet.Column {
	return []spreadsheet.Column{{Title: words.T(ctx, "books.column_figure"), Width: 20},
		{Title: words.T(ctx, "books.column_unit"), Width: 20}, {Title: words.T(ctx, "books.column_network"), Width: 20},
		{Title: words.T(ctx, "books.column_amount"), Kind: spreadsheet.Number, Width: 20}}
}

// figureRows returns the figures of a statement in the order of the columns.
func figureRows(ctx context.Context, s journal.Statement) (rows [][]spreadsheet.Cell) {
	add := func(figure, unit, network, amount string) {
		rows = append(rows, []spreadsheet.Cell{spreadsheet.TextCell(figure), spreadsheet.TextCell(unit),
			spreadsheet.TextCell(network), spreadsheet.TextCell(amount)})
	}
	for _, l := range s.Currencies {
		fiat := func(figure string, value int64) { add(figure, l.Currency, "", money.FormatHundredths(value)) }
		add(words.T(ctx, "books.payments"), l.Currency, "", strconv.FormatInt(l.Payments, 10))
		fiat(words.T(ctx, "books.due"), l.Due)
		fiat(words.T(ctx, "books.received"), l.Received())
		fiat(words.T(ctx, "books.difference"), l.Difference())
		fiat(words.T(ctx, "books.reversed"), l.Reversed)
		fiat(words.T(ctx, "books.refunded"), l.Refunded)
		fiat(words.T(ctx, "books.declined_change"), l.Declined)
	}
	for _, l := range s.Coins {
		coin := func(figure string, amount money.Amount) {
			add(figure, l.Coin, l.Network, money.Coin(l.Coin).Format(amount))
		}
		coin(words.T(ctx, "books.opening"), l.Opening)
		coin(words.T(ctx, "books.received_on_chain"), l.Received)
		coin(words.T(ctx, "books.lost"), l.Lost)
		coin(words.T(ctx, "books.refunded"), l.Refunded)
		coin(words.T(ctx, "books.paid_out"), l.PaidOut)
		coin(words.T(ctx, "books.account_paid_twice"), l.PaidTwice)
		coin(words.T(ctx, "books.network_fees"), l.NetworkFees)
		coin(words.T(ctx, "books.moved_by_owner"), l.Moved)
		coin(words.T(ctx, "books.closing"), l.Closing)
		coin(words.T(ctx, "books.in_flight"), l.InFlight)
		coin(words.T(ctx, "books.pending"), l.Pending)
		coin(words.T(ctx, "books.declined"), l.Declined)
		coin(words.T(ctx, "books.unmatched"), l.Unmatched)
	}
	return rows
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
		text(words.T(ctx, "books.column_send")), text(words.T(ctx, "books.column_hash")),
		text(words.T(ctx, "books.column_posted_at"))}
}

// entryCells is an entry in the order of the columns.
func entryCells(e journal.Entry) []spreadsheet.Cell {
	value := ""
	if e.Currency != "" {
		value = money.FormatHundredths(e.Value)
	}
	text := spreadsheet.TextCell
	return []spreadsheet.Cell{text(e.BookedOn), text(e.HappenedOn), text(e.Kind), text(e.Debit), text(e.Credit),
		text(money.Coin(e.Coin).Format(e.Amount)), text(e.Coin), text(e.Network), text(value), text(e.Currency),
		text(e.Payment), text(e.Send), text(e.Hash), text(clock.Format(e.CreatedAt))}
}
