package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/addressmark"
	"cointill/internal/app"
	"cointill/models/modelstest"
)

// noMarks keeps none: what opening a payment costs without them.
type noMarks struct{}

func (noMarks) Reserve(addressmark.Key, int64) error               { return nil }
func (noMarks) Release(addressmark.Key, int64)                     {}
func (noMarks) Next(addressmark.Key) (int64, error)                { return 0, nil }
func (noMarks) Raise(_ addressmark.Key, next int64) (int64, error) { return next, nil }

// BenchmarkOpen prints, for each database and number of clients, the openings a second with
// address marks in two folders, those without marks in the same run, and their ratio.
func BenchmarkOpen(b *testing.B) {
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
			b.Log("COINTILL_TEST_DATABASE_URL is not set: run make bench for PostgreSQL")
			continue
		}
		for _, clients := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("%s/clients=%d", database, clients), func(b *testing.B) {
				benchmarkOpen(b, database == "postgres", clients)
			})
		}
	}
}

func benchmarkOpen(b *testing.B, postgres bool, clients int) {
	const rounds = 20
	marks := []string{filepath.Join(b.TempDir(), "one"), filepath.Join(b.TempDir(), "two")}
	settings := &app.Settings{DataDir: b.TempDir(), AddressMarks: marks}
	if postgres {
		settings.DatabaseURL = modelstest.URL(b)
	}
	n := max(b.N/rounds, clients)
	p := openTill(b, settings)
	p.found()
	tokens := make([]string, 2*rounds*n)
	for i := range tokens {
		tokens[i] = p.initiate()
	}
	var next atomic.Int64
	open := func() error {
		_, err := p.Payments.Open(b.Context(), tokens[next.Add(1)-1], "", "")
		return err
	}
	var with, without time.Duration
	b.ResetTimer()
	for range rounds {
		p.Wallets.Marks = p.Marks
		with += timed(b, clients, n, open)
		b.StopTimer()
		p.Wallets.Marks = noMarks{}
		without += timed(b, clients, n, open)
		b.StartTimer()
	}
	total := float64(n * rounds)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(total/with.Seconds(), "open/s")
	b.ReportMetric(total/without.Seconds(), "unmarked/s")
	b.ReportMetric(without.Seconds()/with.Seconds(), "ratio")
}
