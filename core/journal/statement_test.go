package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// finance is the scope of a member who may see and close the books of business 1.
var finance = scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "user:1", Role: scope.Finance}

// reader returns the books of a database at noon of a day, with a business in a zone.
func reader(t *testing.T, db *models.DB, day time.Time) *journal.Service {
	t.Helper()
	business := models.Business{ID: 1, Code: "BUS_1", Name: "Shop", TimeZone: "Africa/Lagos", CreatedAt: day,
		UpdatedAt: day}
	if err := db.Exec(t.Context()).Create(&business).Error; err != nil {
		t.Fatal(err)
	}
	return &journal.Service{DB: db, Clock: clock.NewFake(day).Now}
}

// postEntries moves a new transfer along a way, a step a day from a day on.
func postEntries(t *testing.T, db *models.DB, name string, day time.Time, way ...journal.Account) {
	t.Helper()
	row := received(t, db, name)
	for i, to := range way {
		if err := move(t, db, row, to, day.AddDate(0, 0, i), "UTC"); err != nil {
			t.Fatal(err)
		}
	}
}

func statementOf(t *testing.T, books *journal.Service, period string) journal.Statement {
	t.Helper()
	p, err := journal.ParsePeriod(period)
	if err != nil {
		t.Fatal(err)
	}
	s, err := books.ReadStatement(t.Context(), finance, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStatement: the figures of a period, of the days before it, and of other books.
func TestStatement(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		march := time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)
		postEntries(t, db, "sold", march, journal.Pending, journal.Sales)                                     // 30, 31 March
		postEntries(t, db, "left", march, journal.Pending, journal.Sales, journal.Reversed)                   // until 1 April
		postEntries(t, db, "back", march, journal.Sales, journal.Reversed, journal.Sales, journal.Reversed)   // until 2 April
		postEntries(t, db, "held", march.AddDate(0, 0, 2), journal.Pending, journal.Declined)                 // 1, 2 April
		postEntries(t, db, "lost", march.AddDate(0, 0, 2), journal.Pending, journal.Nowhere, journal.Pending) // 1 to 3 April
		postEntries(t, db, "returned", march.AddDate(0, 0, 2), journal.Unmatched)
		refund := int64(1)
		if err := db.Write(t.Context(), func(tx *models.Tx) error {
			var row models.Transfer
			if err := tx.Where("tx_id = 'returned'").Take(&row).Error; err != nil {
				return err
			}
			return journal.MoveTransfers(tx, noon, []journal.Move{{Transfer: &row, To: journal.Returned, At: march.AddDate(0, 0, 3),
				Zone: "UTC", ResolutionID: &refund}})
		}); err != nil {
			t.Fatal(err)
		}
		for period, want := range map[string]string{
			"2026-03":                "NGN sold 1500 reversed 500 declined 0; opening 0 received 3000 lost 1000 refunded 0 closing 2000 sales 2000 pending 0 declined 0 unmatched 0",
			"2026-04":                "NGN sold 0 reversed 500 declined 500; opening 2000 received 4000 lost 2000 refunded 1000 closing 3000 sales -1000 pending 1000 declined 1000 unmatched 0",
			"2026-04-01..2026-04-01": "NGN sold 0 reversed 0 declined 0; opening 2000 received 3000 lost 0 refunded 0 closing 5000 sales 0 pending 2000 declined 0 unmatched 1000",
			"2026-02":                "",
		} {
			s := statementOf(t, books, period)
			got := ""
			for _, l := range s.Currencies {
				got += fmt.Sprintf("%s sold %d reversed %d declined %d; ", l.Currency, l.Sold, l.Reversed, l.Declined)
			}
			for _, l := range s.Coins {
				got += fmt.Sprintf("opening %s received %s lost %s refunded %s closing %s sales %s pending %s declined %s unmatched %s",
					l.Opening, l.Received, l.Lost, l.Refunded, l.Closing, l.Sales, l.Pending, l.Declined, l.Unmatched)
			}
			if got != want {
				t.Errorf("statement of %s:\n%s\nwant\n%s", period, got, want)
			}
		}
		for _, sc := range []scope.Scope{{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner},
			{BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}} {
			s, err := books.ReadStatement(t.Context(), sc, journal.Period{From: "2026-03-01", To: "2026-04-30"})
			list, _, more := books.ListEntries(t.Context(), sc, journal.Filter{Period: s.Period, Limit: 100})
			if err != nil || more != nil || len(s.Coins) > 0 || len(list) > 0 {
				t.Errorf("%+v sees the books of business 1 in test: %+v %+v %v %v", sc, s, list, err, more)
			}
		}
	})
}

// TestPeriods: an invalid period is refused, with a sentence for its field.
func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "2026", "2026-13", "2026-3", "2026-03-01", "2026-03-02..2026-03-01", "2026-03-01..",
		"2026-02-30..2026-03-01", "..", "2026-03..2026-04"} {
		if p, err := journal.ParsePeriod(text); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q is the period %+v (%v)", text, p, err)
		}
	}
	if p, err := journal.ParsePeriod("2024-02"); err != nil || p.To != "2024-02-29" {
		t.Errorf("February 2024 is %+v (%v)", p, err)
	}
}

