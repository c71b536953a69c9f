package modelstest

import (
	"os"
	"testing"
	"time"
)

// maxDatabaseTime is the most that a test's own migrated database may cost: to make
// it and to remove it. What connecting to it costs comes on top.
const maxDatabaseTime = 60 * time.Millisecond

// BenchmarkDatabase measures a test's own migrated database of each kind. It prints
// the time to make and remove it as a ratio to maxDatabaseTime, and the time to open one as
// tests do, which use PostgreSQL's again, in milliseconds.
func BenchmarkDatabase(b *testing.B) {
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			if postgres && os.Getenv(variable) == "" {
				b.Fatalf("%s is not set: run it with scripts/with-postgres", variable)
			}
			makeDatabase(b, postgres) // makes the template
			began := time.Now()
			for range 20 {
				runWithCleanup(b, func(t testing.TB) { Open(t, postgres, time.Now) })
			}
			opened := time.Since(began) / 20
			for b.Loop() {
				makeDatabase(b, postgres)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(maxDatabaseTime), "of-limit")
			b.ReportMetric(float64(opened)/float64(time.Millisecond), "ms-opened")
		})
	}
}

// makeDatabase makes a migrated database and removes it.
func makeDatabase(b *testing.B, postgres bool) {
	runWithCleanup(b, func(t testing.TB) {
		if postgres {
			MigratedURL(t)
			return
		}
		copyMigrated(t)
	})
}

// runWithCleanup runs a function and then what it wants to be cleaned up.
func runWithCleanup(t testing.TB, run func(testing.TB)) {
	collected := &cleanupTB{TB: t}
	run(collected)
	for i := len(collected.functions) - 1; i >= 0; i-- {
		collected.functions[i]()
	}
}

// cleanupTB collects cleanup functions, so that they run within the measured loop.
type cleanupTB struct {
	testing.TB
	functions []func()
}

// Cleanup implements testing.TB.
func (c *cleanupTB) Cleanup(f func()) { c.functions = append(c.functions, f) }
