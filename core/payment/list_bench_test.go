package payment_test

import (
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/payment"
	"cointill/core/payment/bulk"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

var (
	its    = flag.Int("its", 2000, "BenchmarkLists: payments of the business whose list is read")
	others = flag.Int("others", 20, "BenchmarkLists: other merchants")
	theirs = flag.Int("theirs", 8000, "BenchmarkLists: payments of all others together")
	seeded = flag.String("seeded", "", "BenchmarkLists: code of a business whose database, named by COINTILL_TEST_DATABASE_URL, was filled by cointill seed; empty fills one")
)

// The limits of a list, at the median, and of what an export holds.
const (
	listLimit   = 30.0  // milliseconds
	totalLimit  = 150.0 // milliseconds, for the sums of up to 5,000 payments
	exportLimit = 100.0 // MB
)

// filled is a database with many payments, and the business whose list is read.
func filled(b *testing.B, until time.Time) (db *models.DB, business models.Business) {
	b.Helper()
	if *seeded != "" {
		db, err := models.Open(os.Getenv("COINTILL_TEST_DATABASE_URL"), "", clock.Real())
		if err == nil {
			b.Cleanup(func() { _ = db.Close() })
			err = errors.Join(db.Migrate(b.Context()), db.Read(b.Context()).Where("code = ?", *seeded).Take(&business).Error)
		}
		if err != nil {
			b.Fatal(err)
		}
		return db, business
	}
	db = modelstest.Open(b, os.Getenv("COINTILL_TEST_DATABASE_URL") != "", clock.Real())
	business = models.Business{Code: "BUS_bench", CreatedAt: until, UpdatedAt: until}
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
	return db, business
}

// BenchmarkLists says what a page of each filter costs at the core, as a median,
// at its beginning and deep down, and how much memory an export holds, beside
// their ratio to the limits: make bench-dashboard.
func BenchmarkLists(b *testing.B) {
	until := clock.Real()()
	db, business := filled(b, until)
	service := &list.Service{DB: db}
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Test, Role: scope.Finance}
	ends, err := service.Search(b.Context(), sc, list.Filter{Limit: 1})
	if err != nil || len(ends.Payments) == 0 {
		b.Fatal("nothing was filled in: ", err)
	}
	oldest := models.Payment{}
	if err := db.Read(b.Context()).Where("business_id = ? AND domain = ?", business.ID, "test").Order("created_at").Take(&oldest).Error; err != nil {
		b.Fatal(err)
	}
	span := ends.Payments[0].CreatedAt.Sub(oldest.CreatedAt)
	from, to := oldest.CreatedAt.Add(span/2), oldest.CreatedAt.Add(span*3/4)
	deep, err := service.Search(b.Context(), sc, list.Filter{From: &from, To: &to, States: []payment.State{payment.Successful}, Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	p := deep.Payments[0]
	var transfer models.Transfer
	if err := db.Read(b.Context()).Where("payment_id = ?", p.ID).Take(&transfer).Error; err != nil {
		b.Fatal(err)
	}
	invoice := "INV" + p.BusinessReference[strings.LastIndexByte(p.BusinessReference, '-'):]
	for _, c := range []struct {
		name string
		f    list.Filter
	}{
		{"all", list.Filter{}}, {"deep", list.Filter{Before: list.Place{ID: p.ID}}}, {"back", list.Filter{After: list.Place{ID: p.ID}}},
		{"failed", list.Filter{States: []payment.State{payment.Failed}}}, {"three-states", list.Filter{States: []payment.State{payment.Failed, payment.Pending, payment.Declined}}},
		{"dogecoin", list.Filter{Method: "crypto_dogecoin"}}, {"currency", list.Filter{Currency: "KES"}}, {"dates", list.Filter{From: &from, To: &to}},
		{"amount", list.Filter{Least: p.Amount, Most: p.Amount}}, {"amounts", list.Filter{Least: 1000, Most: 900_000}},
		{"everything", list.Filter{States: []payment.State{payment.Failed}, Method: "crypto_ripple", Currency: "USD", From: &from, Least: 10, Most: 99_999}},
		{"nothing", list.Filter{Currency: "EUR"}},
		{"reference", list.Filter{Query: p.Reference}}, {"reference-begun", list.Filter{Query: p.Reference[:7]}}, {"business-reference", list.Filter{Query: p.BusinessReference}},
		{"day-of-references", list.Filter{Query: p.BusinessReference[:14]}}, {"all-references", list.Filter{Query: "order-"}}, {"hash", list.Filter{Query: transfer.TxID}},
		{"hash-begun", list.Filter{Query: "ab12cd34"}}, {"address-begun", list.Filter{Query: p.Address[:14]}},
		{"end-of-reference", list.Filter{Query: p.Reference[22:]}}, {"end-of-business-reference",
			list.Filter{Query: p.BusinessReference[len(p.BusinessReference)-6:]}},
		{"metadata", list.Filter{Query: invoice}}, {"metadata-of-many", list.Filter{Query: "web"}},
		{"metadata-deep", list.Filter{Query: "ussd", Before: list.Place{ID: p.ID}}},
		{"address", list.Filter{Query: p.Address}}, {"e-mail", list.Filter{Query: p.CustomerEmail}}, {"name", list.Filter{Query: "ngozi okafor"}}, {"nobody", list.Filter{Query: "zzz"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.f.Limit = 50
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := service.Search(b.Context(), sc, c.f); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			reportMedian(b, took, listLimit)
		})
	}
	b.Run("totals-of-all", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if _, err := service.Total(b.Context(), sc, list.Filter{}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		reportMedian(b, took, totalLimit)
	})
	for name, begin := range map[string]func(io.Writer, []spreadsheet.Column) (spreadsheet.Writer, error){"csv": spreadsheet.NewCSV, "xlsx": spreadsheet.NewXLSX} {
		b.Run("export-"+name, func(b *testing.B) {
			most := uint64(0)
			// Once, however often lists are read: it takes its time.
			if err := service.ExportTable(b.Context(), sc, list.Filter{}, list.Table{Zone: time.UTC, Begin: begin}, &watcher{most: &most}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(most)/(1<<20), "most-MB")
			b.ReportMetric(float64(most)/(1<<20)/exportLimit, "of-limit")
		})
	}
}

// watcher looks at the memory in use with each megabyte that is written.
type watcher struct {
	most *uint64
	left int
}

func (w *watcher) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left <= 0 {
		w.left = 1 << 20
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		*w.most = max(*w.most, now.HeapInuse+now.StackInuse)
	}
	return len(p), nil
}

// reportMedian reports the median of how long reads took, beside its ratio to a limit in milliseconds.
func reportMedian(b *testing.B, took []time.Duration, limit float64) {
	slices.Sort(took)
	median := float64(took[len(took)/2].Microseconds()) / 1000
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median, "median-ms")
	b.ReportMetric(median/limit, "of-limit")
}
