package journal_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

var all = journal.Period{From: "2026-01-01", To: "2026-12-31"}

// saleOf moves a transfer to the sales, with an amount due of its value.
func saleOf(row models.Transfer) journal.Move {
	return journal.Move{Transfer: row, To: journal.Sales, Currency: "NGN", Value: 500, Due: 500, At: noon, Zone: "UTC"}
}

// fillBooks posts a sold transfer of a payment, a refund of the payment, and a sale of no payment; an
// earlier month is closed.
func fillBooks(t *testing.T, db *models.DB) (*journal.Service, models.Payment) {
	t.Helper()
	books := reader(t, db, noon)
	p := models.Payment{BusinessID: 1, Domain: "test", Reference: "PAY_1", BusinessReference: "order-1",
		CustomerName: "Ngozi Okafor", Currency: "NGN", Amount: 5, CreatedAt: noon}
	refund := models.Resolution{BusinessID: 1, Domain: "test", Kind: "refunded", Asset: "BTC", Amount: money.Units(400),
		TxID: "sent", CreatedAt: noon}
	create := func(row any) {
		t.Helper()
		if err := db.Exec(t.Context()).Create(row).Error; err != nil {
			t.Fatal(err)
		}
	}
	create(&models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-02", Hash: "h", Actor: "user:1",
		CreatedAt: noon})
	create(&p)
	refund.PaymentID = &p.ID
	create(&refund)
	row := received(t, db, "came")
	row.PaymentID = &p.ID
	if err := db.Write(t.Context(), func(tx *models.Tx) error {
		return errors.Join(
			journal.MoveTransfers(tx, noon, []journal.Move{saleOf(row)}),
			journal.PostRefund(tx, noon, journal.Refund{Resolution: refund, Network: row.Network, From: journal.Refunds,
				Currency: "NGN", Value: 200, Zone: "UTC"}))
	}); err != nil {
		t.Fatal(err)
	}
	postEntries(t, db, "block 7", noon, journal.Sales)
	return books, p
}

// bookCalls are the operations on books.
func bookCalls(t *testing.T, books *journal.Service) map[string]func(sc scope.Scope, p journal.Period) error {
	ctx := t.Context()
	return map[string]func(sc scope.Scope, p journal.Period) error{
		"ReadStatement": func(sc scope.Scope, p journal.Period) error {
			_, err := books.ReadStatement(ctx, sc, p)
			return err
		},
		"ListEntries": func(sc scope.Scope, p journal.Period) error {
			_, _, err := books.ListEntries(ctx, sc, journal.Filter{Period: p, Limit: 10})
			return err
		},
		"ExportEntries": func(sc scope.Scope, p journal.Period) error {
			return books.ExportEntries(ctx, sc, p, func([]journal.Entry) error { return nil })
		},
		"WriteHledger": func(sc scope.Scope, p journal.Period) error {
			return books.WriteHledger(ctx, sc, p, io.Discard)
		},
		"ListBankLines": func(sc scope.Scope, p journal.Period) error {
			_, err := books.ListBankLines(ctx, sc, p, "NGN", 1)
			return err
		},
		"ListLate":  func(sc scope.Scope, p journal.Period) error { _, err := books.ListLate(ctx, sc, p, 10); return err },
		"ListSales": func(sc scope.Scope, p journal.Period) error { _, err := books.ListSales(ctx, sc, p); return err },
	}
}

// TestBooksOfAFailingDatabase checks that each operation returns the error of each statement that fails.
func TestBooksOfAFailingDatabase(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books, p := fillBooks(t, db)
		ctx := t.Context()
		row := received(t, db, "moves")
		row.PaymentID = &p.ID
		refund := models.Resolution{ID: 9, BusinessID: 1, Domain: "test", Asset: "BTC", Amount: money.Units(1),
			CreatedAt: noon}
		calls := bookCalls(t, books)
		failing := map[string]func() error{
			"ListMonths":   func() error { _, err := books.ListMonths(ctx, finance); return err },
			"ClosedMonths": func() error { _, err := books.ClosedMonths(ctx, finance); return err },
			"MoveTransfers": func() error {
				return db.Write(ctx, func(tx *models.Tx) error {
					return journal.MoveTransfers(tx, noon, []journal.Move{saleOf(row)})
				})
			},
			"PostRefund": func() error {
				return db.Write(ctx, func(tx *models.Tx) error {
					return journal.PostRefund(tx, noon, journal.Refund{Resolution: refund, Network: "n", From: journal.Refunds,
						Zone: "UTC"})
				})
			},
			"SumDays":     func() error { _, err := journal.SumDays(db.Read(ctx), finance, all); return err },
			"ListFigures": func() error { _, err := journal.ListFigures(db.Read(ctx), []int64{p.ID}, all); return err },
		}
		for name, call := range calls {
			failing[name] = func() error { return call(finance, all) }
		}
		for name, call := range failing {
			t.Run(name, func(t *testing.T) { modelstest.FailStatements(t, db, call) })
		}
		books.Clock = func() time.Time { return noon.AddDate(0, 1, 0) }
		t.Run("CloseMonth", func(t *testing.T) {
			modelstest.FailStatements(t, db, func() error { _, err := books.CloseMonth(ctx, finance, "2026-03"); return err })
		})
	})
}

