package list

import (
	"context"
	"io"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
)

// tableColumns are the columns of an exported table of payments. Amounts have
// their currency and coin in columns of their own, so that they can be added up.
func tableColumns(zone string) []spreadsheet.Column {
	return []spreadsheet.Column{
		{Title: "Reference", Width: 32}, {Title: "Business reference", Width: 28}, {Title: "Status", Width: 12},
		{Title: "Reason", Width: 16},
		{Title: "Customer", Width: 24}, {Title: "E-mail", Width: 28}, {Title: "Currency", Width: 9},
		{Title: "Amount", Kind: spreadsheet.Number, Width: 14}, {Title: "Amount paid", Kind: spreadsheet.Number, Width: 14},
		{Title: "Payment method", Width: 18}, {Title: "Coin", Width: 8},
		{Title: "Coin amount", Kind: spreadsheet.Number, Width: 18}, {Title: "Coin amount paid", Kind: spreadsheet.Number,
			Width: 18},
		{Title: "Created (" + zone + ")", Kind: spreadsheet.Time, Width: 20},
		{Title: "First seen (" + zone + ")", Kind: spreadsheet.Time, Width: 20},
		{Title: "Completed (" + zone + ")", Kind: spreadsheet.Time, Width: 20},
	}
}

// tableRow is a payment in the order of the columns.
func tableRow(p models.Payment, zone *time.Location) []spreadsheet.Cell {
	v, coin := payment.View{Payment: p}, money.Coin(p.Coin)
	in := func(t *time.Time) spreadsheet.Cell {
		if t == nil {
			return spreadsheet.TimeCell(nil)
		}
		local := t.In(zone)
		return spreadsheet.TimeCell(&local)
	}
	reason := p.Reason
	if p.Reversed {
		reason = "reversed"
	}
	return []spreadsheet.Cell{
		spreadsheet.TextCell(p.Reference), spreadsheet.TextCell(p.BusinessReference), spreadsheet.TextCell(p.Status), spreadsheet.TextCell(reason),
		spreadsheet.TextCell(p.CustomerName), spreadsheet.TextCell(p.CustomerEmail),
		spreadsheet.TextCell(p.Currency), spreadsheet.TextCell(money.FormatFiat(v.Charged())), spreadsheet.TextCell(money.FormatFiat(v.PaidFiat())), spreadsheet.TextCell(p.Method),
		spreadsheet.TextCell(p.Coin),
		spreadsheet.TextCell(coin.Format(p.Due)), spreadsheet.TextCell(coin.Format(p.Paid)), in(&p.CreatedAt), in(p.FirstSeenAt),
		in(p.SettledAt),
	}
}

// Table is how an export is written.
type Table struct {
	Zone *time.Location
	// Begin is spreadsheet.NewCSV or spreadsheet.NewXLSX.
	Begin func(w io.Writer, columns []spreadsheet.Column) (spreadsheet.Writer, error)
}

// ExportTable writes every payment that a filter chooses as a table, as Export
// hands them over. It is whole only when no error is returned.
func (s *Service) ExportTable(ctx context.Context, sc scope.Scope, f Filter, t Table, out io.Writer) error {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return err
	}
	table, err := t.Begin(out, tableColumns(t.Zone.String()))
	if err != nil {
		return err
	}
	err = s.Export(ctx, sc, f, func(rows []models.Payment) error {
		for _, p := range rows {
			if err := table.Row(tableRow(p, t.Zone)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return table.Close()
}
