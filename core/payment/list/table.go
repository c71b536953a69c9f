package list

import (
	"context"
	"io"
	"strconv"
	"strings"
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
		{Title: "Difference", Kind: spreadsheet.Number, Width: 14}, {Title: "Coin difference", Kind: spreadsheet.Number, Width: 18},
		{Title: "Coin refunded", Kind: spreadsheet.Number, Width: 18}, {Title: "Booked on", Width: 12},
		{Title: "Coin surplus", Kind: spreadsheet.Number, Width: 18},
		{Title: "Coin reversed", Kind: spreadsheet.Number, Width: 18}, {Title: "Reversed on", Width: 12},
		{Title: "Rate", Kind: spreadsheet.Number, Width: 18}, {Title: "Rate sources", Width: 28},
		{Title: "Network", Width: 18}, {Title: "Address", Width: 44}, {Title: "Tag", Width: 12},
		{Title: "Transactions", Width: 66}, {Title: "Refund transactions", Width: 66},
		{Title: "Payment link", Width: 16}, {Title: "Authorization code", Width: 32}, {Title: "Metadata", Width: 40},
	}
}

// tableRow returns a payment in the order of the columns. A payment that received nothing has no
// difference.
func tableRow(p models.Payment, d *details, zone *time.Location) []spreadsheet.Cell {
	v, coin := payment.View{Payment: p}, money.Coin(p.Coin)
	in := func(t *time.Time) spreadsheet.Cell {
		if t == nil {
			return spreadsheet.TimeCell(nil)
		}
		local := t.In(zone)
		return spreadsheet.TimeCell(&local)
	}
	var tag, difference, coinDifference string
	if p.Tag != nil {
		tag = strconv.FormatInt(*p.Tag, 10)
	}
	if p.Paid.Sign() > 0 {
		difference, coinDifference = money.FormatFiat(v.PaidFiat().Sub(v.Charged())), coin.Format(p.Paid.Sub(p.Due))
	}
	some := func(a money.Amount) spreadsheet.Cell {
		if a.Sign() == 0 {
			return spreadsheet.TextCell("")
		}
		return spreadsheet.TextCell(coin.Format(a))
	}
	return []spreadsheet.Cell{
		spreadsheet.TextCell(p.Reference), spreadsheet.TextCell(p.BusinessReference), spreadsheet.TextCell(p.Status), spreadsheet.TextCell(p.Reason),
		spreadsheet.TextCell(p.CustomerName), spreadsheet.TextCell(p.CustomerEmail),
		spreadsheet.TextCell(p.Currency), spreadsheet.TextCell(money.FormatFiat(v.Charged())), spreadsheet.TextCell(money.FormatFiat(v.PaidFiat())), spreadsheet.TextCell(p.Method),
		spreadsheet.TextCell(p.Coin),
		spreadsheet.TextCell(coin.Format(p.Due)), spreadsheet.TextCell(coin.Format(p.Paid)), in(&p.CreatedAt), in(p.FirstSeenAt),
		in(payment.CompletedAt(p)),
		spreadsheet.TextCell(difference), spreadsheet.TextCell(coinDifference), some(d.refunded),
		spreadsheet.TextCell(d.bookedOn), some(d.surplus), some(d.reversed), spreadsheet.TextCell(d.lostOn),
		spreadsheet.TextCell(p.Price), spreadsheet.TextCell(d.sources),
		spreadsheet.TextCell(p.Network), spreadsheet.TextCell(p.Address), spreadsheet.TextCell(tag),
		spreadsheet.TextCell(strings.Join(d.hashes, " ")), spreadsheet.TextCell(strings.Join(d.refunds, " ")),
		spreadsheet.TextCell(d.link), spreadsheet.TextCell(p.AuthorizationCode), spreadsheet.TextCell(d.metadata),
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
		found, err := s.readDetails(ctx, rows)
		if err != nil {
			return err
		}
		for _, p := range rows {
			if err := table.Row(tableRow(p, found[p.ID], t.Zone)); err != nil {
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
