package payment_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/payment"
	"cointill/models"
	"cointill/models/modelstest"
)

// maxJournalShare is the most of a payment's cost that the journal may add.
const maxJournalShare = 0.05

// BenchmarkJournal measures payments that are initiated, opened, paid in a block and final, and
// then the journal's part alone: the two entries of each payment, in one transaction for each, as
// when they are posted with its state. It prints that part as a ratio to maxJournalShare of the
// payments' time. Without the commit, which a payment makes anyway.
func BenchmarkJournal(b *testing.B) {
	const payments = 200
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			if postgres && os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
				b.Fatal("COINTILL_TEST_DATABASE_URL is not set: run it with scripts/with-postgres")
			}
			for b.Loop() {
				x := newBench(b, modelstest.Open(b, postgres, clock.Real()))
				began := time.Now()
				for i := range payments {
					v := x.opened()
					x.mine(x.pay(v, fmt.Sprint("tx", i), v.Payment.Due))
					x.mine()
				}
				whole := time.Since(began)
				x.expect(lastReference(b, x), payment.Successful, "")
				x.forgetBooks()
				if postgres {
					must(b, x.db.Exec(b.Context()).Exec("ALTER TABLE journal_entries ENABLE TRIGGER journal_entries_guard").Error)
				}
				b.ReportMetric(float64(postAlone(b, x))/float64(whole)/maxJournalShare, "of-limit")
			}
		})
	}
}

// lastReference returns the reference of the last payment.
func lastReference(b *testing.B, x *bench) (reference string) {
	b.Helper()
	must(b, x.db.Read(b.Context()).Model(&models.Payment{}).Order("id DESC").Limit(1).Pluck("reference", &reference).Error)
	return reference
}

// postAlone posts the entries of every transfer again, and returns how long that takes within
// transactions, without their commits.
func postAlone(b *testing.B, x *bench) (spent time.Duration) {
	b.Helper()
	var transfers []models.Transfer
	must(b, x.db.Read(b.Context()).Order("id").Find(&transfers).Error)
	for _, t := range transfers {
		must(b, x.db.Write(b.Context(), func(tx *models.Tx) error {
			began := time.Now()
			defer func() { spent += time.Since(began) }()
			for _, to := range []journal.Account{journal.Pending, journal.Sales} {
				move := journal.Move{Transfer: t, To: to, Currency: "NGN", Value: 5_000_000, Due: 5_000_000, At: x.clock.Now(),
					Zone: "Africa/Lagos"}
				if err := journal.MoveTransfers(tx, x.clock.Now(), []journal.Move{move}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return spent
}
