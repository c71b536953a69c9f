package monthly_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/journal/monthly"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// listMails returns the mails as recipients, domains and subjects, in order.
func listMails(t *testing.T, db *models.DB) string {
	t.Helper()
	var rows []models.Mail
	if err := db.Read(t.Context()).Order("id").Find(&rows).Error; err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.To+" "+r.Domain+" "+r.Subject)
	}
	return strings.Join(all, "; ")
}

// TestStatementIsMailedOnce checks that each address gets the statement of a month once, after
// the month has ended in the business's time zone, for each domain with entries.
func TestStatementIsMailedOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 31, 22, 59, 0, 0, time.UTC)) // 23:59 in Lagos
		woken := 0
		s := &monthly.Sender{DB: db, Clock: now.Now, Books: &journal.Service{DB: db, Clock: now.Now}, Mails: &mail.Service{DB: db, Clock: now.Now},
			Wake: func() { woken++ }, Base: "https://pay.example", Render: func(l monthly.Letter) (subject, text, html string) {
				return l.Business + " " + l.Month + " " + l.Statement.From + " " + l.URL, "", ""
			}}
		business := models.Business{ID: 1, Code: "BUS_1", Name: "Shop", TimeZone: "Africa/Lagos", CreatedAt: now.Now(), UpdatedAt: now.Now(),
			StatementMails: "books@shop.example,tax@shop.example", StatementMailed: "2026-02"}
		other := models.Business{ID: 2, Code: "BUS_2", Name: "Other", TimeZone: "Africa/Lagos", CreatedAt: now.Now(), UpdatedAt: now.Now()}
		for _, b := range []models.Business{business, other} {
			if err := db.Exec(t.Context()).Create(&b).Error; err != nil {
				t.Fatal(err)
			}
		}
		post := func(business int64, domain string, day time.Time) {
			t.Helper()
			row := models.Transfer{Network: "n", TxID: domain + day.String(), Index: int(business), Asset: "BTC", Amount: money.Units(5), BusinessID: business, Domain: domain, FirstSeenAt: day}
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				if err := tx.Create(&row).Error; err != nil {
					return err
				}
				return journal.MoveTransfers(tx, day, []journal.Move{{Transfer: &row, To: journal.Unmatched, At: day, Zone: "Africa/Lagos"}})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		post(1, "live", now.Now().AddDate(0, 0, -3))
		post(2, "live", now.Now().AddDate(0, 0, -3))
		expect := func(when, want string, times int) {
			t.Helper()
			if err := s.SendDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := listMails(t, db); got != want || woken != times {
				t.Errorf("%s the mails are %q, and the worker was woken %d times; want %q and %d", when, got, woken, want, times)
			}
		}
		expect("on the last day of the month", "", 0)
		now.Advance(time.Minute)
		const about = "Shop 2026-03 2026-03-01 https://pay.example/dashboard/statements?month=2026-03"
		march := "books@shop.example live " + about + "; tax@shop.example live " + about
		expect("after the month", march, 1)
		expect("an hour later", march, 1)
		now.Advance(31 * 24 * time.Hour) // April had no entries
		expect("after a month without entries", march, 1)
		post(1, "test", now.Now())
		now.Advance(70 * 24 * time.Hour) // the server was off through June
		const may = "Shop 2026-05 2026-05-01 https://pay.example/dashboard/statements?month=2026-05"
		expect("with entries in test alone", march+"; books@shop.example test "+may+"; tax@shop.example test "+may, 2)
	})
}
