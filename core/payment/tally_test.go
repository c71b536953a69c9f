package payment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/stats"
	"cointill/models"
)

// counter counts the bench's payments.
func (b *bench) counter() *stats.Service { return &stats.Service{DB: b.db, Clock: b.clock.Now} }

// recounted counts all payments anew, as after a change of the time zone.
func (b *bench) recounted() {
	b.t.Helper()
	if err := b.db.Exec(b.t.Context()).Where("1 = 1").Delete(&models.Tally{}).Error; err != nil {
		b.t.Fatal(err)
	}
	if err := b.counter().RecountDue(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) folded() int {
	b.t.Helper()
	n, err := b.counter().FoldChanges(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// figures are those of the days around now, written so that they can be compared.
func (b *bench) figures(zone string) string {
	b.t.Helper()
	day := func(on int) string { return b.clock.Now().AddDate(0, 0, on).Format(time.DateOnly) }
	f, err := b.counter().ReadFigures(b.t.Context(), b.scope, stats.Period{From: day(-3), To: day(1), Zone: zone})
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, c := range f.Days {
		lines = append(lines, fmt.Sprint(c.Day, " ", c.Currency, " ", c.Status, " ", c.Count))
	}
	slices.Sort(lines)
	median, known := f.MedianTime()
	return fmt.Sprint(strings.Join(lines, "\n"), "\nmedian ", median, known)
}

// received is the value that the overview shows as received, in hundredths.
func (b *bench) received(currency money.Currency) (sum int64) {
	b.t.Helper()
	sold, err := (&journal.Service{DB: b.db}).ListSales(b.t.Context(), b.scope, journal.Period{From: "2026-01-01", To: "2026-12-31"})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, day := range sold {
		if day.Currency == string(currency) {
			sum += day.Received
		}
	}
	return sum
}

// TestFigures: what was noted as payments changed, what was folded, and what is
// counted from the payments themselves are the same at every step of their lives.
func TestFigures(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const zone = "Africa/Lagos"                    // the business’s own
		b.clock.Advance(10*time.Hour + 50*time.Minute) // 23:50 in Lagos
		same := func(step string) {
			t.Helper()
			noted := b.figures(zone)
			b.folded()
			if got := b.figures(zone); got != noted {
				t.Fatalf("%s: folded\n%s\nnoted\n%s", step, got, noted)
			}
			if n := b.folded(); n != 0 {
				t.Fatalf("%s: %d changes were folded twice", step, n)
			}
			b.recounted()
			if got := b.figures(zone); got != noted {
				t.Fatalf("%s: counted\n%s\nnoted\n%s", step, got, noted)
			}
		}
		b.recounted()
		paid, under, expired := b.opened(), b.opened(), b.initiate()
		same("initiated")
		tx := b.pay(paid, "aa", paid.Payment.Due)
		b.mine(tx, b.pay(under, "bb", under.Payment.Due.Sub(money.Units(1))))
		same("processing")
		b.clock.Advance(90 * time.Second)
		b.mine()
		same("successful")
		b.clock.Advance(payment.Window + 5*time.Minute) // past midnight: their day stays
		b.initiate()
		b.tick()
		b.expect(expired.Reference, payment.Expired, "")
		b.expect(under.Payment.Reference, payment.Declined, payment.Underpaid)
		same("ended")
		want := `2026-03-01 NGN declined 1
2026-03-01 NGN expired 1
2026-03-01 NGN successful 1
2026-03-02 NGN pending 1
median 1m30s true`
		if got := b.figures(zone); got != want {
			t.Errorf("%s", got)
		}
		owner := b.scope
		owner.Role, owner.Actor = scope.Owner, "user:1"
		if err := b.resolver.Resolve(t.Context(), owner, under.Payment.Reference); err != nil {
			t.Fatal(err)
		}
		same("accepted")
		if got := b.figures(zone); !strings.Contains(got, "successful 2\n") || !strings.Contains(got, "\nmedian 1m30s true") { // a person's time is none of the network's
			t.Errorf("%s", got)
		}
		b.reorg(2, &chain.Pending{})
		same("reversed")
		if got := b.figures(zone); !strings.Contains(got, "NGN reversed 2") {
			t.Errorf("%s", got)
		}
		// By the days of another zone all are of the same one.
		if got := b.figures("UTC"); !strings.Contains(got, "2026-03-01 NGN pending 1") || strings.Contains(got, "2026-03-02") {
			t.Errorf("in UTC: %s", got)
		}
		if err := b.db.Exec(t.Context()).Model(&models.Business{}).Where("1 = 1").Update("time_zone", "UTC").Error; err != nil {
			t.Fatal(err)
		}
		if err := b.counter().RecountDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		in := b.figures("UTC")
		var rows int64
		if err := b.db.Read(t.Context()).Model(&models.TallyDay{}).Where("day = '2026-03-02'").Count(&rows).Error; err != nil || rows != 0 {
			t.Errorf("%d rows of the old zone's days, %v", rows, err)
		}
		if !strings.Contains(in, "2026-03-01 NGN pending 1") {
			t.Errorf("in UTC: %s", in)
		}
	})
}

// TestFiguresHeal: a payment that was changed without being counted, as by an
// older release, is counted once its day has come to rest.
func TestFiguresHeal(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.recounted()
		started := b.initiate()
		b.folded()
		b.put(started.Reference, map[string]any{"status": "failed"})
		if got := b.figures("Africa/Lagos"); !strings.Contains(got, "NGN pending 1") {
			t.Fatalf(`b.figures("Africa/Lagos"): got = %v`, got)
		}
		b.clock.Advance(4 * 24 * time.Hour)
		if err := b.counter().RecountDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		f, err := b.counter().ReadFigures(t.Context(), b.scope, stats.Period{From: "2026-03-01", To: "2026-03-01", Zone: "Africa/Lagos"})
		if err != nil || len(f.Days) != 1 || f.Days[0].Status != "failed" || f.Days[0].Count != 1 {
			t.Errorf("%+v, %v", f.Days, err)
		}
	})
}
