package books

import (
	"context"
	"io"
	"strconv"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/spreadsheet"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// downloadBank sends movements of the wallet in a currency as a bank statement of an accounting
// program.
func (h *Handlers) downloadBank(c *page.Ctx) error {
	period, wrong := h.readPeriod(c)
	values := page.ReadQuery(c)
	currency := money.Currency(values.Get("currency"))
	program := values.Get("program")
	format, known := journal.BankFormats()[program]
	part := 1
	if text := values.Get("part"); text != "" {
		part, _ = strconv.Atoi(text) // 0 for no number
	}
	switch {
	case len(wrong) > 0:
		return refusePeriod(c)
	case !known:
		return refuseBank(c, period, words.T(c.UserContext(), "books.bank_no_program"))
	case !currency.IsKnown():
		return refuseBank(c, period, words.T(c.UserContext(), "books.bank_no_currency"))
	case part < 1 || part > maxParts:
		return refuseBank(c, period, words.T(c.UserContext(), "books.bank_no_part", "Most", strconv.Itoa(maxParts)))
	}
	lines, err := h.Journal.ListBankLines(c.UserContext(), c.Scope, period, string(currency), part)
	if err != nil {
		return err
	}
	if len(lines) == 0 && part > 1 {
		return refuseBank(c, period, words.T(c.UserContext(), "books.bank_no_file"))
	}
	what := program + "-" + string(currency)
	if part > 1 {
		what += "-" + strconv.Itoa(part)
	}
	return h.sendFile(c, what, period, ".csv", spreadsheet.CSVType, func(_ context.Context, out io.Writer) error {
		table, err := spreadsheet.NewCSV(out, format.Columns)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := table.Row(format.Cells(l)); err != nil {
				return err
			}
		}
		return table.Close()
	})
}

// refuseBank redirects to the statement of a period, and says why there is no bank statement.
func refuseBank(c *page.Ctx, p journal.Period, why string) error {
	c.SetFlash(string(ui.Bad), why)
	return c.Redirect(statementPath + "?" + periodQuery(p).Encode())
}

// maxParts bounds the files of a period.
const maxParts = 10_000

// countParts returns how many files a number of movements fills.
func countParts(movements int64) int {
	return int((movements + journal.BankLines - 1) / journal.BankLines)
}
