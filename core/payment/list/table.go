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
		{Title: "Difference", Kind: spreadsheet.Number, Width: 14},
		{Title: "Coin difference", Kind: spreadsheet.Number, Width: 18},
		{Title: "Refunded", Kind: spreadsheet.Number, Width: 14},
		{Title: "Coin refunded", Kind: spreadsheet.Number, Width: 18}, {Title: "Booked on", Width: 12},
		{Title: "Reversed", Kind: spreadsheet.Number, Width: 14},
		{Title: "Coin reversed", Kind: spreadsheet.Number, Width: 18},
		{Title: "Reversed on", Width: 12}, {Title: "Coin surplus", Kind: spreadsheet.Number, Width: 18},
		{Title: "Rate", Kind: spreadsheet.Number, Width: 18}, {Title: "Rate sources", Width: 28},
		{Title: "Network", Width: 18}, {Title: "Address", Width: 44}, {Title: "Tag", Width: 12},
		{Title: "Transactions", Width: 66}, {Title: "Refund transactions", Width: 66},
		{Title: "Payment link", Width: 16}, {Title: "Authorization code", Width: 32}, {Title: "Metadata", Width: 40},
		{Title: "Booked due", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked received", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked reversed", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked refunded", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked declined", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked unmatched", Kind: spreadsheet.Number, Width: 14},
		{Title: "Booked coin sales", Kind: spreadsheet.Number, Width: 18},
		{Title: "Booked coin refunded", Kind: spreadsheet.Number, Width: 18},
		{Title: "Booked coin declined", Kind: spreadsheet.Number, Width: 18},
		{Title: "Booked coin unmatched", Kind: spreadsheet.Number, Width: 18},
		{Title: "Remark", Width: 40}, {Title: "Customer code", Width: 32},
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
	quantity := func(a money.Amount) spreadsheet.Cell {
		if a.Sign() == 0 {
			return spreadsheet.TextCell("")
		}
		return spreadsheet.TextCell(coin.Format(a))
	}
	value := func(of money.Amount, hundredths int64) spreadsheet.Cell {
		if of.Sign() == 0 {
			return spreadsheet.TextCell("")
		}
		return spreadsheet.TextCell(money.FormatHundredths(hundredths))
	}
	text := spreadsheet.TextCell
	cells := []spreadsheet.Cell{
		text(p.Reference), text(p.BusinessReference), text(p.Status), text(p.Reason), text(p.CustomerName),
		text(p.CustomerEmail), text(p.Currency), text(money.FormatFiat(v.Charged())),
		text(money.FormatFiat(v.PaidFiat())), text(p.Method), text(p.Coin), text(coin.Format(p.Due)),
		text(coin.Format(p.Paid)), in(&p.CreatedAt), in(p.FirstSeenAt), in(payment.CompletedAt(p)), text(difference),
		text(coinDifference), value(d.refunded, d.refundedValue), quantity(d.refunded), text(d.bookedOn),
		value(d.reversed, d.reversedValue), quantity(d.reversed), text(d.reversedOn), quantity(d.surplus),
		text(p.Price), text(d.sources), text(p.Network), text(p.Address), text(tag),
		text(strings.Join(d.hashes, " ")), text(strings.Join(d.refunds, " ")), text(d.link), text(p.AuthorizationCode),
		text(d.metadata),
	}
	f := d.figures
	for _, hundredths := range []int64{f.Due, f.Received(), f.Reversed, f.Refunded, f.Declined, f.Unmatched} {
		cells = append(cells, text(money.FormatHundredths(hundredths)))
	}
	for _, amount := range []money.Amount{f.Coin.Sales, f.Coin.Refunded, f.Coin.Declined, f.Coin.Unmatched} {
		cells = append(cells, text(coin.Format(amount)))
	}
	return append(cells, text(payment.ReadRemark(p)), text(d.customer))
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
		found, err := s.readDetails(ctx, rows, f.bookedDays())
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
