package payment_test

import (
	"os"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/payment/bulk"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/stats"
	"cointill/models"
	"cointill/models/modelstest"
)

// BenchmarkFigures says what an overview costs at the core: from rows of days, and
// from the payments themselves, as while a business is counted anew; and what a
// list of customers does. Its flags are those of BenchmarkLists.
func BenchmarkFigures(b *testing.B) {
	db := modelstest.Open(b, os.Getenv("COINTILL_TEST_DATABASE_URL") != "", clock.Real())
	until := clock.Real()()
	business := models.Business{Code: "BUS_bench", TimeZone: "Africa/Lagos", CreatedAt: until, UpdatedAt: until}
	if err := db.Exec(b.Context()).Create(&business).Error; err != nil {
		b.Fatal(err)
	}
	if err := bulk.Fill(b.Context(), db, bulk.Plan{Business: business.ID, Its: *its, Others: *others, Theirs: *theirs, Until: until}); err != nil {
		b.Fatal(err)
	}
	if db.Postgres() {
		if err := db.Exec(b.Context()).Exec("VACUUM ANALYZE").Error; err != nil {
			b.Fatal(err)
		}
	}
	counter := &stats.Service{DB: db, Clock: clock.Real()}
	service := &list.Service{DB: db}
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Test, Role: scope.Finance}
	day := func(on int) string { return until.AddDate(0, 0, on).Format(time.DateOnly) }
	measure := func(name string, days int) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := counter.ReadFigures(b.Context(), sc, stats.Period{From: day(1 - days), To: day(0), Zone: "Africa/Lagos"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("counted-30-days", 30)
	measure("counted-366-days", 366)
	began := time.Now()
	if err := counter.RecountDue(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("counted anew in %s", time.Since(began).Round(time.Millisecond))
	measure("folded-30-days", 30)
	measure("folded-366-days", 366)
	b.Run("waiting", func(b *testing.B) {
		for b.Loop() {
			if _, err := service.Waiting(b.Context(), sc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("customers", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := service.Customers(b.Context(), sc, list.CustomerFilter{Limit: 25}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
