package journal_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
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
	return journal.Move{Transfer: &row, To: journal.Sales, Currency: "NGN", Value: 500, Due: 500, At: noon, Zone: "UTC"}
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
	closed := models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-02", Hash: "h", Actor: "user:1",
		CreatedAt: noon}
	otherDomain, otherBusiness := closed, closed
	otherDomain.Domain, otherDomain.Month = "live", "2027-01"
	otherBusiness.BusinessID, otherBusiness.Month = 2, "2027-01"
	create(&closed)
	create(&otherDomain)
	create(&otherBusiness)
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
	postEntries(t, db, models.BalanceTxID(7, "a"), noon, journal.Sales)
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
			return books.ExportEntries(ctx, sc, journal.Filter{Period: p}, func([]journal.Entry) error { return nil })
		},
		"WriteHledger": func(sc scope.Scope, p journal.Period) error {
			return books.WriteHledger(ctx, sc, journal.Filter{Period: p}, io.Discard)
		},
		"ListBankLines": func(sc scope.Scope, p journal.Period) error {
			_, err := books.ListBankLines(ctx, sc, p, "NGN", 1)
			return err
		},
		"SumList": func(sc scope.Scope, p journal.Period) error {
			_, err := books.SumList(ctx, sc, journal.Filter{Period: p})
			return err
		},
		"CountEntries": func(sc scope.Scope, p journal.Period) error {
			_, err := books.CountEntries(ctx, sc, journal.Filter{Period: p})
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
		if err := db.Exec(ctx).Exec("UPDATE businesses SET created_at = ?", noon.AddDate(0, 1, 0)).Error; err != nil {
			t.Fatal(err) // CloseMonth looks for entries before the business
		}
		calls := bookCalls(t, books)
		failing := map[string]func() error{
			"ListCoins":    func() error { _, err := books.ListCoins(ctx, finance); return err },
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
			"SumEntries":  func() error { _, err := books.SumEntries(ctx); return err },
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
		t.Run("VerifyBooks", func(t *testing.T) {
			modelstest.FailStatements(t, db, func() error { _, err := books.VerifyBooks(ctx, finance); return err })
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
		want := []string{"received PAY_1 came", "refunded PAY_1 sent", "received  "}
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
		if err := books.WriteHledger(t.Context(), finance, journal.Filter{Period: all}, &file); err != nil {
			t.Fatal(err)
		}
		const at = "  ; at: 2026-03-31T12:00:00Z"
		for _, want := range []string{"received | PAY_1" + at + ", hash: came\n", "refunded | PAY_1" + at + ", hash: sent\n",
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
		{journal.BankLine{Entry: journal.Entry{JournalEntry: models.JournalEntry{BookedOn: "odd", Kind: journal.Lost,
			Coin: "BTC"}}}, []string{"odd", "0.00", "", "Left the chain 0.00000000 BTC", ""},
			[]string{"odd", "Left the chain BTC", "0.00"}},
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
				row := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: day, HappenedOn: day, Kind: journal.Received,
					Debit: "wallet", Credit: "unmatched", Coin: of[0], Network: of[1], Currency: of[2], Amount: money.Units(1),
					Value: int64(i + 1), CreatedAt: noon}
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

// TestMovedMoneyKeepsItsValue checks that money that leaves or returns has the value with which it is in the
// books, and that only a change of place changes the value.
func TestMovedMoneyKeepsItsValue(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		row, value := received(t, db, "aa"), int64(500)
		row.PaymentID = new(int64(1))
		for i, to := range []journal.Account{journal.Sales, journal.Sales, journal.Reversed, journal.Sales,
			journal.Nowhere} {
			m := saleOf(row)
			if m.To, m.Value = to, value; i == 0 || to != journal.Sales {
				m.Due = 0 // the amount due is counted with another transfer
			}
			if err := db.Write(t.Context(), func(tx *models.Tx) error {
				return journal.MoveTransfers(tx, noon, []journal.Move{m})
			}); err != nil {
				t.Fatal(err)
			}
			value += 100
		}
		const on = "2026-03-31 "
		want := []string{on + "wallet→sales 1000 NGN 500", on + "reversed→wallet 1000 NGN 500",
			on + "wallet→reversed 1000 NGN 500", on + "sales→wallet 1000 NGN 500"}
		if got := entries(t, db); !slices.Equal(got, want) {
			t.Errorf("posted is %q, want %q", got, want)
		}
		if line := statementOf(t, books, "2026-03").Currencies[0]; line.Due != 0 {
			t.Errorf("money that returned has %d due, want 0", line.Due)
		}
	})
}

// TestEntriesAreOfTheirPeriodAndAccount checks the days and accounts of lists, and where their pages end.
func TestEntriesAreOfTheirPeriodAndAccount(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books, _ := fillBooks(t, db)
		before := journal.Period{From: "2026-01-01", To: "2026-03-30"}
		after := journal.Period{From: "2026-04-01", To: "2026-12-31"}
		for name, c := range map[string]struct {
			filter journal.Filter
			want   int
		}{
			"all":       {journal.Filter{Period: all, Limit: 3}, 3},
			"before":    {journal.Filter{Period: before, Limit: 3}, 0},
			"after":     {journal.Filter{Period: after, Limit: 3}, 0},
			"a debit":   {journal.Filter{Period: all, Limit: 3, Account: journal.Refunds}, 1},
			"a credit":  {journal.Filter{Period: all, Limit: 3, Account: journal.Sales}, 2},
			"both ways": {journal.Filter{Period: all, Limit: 3, Account: journal.Wallet}, 3},
		} {
			list, next, err := books.ListEntries(t.Context(), finance, c.filter)
			if len(list) != c.want || next != 0 || err != nil {
				t.Errorf("%s: %d entries are listed and the next page begins after %d (%v), want %d and no page", name,
					len(list), next, err, c.want)
			}
		}
		for _, p := range []journal.Period{before, after} {
			if lines, err := books.ListBankLines(t.Context(), finance, p, "NGN", 1); len(lines) != 0 || err != nil {
				t.Errorf("from %s to %s are %d bank lines (%v), want none", p.From, p.To, len(lines), err)
			}
		}
		line := statementOf(t, books, "2026-03").Currencies[0]
		if line.Movements != 3 || line.Refunded != 200 || line.Sold != 1000 || line.Due != 500 {
			t.Errorf("the statement has %+v, want 3 movements, 200 refunded, 1000 sold and 500 due", line)
		}
		refused := errors.New("refused")
		err := books.ExportEntries(t.Context(), finance, journal.Filter{Period: all}, func([]journal.Entry) error { return refused })
		if !errors.Is(err, refused) {
			t.Errorf("an export that is refused returns %v, want %v", err, refused)
		}
	})
}

