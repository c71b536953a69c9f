package outbox_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestGroup (WH-8) has many endpoints on one host that answers nothing, with much that
// waits for them: no more than its share runs there, and others are served.
func TestGroup(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		hosted := table
		hosted.Group = "SELECT host FROM endpoints WHERE endpoints.id = queues.key"
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		release, served := make(chan struct{}), make(chan struct{}, 100)
		var mu sync.Mutex
		running, most := 0, 0
		count := func(by int) { mu.Lock(); defer mu.Unlock(); running += by; most = max(most, running) }
		h.do = func(ctx context.Context, row models.Delivery) error {
			if row.EndpointID < "whk_b" {
				count(1)
				<-release
				count(-1)
			} else {
				served <- struct{}{}
			}
			return h.done(ctx, row)
		}
		add := func(id, host string, n int) {
			e := models.Endpoint{ID: id, BusinessID: 1, Domain: "test", Name: "a", URL: "https://" + host, Host: host, Active: true, Secret: []byte("s"), CreatedAt: start, UpdatedAt: start}
			if err := db.Exec(t.Context()).Create(&e).Error; err != nil {
				t.Fatal(err)
			}
			queue(t, db, id, n)
		}
		for i := range 30 {
			add(fmt.Sprintf("whk_a%02d", i), "dead.example", 20)
		}
		for i := range 10 {
			add(fmt.Sprintf("whk_b%02d", i), fmt.Sprintf("%d.example", i), 3)
		}
		w := outbox.NewWorker(db, hosted, h, outbox.Options{Clock: now.Now, Pool: 16, Share: 2, GroupShare: 4, Poll: 10 * time.Millisecond})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- w.Run(ctx) }()
		for range 30 {
			select {
			case <-served:
			case <-time.After(20 * time.Second):
				t.Fatal("the others starve")
			}
		}
		stop()
		close(release)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if most == 0 || most > 4 {
			t.Errorf("%d attempts at once at one host, want at most 4", most)
		}
	})
}

// TestGroupOfSlow (WH-8) has endpoints on one host that hang: a new one there is served
// at once beside those of which nothing is known, and beside those that are known to be
// slow, of which a quarter of the host's share is tried at once.
func TestGroupOfSlow(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		hosted := table
		hosted.Group = "SELECT host FROM endpoints WHERE endpoints.id = queues.key"
		now := clock.NewFake(start)
		h := newHandler(db, now.Now)
		began, release, served := make(chan struct{}, 100), make(chan struct{}), make(chan struct{}, 100)
		var mu sync.Mutex
		running, most, known := 0, 0, map[string]bool{}
		count := func(key string, by int) {
			mu.Lock()
			defer mu.Unlock()
			if running += by; known[key] && by > 0 {
				most = max(most, running)
			}
			known[key] = true
		}
		h.do = func(ctx context.Context, row models.Delivery) error {
			if row.EndpointID < "whk_b" {
				count(row.EndpointID, 1)
				began <- struct{}{}
				<-release
				count(row.EndpointID, -1)
			} else {
				served <- struct{}{}
			}
			return h.done(ctx, row)
		}
		add := func(id string, n int) {
			e := models.Endpoint{ID: id, BusinessID: 1, Domain: "test", Name: "a", URL: "https://one.example", Host: "one.example", Active: true, Secret: []byte("s"), CreatedAt: start, UpdatedAt: start}
			if err := db.Exec(t.Context()).Create(&e).Error; err != nil {
				t.Fatal(err)
			}
			queue(t, db, id, n)
		}
		wait := func(what string, c chan struct{}, n int) {
			t.Helper()
			for range n {
				select {
				case <-c:
				case <-time.After(20 * time.Second):
					t.Fatalf("what = %v", what)
				}
			}
		}
		for i := range 5 {
			add(fmt.Sprintf("whk_a%02d", i), 2)
		}
		add("whk_b00", 1)
		w := outbox.NewWorker(db, hosted, h, outbox.Options{Clock: now.Now, Pool: 64, Share: 2, GroupShare: 8, Poll: 10 * time.Millisecond})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- w.Run(ctx) }()
		wait("those of which nothing is known aren't tried", began, 5)
		wait("a new one waits for those of which nothing is known", served, 1)
		now.Advance(3 * time.Second) // more than Slow
		for range 5 {
			release <- struct{}{}
		}
		wait("those that are slow aren't tried again", began, 2)
		add("whk_b01", 1)
		wait("a new one waits for those that are slow", served, 1)
		stop()
		close(release)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if most > 2 {
			t.Errorf("%d attempts at once at slow endpoints of one host, want at most 2 of 8", most)
		}
	})
}
