package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// received returns a transfer of 1,000 units of BTC that no account holds yet.
func received(t *testing.T, db *models.DB, hash string) models.Transfer {
	t.Helper()
	height := int64(7)
	row := models.Transfer{Network: "sandbox-bitcoin", TxID: hash, Asset: "BTC", Address: "a", Height: &height,
		Amount: money.Units(1000), BusinessID: 1, Domain: "test", FirstSeenAt: noon, CreatedAt: noon, UpdatedAt: noon}
	if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
		t.Fatal(err)
	}
	return row
}

// move books a transfer at a time, worth 5.00 NGN.
func move(t *testing.T, db *models.DB, row models.Transfer, to journal.Account, at time.Time, zone string) error {
	t.Helper()
	return db.Write(t.Context(), func(tx *models.Tx) error {
		return journal.MoveTransfers(tx, noon, []journal.Move{{Transfer: &row, To: to, Currency: "NGN", Value: 500,
			At: at, Zone: zone}})
	})
}

// entries returns what is posted, in short.
func entries(t *testing.T, db *models.DB) (list []string) {
	t.Helper()
	var rows []models.JournalEntry
	if err := db.Read(t.Context()).Order("id").Find(&rows).Error; err != nil {
		t.Fatal(err)
	}
	for _, e := range rows {
		list = append(list, fmt.Sprintf("%s %s→%s %s %s %d", e.BookedOn, e.Debit, e.Credit, e.Amount, e.Currency, e.Value))
	}
	return list
}

// TestWaysOfATransfer: each change of a transfer's place is one entry between two accounts,
// and money that left and returns has the value that it had.
func TestWaysOfATransfer(t *testing.T) {
	cases := []struct {
		way  []journal.Account
		want []string
	}{
		{[]journal.Account{journal.Pending, journal.Pending}, []string{"wallet→pending"}},
		{[]journal.Account{journal.Pending, journal.Nowhere, journal.Pending},
			[]string{"wallet→pending", "pending→wallet", "wallet→pending"}},
		{[]journal.Account{journal.Pending, journal.Sales, journal.Reversed, journal.Sales},
			[]string{"wallet→pending", "pending→sales", "reversed→wallet", "wallet→reversed"}},
		{[]journal.Account{journal.Pending, journal.Declined, journal.Sales},
			[]string{"wallet→pending", "pending→declined", "declined→sales"}},
		{[]journal.Account{journal.Pending, journal.Unmatched, journal.Returned},
			[]string{"wallet→pending", "pending→unmatched", "unmatched→wallet"}},
		{[]journal.Account{journal.Sales, journal.Reversed, journal.Unmatched},
			[]string{"wallet→sales", "reversed→wallet", "wallet→unmatched"}},
		{[]journal.Account{journal.Nowhere, journal.None, journal.Returned}, nil},
		{[]journal.Account{journal.Sales, journal.Nowhere}, []string{"wallet→sales", "sales→wallet"}},
		{[]journal.Account{journal.Pending, journal.Reversed}, []string{"wallet→pending", "pending→wallet"}},
	}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for i, c := range cases {
			before := len(entries(t, db))
			row := received(t, db, fmt.Sprint("way", i))
			for _, to := range c.way {
				if err := move(t, db, row, to, noon, "UTC"); err != nil {
					t.Fatal(err)
				}
			}
			var want []string
			for _, pair := range c.want {
				want = append(want, "2026-03-31 "+pair+" 1000 NGN 500")
			}
			if got := entries(t, db)[before:]; !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", c.way, got, want)
			}
			var stored models.Transfer
			if err := db.Read(t.Context()).Where("id = ?", row.ID).Take(&stored).Error; err != nil ||
				stored.Booked != string(c.way[len(c.way)-1]) {
				t.Errorf("%q: it is in %q (%v)", c.way, stored.Booked, err)
			}
		}
	})
}