// hashOf returns the hash of all entries.
func hashOf(t *testing.T, db *models.DB) string {
	t.Helper()
	var rows []models.JournalEntry
	if err := db.Read(t.Context()).Order("id").Find(&rows).Error; err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, e := range rows {
		var of models.Transfer
		if err := db.Read(t.Context()).Where("id = ?", *e.TransferID).Take(&of).Error; err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(sum, e.ID, e.BookedOn, e.HappenedOn, e.Kind, e.Debit, e.Credit, e.Coin, e.Network, e.Amount, e.Currency,
			e.Value, e.Due, "", of.TxID)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// TestClosedMonth: a month is closed once, after its last day in the business's zone; later facts
// are booked on the first open day, and say on which day they happened.
func TestClosedMonth(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		lastHour := time.Date(2026, 3, 31, 22, 59, 0, 0, time.UTC) // 23:59 in Lagos
		books := reader(t, db, lastHour)
		postEntries(t, db, "sold", noon.AddDate(0, 0, -3), journal.Pending, journal.Sales)
		postEntries(t, db, "earlier", noon.AddDate(0, -2, 0), journal.Pending) // its month is closed with March
		if _, err := books.CloseMonth(t.Context(), finance, "2026-03"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("March was closed on its last day: %v", err)
		}
		books.Clock = clock.NewFake(lastHour.Add(time.Minute)).Now
		developer := finance
		developer.Role = scope.Developer
		if _, err := books.CloseMonth(t.Context(), developer, "2026-03"); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a developer closed March: %v", err)
		}
		first, err := books.CloseMonth(t.Context(), finance, "2026-03")
		if err != nil || len(first.Hash) != 64 {
			t.Fatalf("%+v %v", first, err)
		}
		for _, month := range []string{"2026-03", "2026-02"} {
			if _, err := books.CloseMonth(t.Context(), finance, month); fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s was closed again: %v", month, err)
			}
		}
		var acts []models.Audit
		if err := db.Read(t.Context()).Where("action = 'books.closed'").Find(&acts).Error; err != nil || len(acts) != 1 ||
			!strings.Contains(acts[0].Detail, first.Hash) {
			t.Errorf("the audit log has %+v (%v)", acts, err)
		}
		if want := hashOf(t, db); first.Hash != want {
			t.Errorf("the hash is %s, and that of all entries %s", first.Hash, want)
		}
		before := statementOf(t, books, "2026-03")
		postEntries(t, db, "late", noon.AddDate(0, 0, -1), journal.Pending)
		late, _, err := books.ListEntries(t.Context(), finance, journal.Filter{Period: journal.Period{From: "2026-04-01",
			To: "2026-04-01"}, Limit: 10})
		if err != nil || len(late) != 1 || late[0].HappenedOn != "2026-03-30" || late[0].Hash != "late" {
			t.Errorf("a late fact of March: %+v (%v)", late, err)
		}
		var file bytes.Buffer
		err = books.WriteHledger(t.Context(), finance, journal.Filter{Period: journal.Period{From: "2026-04-01",
			To: "2026-04-01"}}, &file)
		if want := "; at: 2026-03-31T12:00:00Z, happened_on: 2026-03-30, hash: late\n"; err != nil ||
			!strings.Contains(file.String(), want) {
			t.Errorf("hledger's file lacks %q (%v):\n%s", want, err, file.String())
		}
		if after := statementOf(t, books, "2026-03"); !before.Closed || fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the closed month changed from %+v to %+v", before, after)
		}
		intruder := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
			Kind: journal.Received, Debit: "wallet", Credit: "sales", Coin: "BTC", Network: "n", Amount: money.Units(1),
			CreatedAt: noon}
		if err := db.Exec(t.Context()).Create(&intruder).Error; err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("an entry was written into a closed month: %v", err)
		}
		// As the first release with books wrote entries, which knew no sends.
		if err := db.Exec(t.Context()).Exec(`INSERT INTO journal_entries (business_id, domain, booked_on, happened_on,
			kind, debit, credit, coin, network, amount, currency, value, due, created_at) VALUES (1, 'test',
			'2026-02-28', '2026-02-28', 'received', 'wallet', 'pending', 'BTC', 'n', '1', '', 0, 0, ?)`, noon).Error; err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("the SQL of an earlier release wrote into a month before a closed one: %v", err)
		}
		intruder.ID, intruder.Domain = 0, "live"
		if err := db.Exec(t.Context()).Create(&intruder).Error; err != nil {
			t.Errorf("the other domain's month is closed, too: %v", err)
		}
		both := []models.JournalEntry{intruder, intruder}
		both[0].ID, both[1].ID, both[1].Domain = 0, 0, "test"
		known := len(entries(t, db))
		if err := db.Exec(t.Context()).Create(&both).Error; err == nil || !strings.Contains(err.Error(), "closed") ||
			len(entries(t, db)) != known {
			t.Errorf("one of two entries was written into a closed month: %v", err)
		}
		months, err := books.ListMonths(t.Context(), finance)
		if err != nil || len(months) != 3 || months[0].Closed || !months[1].Closed || months[1].ClosedAt == nil ||
			!months[2].Closed || months[2].ClosedAt != nil {
			t.Errorf("months: %+v (%v)", months, err)
		}
	})
}