// TestExportsGoOnAfterABatch checks that an export has all entries, and that one without a rate has no cost.
func TestExportsGoOnAfterABatch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		rows := make([]models.JournalEntry, 1001)
		for i := range rows {
			rows[i] = models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
				Kind: journal.Received, Debit: "wallet", Credit: "unmatched", Coin: "BTC", Network: "n", Amount: money.Units(1),
				CreatedAt: noon}
		}
		if err := db.Exec(t.Context()).CreateInBatches(rows, 50).Error; err != nil {
			t.Fatal(err)
		}
		exported := 0
		err := books.ExportEntries(t.Context(), finance, journal.Filter{Period: all}, func(list []journal.Entry) error {
			exported += len(list)
			return nil
		})
		if exported != len(rows) || err != nil {
			t.Errorf("%d entries are exported (%v), want %d", exported, err, len(rows))
		}
		var file strings.Builder
		err = books.WriteHledger(t.Context(), finance, journal.Filter{Period: all}, &file)
		if err != nil || strings.Contains(file.String(), "@@") {
			t.Errorf("entries without a rate have a cost (%v):\n%.500s", err, file.String())
		}
	})
}

// TestMonthsOfTheBooks checks the months before and after a closing, whose last day counts in the zone of its
// business, and that a closed month that can't be read stops posting.
func TestMonthsOfTheBooks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon.AddDate(0, -2, 0))
		books.Clock = clock.NewFake(noon).Now
		other := models.Business{ID: 2, Code: "BUS_2", Name: "Shop", TimeZone: "Pacific/Auckland",
			CreatedAt: noon.AddDate(0, -2, 0), UpdatedAt: noon}
		if err := db.Exec(t.Context()).Create(&other).Error; err != nil {
			t.Fatal(err)
		}
		postEntries(t, db, "march", noon, journal.Pending)
		if months, err := books.ListMonths(t.Context(), finance); len(months) != 1 || months[0].Closed || err != nil {
			t.Errorf("the months are %+v (%v), want March, open", months, err)
		}
		theirs := finance
		theirs.BusinessID = 2
		if _, err := books.CloseMonth(t.Context(), theirs, "2026-03"); err != nil {
			t.Errorf("closing March at noon of its last day returns %v in Auckland, want no error", err)
		}
		if _, err := books.CloseMonth(t.Context(), finance, "2026-02"); err != nil {
			t.Fatal(err)
		}
		for period, want := range map[string]bool{"2026-02": true, "2026-02-01..2026-03-01": false, "2026-03": false} {
			if s := statementOf(t, books, period); s.Closed != want {
				t.Errorf("%s is closed: %v, want %v", period, s.Closed, want)
			}
		}
		odd := models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-99", Hash: "h", Actor: "user:1",
			CreatedAt: noon}
		if err := db.Exec(t.Context()).Create(&odd).Error; err != nil {
			t.Fatal(err)
		}
		if err := move(t, db, received(t, db, "odd"), journal.Pending, noon, "UTC"); err == nil {
			t.Error("posting after a closed month that can't be read returns no error, want one")
		}
	})
}

