package sse_test

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/sse"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestPagesOfOtherDomainsStayQuiet: of more domains than one statement reads, pages of a domain are
// updated for its payments alone.
func TestPagesOfOtherDomainsStayQuiet(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		const domains = 300
		makeBusinesses(t, db, domains/2)
		hub := run(t, db)
		pages := make([]<-chan struct{}, domains)
		for n := range pages {
			topic := sse.Topic{Business: int64(1 + n/2), Domain: []string{"test", "live"}[n%2], Sends: n%3 == 0}
			updates, leave, err := hub.SubscribeMember(sse.Viewer{Session: strconv.Itoa(n), Business: topic.Business}, topic)
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
			pages[n] = updates
			wait(t, updates, "the first look")
		}
		quiet(t, pages[0])
		for _, page := range pages {
			takeUpdate(page)
		}
		changed := []int{0, 256, 298}
		for _, n := range changed {
			listed(t, db, int64(1+n/2), int64(1+n))
			wait(t, pages[n], "a payment came")
		}
		quiet(t, pages[0])
		for n, page := range pages {
			if takeUpdate(page) && !slices.Contains(changed, n) {
				t.Errorf("domain %d has an update for a payment in another", n)
			}
		}
	})
}

// makeBusinesses inserts businesses with the numbers from 1 on.
func makeBusinesses(t *testing.T, db *models.DB, n int) {
	t.Helper()
	rows := make([]models.Business, n)
	for i := range rows {
		rows[i] = models.Business{ID: int64(i + 1), Code: "BUS_" + strconv.Itoa(i+1)}
	}
	if err := db.Exec(t.Context()).Create(&rows).Error; err != nil {
		t.Fatal(err)
	}
}

// takeUpdate takes an update and reports whether there was one.
func takeUpdate(updates <-chan struct{}) bool {
	select {
	case <-updates:
		return true
	default:
		return false
	}
}

// TestManyDomainsAreReadRarely (AP-18): the more domains are watched, the longer they are left alone, however often
// something is committed.
func TestManyDomainsAreReadRarely(t *testing.T) {
	t.Parallel() // it waits
	const domains, rest, statements = 600, 300 * time.Millisecond, 3
	db := modelstest.Open(t, false, time.Now)
	var read atomic.Int64
	if err := db.Read(t.Context()).Callback().Row().Before("*").Register("test:count", func(*gorm.DB) { read.Add(1) }); err != nil {
		t.Fatal(err)
	}
	hub := run(t, db)
	began := time.Now()
	for n := range domains {
		viewer := sse.Viewer{Session: strconv.Itoa(n), Business: int64(1 + n)}
		if _, _, err := hub.SubscribeMember(viewer, sse.Topic{Business: viewer.Business, Domain: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	read.Store(0)
	for time.Since(began) < 2*time.Second {
		hub.Signal()
		<-time.After(time.Millisecond)
	}
	if got, most := read.Load(), statements*(int64(time.Since(began)/rest)+2); got < statements || got > most {
		t.Errorf("%d domains are read by %d statements in %s, want %d to %d", domains, got, time.Since(began), statements, most)
	}
}