// TestUnbalancedIsRefused: no statement can write an entry that doesn't move an amount from one
// account to another, and none can change or delete an entry or open a closed month.
func TestUnbalancedIsRefused(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		refund := int64(7)
		good := models.JournalEntry{BusinessID: 1, Domain: "test", BookedOn: "2026-03-31", HappenedOn: "2026-03-31",
			Debit: "wallet", Credit: "sales", Coin: "BTC", Network: "n", Amount: money.Units(1), Currency: "NGN",
			ResolutionID: &refund, CreatedAt: noon}
		for name, breakIt := range map[string]func(e *models.JournalEntry){
			"the same account":   func(e *models.JournalEntry) { e.Credit = "wallet" },
			"no debit":           func(e *models.JournalEntry) { e.Debit = "" },
			"no credit":          func(e *models.JournalEntry) { e.Credit = "" },
			"an unknown account": func(e *models.JournalEntry) { e.Credit = "cash" },
			"nothing":            func(e *models.JournalEntry) { e.Amount = money.Amount{} },
			"less than nothing":  func(e *models.JournalEntry) { e.Amount = money.Units(-1) },
			"a negative value":   func(e *models.JournalEntry) { e.Value = -1 },
		} {
			bad := good
			breakIt(&bad)
			if err := db.Exec(t.Context()).Create(&bad).Error; err == nil {
				t.Errorf("%s was posted: %+v", name, bad)
			}
		}
		if err := db.Exec(t.Context()).Create(&good).Error; err != nil {
			t.Fatal(err)
		}
		month := models.ClosedMonth{BusinessID: 1, Domain: "test", Month: "2026-02", Hash: "h", Actor: "user:1", CreatedAt: noon}
		if err := db.Exec(t.Context()).Create(&month).Error; err != nil {
			t.Fatal(err)
		}
		statements := []string{"UPDATE journal_entries SET amount = '2'", "DELETE FROM journal_entries",
			"UPDATE closed_months SET month = '2026-01'", "DELETE FROM closed_months"}
		if db.Postgres() {
			statements = append(statements, "TRUNCATE journal_entries", "TRUNCATE closed_months")
		} else {
			statements = append(statements, "INSERT OR REPLACE INTO journal_entries SELECT * FROM journal_entries",
				"UPDATE OR REPLACE journal_entries SET id = id", "INSERT OR REPLACE INTO closed_months SELECT * FROM closed_months",
				`INSERT OR REPLACE INTO journal_entries (business_id, domain, booked_on, happened_on, kind, debit, credit,
					coin, network, amount, currency, value, due, resolution_id, created_at) SELECT business_id, domain,
					'2026-12-15', happened_on, kind, debit, credit, coin, network, amount, currency, value, due,
					resolution_id, created_at FROM journal_entries WHERE resolution_id = 7`)
		}
		for _, statement := range statements {
			if err := db.Exec(t.Context()).Exec(statement).Error; err == nil ||
				!strings.Contains(err.Error(), "never changed or deleted") && !strings.Contains(err.Error(), "stays closed") {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

// TestDayOfAnEntry: an entry has the day of its fact in the business's zone, across midnight, half
// hours and changes of the clock.
func TestDayOfAnEntry(t *testing.T) {
	at := func(text string) time.Time { parsed, _ := time.Parse(time.RFC3339, text); return parsed }
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for i, c := range []struct{ at, zone, day string }{
			{"2026-03-31T22:59:59Z", "Africa/Lagos", "2026-03-31"},
			{"2026-03-31T23:00:00Z", "Africa/Lagos", "2026-04-01"},
			{"2026-03-31T18:29:59Z", "Asia/Kolkata", "2026-03-31"},
			{"2026-03-31T18:30:00Z", "Asia/Kolkata", "2026-04-01"},
			{"2026-04-04T10:59:59Z", "Pacific/Auckland", "2026-04-04"}, // UTC+13 until 14:00 UTC
			{"2026-04-04T11:00:00Z", "Pacific/Auckland", "2026-04-05"},
			{"2026-04-05T11:59:59Z", "Pacific/Auckland", "2026-04-05"}, // UTC+12
			{"2026-04-05T12:00:00Z", "Pacific/Auckland", "2026-04-06"},
			{"2026-04-05T12:00:00Z", "nowhere", "2026-04-05"},
		} {
			if err := move(t, db, received(t, db, fmt.Sprint("day", i)), journal.Pending, at(c.at), c.zone); err != nil {
				t.Fatal(err)
			}
			if got := entries(t, db); !strings.HasPrefix(got[len(got)-1], c.day+" ") {
				t.Errorf("%s in %s is booked %s, want %s", c.at, c.zone, got[len(got)-1], c.day)
			}
		}
	})
}