// TestBooksNeedARole checks that each operation refuses a role that may not see books, and an invalid period.
func TestBooksNeedARole(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		developer := finance
		developer.Role, developer.Domain = "", scope.Live
		calls := bookCalls(t, books)
		for name, call := range calls {
			if err := call(developer, all); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s without a role returns %v, want forbidden", name, err)
			}
			for _, p := range []journal.Period{{From: "x", To: "2026-12-31"}, {From: "2026-01-01", To: "x"},
				{From: "2026-01-02", To: "2026-01-01"}} {
				if err := call(finance, p); fault.KindOf(err) != fault.Invalid {
					t.Errorf("%s from %s to %s returns %v, want that it is invalid", name, p.From, p.To, err)
				}
			}
			if err := call(finance, journal.Period{From: "2026-01-01", To: "2026-01-01"}); err != nil {
				t.Errorf("%s of a day returns %v, want no error", name, err)
			}
		}
		if _, err := books.ListMonths(t.Context(), developer); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("the months without a role return %v, want forbidden", err)
		}
		if _, err := books.CloseMonth(t.Context(), finance, "2026-3"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("closing a text that is no month returns %v, want that it is invalid", err)
		}
	})
}

// TestEntriesNameTheirPayment checks the references, names and hashes of entries and bank lines, for entries
// of a payment and of none.
func TestEntriesNameTheirPayment(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books, _ := fillBooks(t, db)
		list, _, err := books.ListEntries(t.Context(), finance, journal.Filter{Period: all, Limit: 10})
		var got []string
		for _, e := range list {
			got = append(got, e.Kind+" "+e.Payment+" "+e.Hash)
		}
		want := []string{"received PAY_1 came", "refunded PAY_1 ", "received  "}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the entries are %q (%v), want %q", got, err, want)
		}
		lines, err := books.ListBankLines(t.Context(), finance, all, "NGN", 1)
		got = nil
		for _, l := range lines {
			value := money.FormatHundredths(l.Value)
			got = append(got, strings.Join([]string{l.Kind, value, l.Payer, l.Reference, l.Hash}, " "))
		}
		if want = []string{"received 5.00 Ngozi Okafor order-1 came", "refunded -2.00 Ngozi Okafor order-1 sent",
			"received 5.00   "}; err != nil || !slices.Equal(got, want) {
			t.Errorf("the bank lines are %q (%v), want %q", got, err, want)
		}
		var file strings.Builder
		if err := books.WriteHledger(t.Context(), finance, all, &file); err != nil {
			t.Fatal(err)
		}
		const at = "  ; at: 2026-03-31T12:00:00Z"
		for _, want := range []string{"received | PAY_1" + at + ", hash: came\n", "refunded | PAY_1" + at + "\n",
			"received | no payment" + at + "\n"} {
			if !strings.Contains(file.String(), want) {
				t.Errorf("the file lacks %q:\n%s", want, file.String())
			}
		}
	})
}

