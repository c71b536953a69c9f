package wallet

import (
	"bytes"
	"context"
	"io"
	"time"

	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/spreadsheet"
	"cointill/core/wallet"
	"cointill/handlers/page"
	"cointill/views/words"
)

// sweepColumns returns the columns of the sheet for the merchant's own wallet.
func sweepColumns(ctx context.Context, native money.Coin) []spreadsheet.Column {
	return []spreadsheet.Column{
		{Title: words.T(ctx, "sweep.column_address"), Width: 44}, {Title: words.T(ctx, "sweep.column_path"), Width: 10},
		{Title: words.T(ctx, "sweep.column_wallet"), Width: 24},
		{Title: string(native), Kind: spreadsheet.Number, Width: 22}, {Title: string(money.USDT), Kind: spreadsheet.Number,
			Width: 16},
		{Title: words.T(ctx, "sweep.column_missing", "Coin", string(native)), Kind: spreadsheet.Number, Width: 22},
		{Title: words.T(ctx, "sweep.column_barred"), Width: 16},
	}
}

// downloadSweep sends what the addresses of ether and USDT hold now on a network, as a table: where
// to collect from, and which addresses need gas first. It is made
// whole before it is sent, so that a node which fails makes no half of one.
func (h *Handlers) downloadSweep(c *page.Ctx) error {
	info, err := coinOf(c)
	if err != nil {
		return err
	}
	if info.Chain != money.Ethereum {
		return c.Redirect(walletPath(info)) // wallets of other coins collect by themselves
	}
	n, err := h.Collecting.FindNetwork(c.Scope, money.Chain(page.CleanText(c.Query("network"))))
	if err != nil {
		return err
	}
	var file bytes.Buffer
	table, err := spreadsheet.NewCSV(&file, sweepColumns(c.UserContext(), n.Native))
	if err == nil {
		err = h.Wallets.SweepSheet(c.UserContext(), c.Scope, n.Code,
			func(s wallet.Sweep) error { return table.Row(sweepRow(c.UserContext(), n.Native, s)) })
	}
	if err == nil {
		err = table.Close()
	}
	if err != nil {
		return err
	}
	name := page.FileSlug(c.Member.Business.Name) + "-addresses-" + string(n.Name) + "-" + h.Clock().
		In(page.LoadZone(c.Member.Business)).Format(time.DateOnly) + ".csv"
	return c.SendDownload(name, spreadsheet.CSVType, func() {}, func(_ context.Context, out io.Writer) error {
		_, err := out.Write(file.Bytes())
		return err
	})
}

// sweepRow is an address in the order of the columns.
func sweepRow(ctx context.Context, native money.Coin, s wallet.Sweep) []spreadsheet.Cell {
	missing, barred := "", ""
	if s.Missing.Sign() > 0 {
		missing = native.Format(s.Missing)
	}
	if s.Barred {
		barred = words.T(ctx, "sweep.yes")
	}
	var cells []spreadsheet.Cell
	for _, text := range []string{s.Address, s.Path, receiving.ShortKey(s.Key), native.Format(s.Native),
		money.USDT.Format(s.Token), missing, barred} {
		cells = append(cells, spreadsheet.TextCell(text))
	}
	return cells
}