// TestLateFactsOfSomeDays checks that late facts are of their own days, and booked after the period.
func TestLateFactsOfSomeDays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		books.Clock = clock.NewFake(noon.AddDate(0, 0, 3)).Now
		if _, err := books.CloseMonth(t.Context(), finance, "2026-03"); err != nil {
			t.Fatal(err)
		}
		first := noon.AddDate(0, 0, -2)
		postEntries(t, db, "late", first, journal.Pending, journal.Sales, journal.Reversed)
		for p, want := range map[journal.Period]int{{From: "2026-03-30", To: "2026-03-31"}: 2,
			{From: "2026-03-31", To: "2026-03-31"}: 1, {From: "2026-03-01", To: "2026-04-01"}: 0} {
			if list, err := books.ListLate(t.Context(), finance, p, 10); len(list) != want || err != nil {
				t.Errorf("from %s to %s are %d late facts (%v), want %d", p.From, p.To, len(list), err, want)
			}
		}
	})
}

// TestSalesAreByCurrencyAndCoin checks that the sales of a day have a row for each currency and coin, and none
// for money without a rate.
func TestSalesAreByCurrencyAndCoin(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		for i, of := range [][2]string{{"NGN", "BTC"}, {"NGN", "XRP"}, {"KES", "BTC"}, {"USD", "BTC"},
			{"", "BTC"}} {
			row := models.JournalDaySum{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", Kind: journal.Received,
				Debit: "wallet", Credit: "sales", Coin: of[1], Network: "n", Currency: of[0], Entries: 1,
				Amount: money.Units(1), Value: int64(i + 1)}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		list, err := books.ListSales(t.Context(), finance, all)
		var got []string
		for _, d := range list {
			got = append(got, d.Currency+" "+d.Coin+" "+money.FormatHundredths(d.Received))
		}
		want := []string{"KES BTC 0.03", "NGN BTC 0.01", "NGN XRP 0.02", "USD BTC 0.04"}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("the sales are %q (%v), want %q", got, err, want)
		}
	})
}

// TestWrongDaysAreNamedOnce checks that a day that can't be read has one sentence, on its own field.
func TestWrongDaysAreNamedOnce(t *testing.T) {
	t.Parallel()
	for p, want := range map[journal.Period]string{{From: "x", To: "2026-03-31"}: "from",
		{From: "2026-03-31", To: "0"}: "to", {From: "2026-03-31", To: "2026-03-30"}: "to"} {
		if fields := p.FindErrors(); len(fields) != 1 || len(fields[want]) != 1 {
			t.Errorf("from %s to %s has the errors %v, want one on %s", p.From, p.To, fields, want)
		}
	}
}