// TestBankFormats checks what accounting programs are given of each kind of movement.
func TestBankFormats(t *testing.T) {
	t.Parallel()
	entry := func(kind, hash string) journal.Entry {
		return journal.Entry{Hash: hash, JournalEntry: models.JournalEntry{BookedOn: "2026-03-31", Kind: kind, Coin: "BTC",
			Amount: money.Units(1000)}}
	}
	long := strings.Repeat("f", 300)
	for _, c := range []struct {
		line             journal.BankLine
		xero, quickbooks []string
	}{
		{journal.BankLine{Entry: entry(journal.Received, "aa"), Value: 500, Payer: "2Ngozi", Reference: "order-1"},
			[]string{"2026-03-31", "5.00", "2Ngozi", "Received 0.00001000 BTC, aa", "order-1"},
			[]string{"31/03/2026", "Received BTC Ngozi", "5.00"}},
		{journal.BankLine{Entry: entry(journal.Restored, ""), Value: 500},
			[]string{"2026-03-31", "5.00", "", "Received 0.00001000 BTC", ""}, []string{"31/03/2026", "Received BTC", "5.00"}},
		{journal.BankLine{Entry: entry(journal.Refunded, long), Value: -500},
			[]string{"2026-03-31", "-5.00", "", ("Refund 0.00001000 BTC, " + long)[:255], ""},
			[]string{"31/03/2026", "Refund BTC", "-5.00"}},
		{journal.BankLine{Entry: entry(journal.Left, ""), Value: -500},
			[]string{"2026-03-31", "-5.00", "", "Left the chain 0.00001000 BTC", ""},
			[]string{"31/03/2026", "Left the chain BTC", "-5.00"}},
		{journal.BankLine{Entry: journal.Entry{JournalEntry: models.JournalEntry{BookedOn: "odd", Coin: "BTC"}}},
			[]string{"odd", "0.00", "", "Left the chain 0.00000000 BTC", ""}, []string{"odd", "Left the chain BTC", "0.00"}},
	} {
		for name, want := range map[string][]string{"xero": c.xero, "quickbooks": c.quickbooks} {
			var cells []spreadsheet.Cell
			for _, text := range want {
				cells = append(cells, spreadsheet.TextCell(text))
			}
			if got := journal.BankFormats()[name].Cells(c.line); !slices.Equal(got, cells) {
				t.Errorf("%s is given %+v, want %q", name, got, want)
			}
		}
	}
}

// TestDueIsCountedOnce checks that the amount due of a payment is counted with the first transfer that makes
// it a sale, in one call and in several.
func TestDueIsCountedOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		var moves []journal.Move
		for i, hash := range []string{"a1", "a2", "b1", "b2"} {
			row, id := received(t, db, hash), int64(1+i/2)
			row.PaymentID = &id
			moves = append(moves, saleOf(row))
		}
		for _, some := range [][]journal.Move{moves[:3], moves[3:], nil} {
			err := db.Write(t.Context(), func(tx *models.Tx) error { return journal.MoveTransfers(tx, noon, some) })
			if err != nil {
				t.Fatal(err)
			}
		}
		line := statementOf(t, books, "2026-03").Currencies[0]
		if line.Due != 1000 || line.Payments != 2 || line.Sold != 2000 || line.Difference() != 1000 {
			t.Errorf("the statement has %+v, want 2 payments with 1000 due and 2000 received", line)
		}
	})
}

// TestStatementsAreSorted checks the order of a statement's coins, networks and currencies, and that its
// values are of its own days.
func TestStatementsAreSorted(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		for i, of := range [][3]string{{"XRP", "n1", "USD"}, {"BTC", "n2", "KES"}, {"BTC", "n1", "NGN"},
			{"BTC", "n1", ""}} {
			for _, day := range []string{"2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"} {
				row := models.JournalDay{BusinessID: 1, Domain: "test", BookedOn: day, Kind: journal.Received,
					Debit: "wallet", Credit: "unmatched", Coin: of[0], Network: of[1], Currency: of[2], Entries: 1,
					Amount: money.Units(1), Value: int64(i + 1)}
				if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		s := statementOf(t, books, "2026-03")
		var got []string
		for _, l := range s.Coins {
			got = append(got, l.Coin+" "+l.Network+" "+l.Opening.String()+" "+l.Closing.String())
		}
		for _, l := range s.Currencies {
			got = append(got, l.Currency+" "+money.FormatHundredths(l.Unmatched))
		}
		want := []string{"BTC n1 2 6", "BTC n2 1 3", "XRP n1 1 3", "KES 0.04", "NGN 0.06", "USD 0.02"}
		if !slices.Equal(got, want) || s.Entries != 8 || s.Closed {
			t.Errorf("the statement has %q with %d entries, want %q with 8", got, s.Entries, want)
		}
	})
}