// TestMonthBeforeTheBusiness checks that a month before the business existed is refused, unless something is
// booked until its end: by the day of the business's zone.
func TestMonthBeforeTheBusiness(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC)) // the first of April in Lagos
		books.Clock = clock.NewFake(noon.AddDate(0, 2, 0)).Now
		check := func(month string, want fault.Kind) {
			t.Helper()
			if _, err := books.CloseMonth(t.Context(), finance, month); fault.KindOf(err) != want {
				t.Errorf("closing %s: %v, want %v", month, err, want)
			}
		}
		for _, month := range []string{"0001-01", "2026-01", "2026-03"} {
			check(month, fault.Invalid)
		}
		postEntries(t, db, "sample", time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC), journal.Pending)
		check("2026-01", fault.Invalid)
		for _, month := range []string{"2026-02", "2026-03", "2026-04"} {
			check(month, 0)
		}
	})
}

// TestPagesOfEntries: pages are whole and in order, by account, and an export has the same rows.
func TestPagesOfEntries(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		for i := range 5 {
			postEntries(t, db, fmt.Sprint("t", i), noon, journal.Pending, journal.Sales)
		}
		all := journal.Period{From: "2026-03-01", To: "2026-04-30"}
		var paged, exported []int64
		for f := (journal.Filter{Period: all, Limit: 3}); ; {
			list, next, err := books.ListEntries(t.Context(), finance, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				paged = append(paged, e.ID)
			}
			if f.After = next; next == 0 {
				break
			}
		}
		if err := books.ExportEntries(t.Context(), finance, journal.Filter{Period: all}, func(list []journal.Entry) error {
			for _, e := range list {
				exported = append(exported, e.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(paged) != 10 || !slices.IsSorted(paged) || !slices.Equal(paged, exported) {
			t.Errorf("pages %v, export %v", paged, exported)
		}
		sold, _, err := books.ListEntries(t.Context(), finance, journal.Filter{Period: all, Account: journal.Sales, Limit: 100})
		if err != nil || len(sold) != 5 {
			t.Errorf("%d entries of sales (%v)", len(sold), err)
		}
	})
}

// TestHledgerFile: the file declares what it uses and has a transaction for each entry.
func TestHledgerFile(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		postEntries(t, db, "aa", noon, journal.Pending)
		var file bytes.Buffer
		if err := books.WriteHledger(t.Context(), finance, journal.Filter{Period: journal.Period{From: "2026-03-01",
			To: "2026-03-31"}}, &file); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"commodity 1.00000000 BTC\n", "commodity 1.00 NGN\n",
			"account assets:wallet:sandbox-bitcoin\n", "2026-03-31 * received | no payment  ; at: 2026-03-31T12:00:00Z, hash: aa\n" +
				"    assets:wallet:sandbox-bitcoin  0.00001000 BTC @@ 5.00 NGN\n" +
				"    liabilities:pending:sandbox-bitcoin  -0.00001000 BTC @@ 5.00 NGN\n"} {
			if !strings.Contains(file.String(), want) {
				t.Errorf("the file lacks %q:\n%s", want, file.String())
			}
		}
	})
}

// TestOpeningOfLargeAmounts checks that amounts beyond 64 bits add up exactly before a period, in each way in
// which a sum may have them: entries that aren't summed yet, days and months.
func TestOpeningOfLargeAmounts(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		large, err := money.ParseUnits("123456789012345678901234567890123456789012345678901234567890")
		if err != nil {
			t.Fatal(err)
		}
		want := money.Amount{}
		for i, day := range []string{"2026-01-31", "2026-01-30", "2026-02-01", "2026-02-02", "2026-02-02", "2026-01-31"} {
			row := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: day, HappenedOn: day, Kind: journal.Received,
				Debit: "wallet", Credit: "pending", Coin: "ETH", Network: "n", Amount: large, CreatedAt: noon}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
			want = want.Add(large)
			if i%2 == 1 {
				sumEntries(t, books, 2)
			}
			s := statementOf(t, books, "2026-02-03..2026-02-28")
			if len(s.Coins) != 1 || s.Coins[0].Opening.Cmp(want) != 0 || s.Coins[0].Closing.Cmp(want) != 0 {
				t.Errorf("after %d entries the statement has %+v, want %s before and after", i+1, s.Coins, want)
			}
		}
		s := statementOf(t, books, "2026-02")
		if s.Entries != 3 || s.Coins[0].Opening.Cmp(large.MulDiv(3, 1)) != 0 || s.Coins[0].Closing.Cmp(want) != 0 {
			t.Errorf("the statement has %d entries and %+v, want 3, three times %s before and %s after", s.Entries, s.Coins, large,
				want)
		}
	})
}
