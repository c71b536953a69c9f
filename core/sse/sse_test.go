package sse_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/sse"
	"cointill/models"
	"cointill/models/modelstest"
)

// payment inserts just enough of a payment to be watched.
func payment(t *testing.T, db *models.DB, reference string) int64 {
	t.Helper()
	at := time.Unix(1, 0).UTC()
	row := models.Payment{BusinessID: 1, Domain: "test", Reference: reference, BusinessReference: reference, TokenHash: reference,
		Amount: 1, Network: "sandbox-bitcoin", ExpiresAt: at, AbandonsAt: at, CreatedAt: at, UpdatedAt: at}
	if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
		t.Fatal(err)
	}
	return row.ID
}

func run(t *testing.T, db *models.DB, set ...func(*sse.Hub)) *sse.Hub {
	t.Helper()
	hub := sse.New(db)
	for _, set := range set {
		set(hub)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); hub.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return hub
}

func wait(t *testing.T, updates <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-updates:
	case <-time.After(5 * time.Second):
		t.Fatal("no update: " + what)
	}
}

// quiet drains what is under way and reports whether more than that comes.
func quiet(t *testing.T, updates <-chan struct{}) {
	t.Helper()
	for {
		select {
		case <-updates:
		case <-time.After(1200 * time.Millisecond):
			return
		}
	}
}

func TestPagesAreTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		one, two := payment(t, db, "one"), payment(t, db, "two")
		hub := run(t, db)
		first, leaveFirst, err := hub.Subscribe(sse.Topic{Payment: one, Network: "sandbox-bitcoin"})
		if err != nil {
			t.Fatal(err)
		}
		second, leaveSecond, err := hub.Subscribe(sse.Topic{Payment: two, Network: "sandbox-xrp"})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, first, "the first one comes at once")
		quiet(t, first)
		quiet(t, second)

		if err := db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", one).Update("steps", 3).Error; err != nil {
			t.Fatal(err)
		}
		hub.Signal()
		wait(t, first, "its payment changed")
		row := models.ChainCursor{Network: "sandbox-xrp", Height: 5, UpdatedAt: time.Unix(1, 0).UTC()}
		if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
			t.Fatal(err)
		}
		wait(t, second, "its network has a new block, without a signal")
		select {
		case <-first:
			t.Error("told of another network's block")
		default:
		}
		leaveFirst()
		leaveFirst()
		leaveSecond()
		if hub.CountPages() != 0 {
			t.Error("pages are left")
		}
	})
}

// TestHubIsBounded (AP-18): by payment, and in all, so that pages leave connections and
// memory to everything else.
func TestHubIsBounded(t *testing.T) {
	for _, most := range []int{1024, 100} { // the first is what a hub begins with
		hub := sse.New(modelstest.Open(t, false, time.Now))
		if most != 1024 {
			hub.Most = most
		}
		topic := sse.Topic{Payment: 1}
		for range 32 {
			if _, _, err := hub.Subscribe(topic); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := hub.Subscribe(topic); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		if _, leave, err := hub.Subscribe(sse.Topic{Payment: 2}); err != nil {
			t.Error(err)
		} else {
			leave()
		}
		for n := range most - 32 {
			if _, _, err := hub.Subscribe(sse.Topic{Payment: int64(3 + n)}); err != nil {
				t.Fatalf("hub.Subscribe(stream.Topic{Payment: int64(3 + n)}): n = %v, err = %v", n, err)
			}
		}
		if _, _, err := hub.Subscribe(sse.Topic{Payment: 2}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("one page more than %d is told %v, want unavailable", most, err)
		}
	}
}

func TestCloseEndsStreams(t *testing.T) {
	hub := run(t, modelstest.Open(t, false, time.Now))
	hub.Close()
	hub.Close()
	select {
	case <-hub.Closed():
	default:
		t.Error("not closed")
	}
	if _, _, err := hub.Subscribe(sse.Topic{Payment: 1}); fault.KindOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// TestPagesAreToldOfProblems: a page shows that its coin can't be paid now, and that it can again.
func TestPagesAreToldOfProblems(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		var problem atomic.Value
		problem.Store("")
		hub := run(t, db, func(h *sse.Hub) { h.Problem = func(string) string { return problem.Load().(string) } })
		page, leave, err := hub.Subscribe(sse.Topic{Payment: payment(t, db, "one"), Network: "sandbox-bitcoin"})
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		wait(t, page, "the first one comes at once")
		quiet(t, page)
		for _, now := range []string{"The node is behind.", ""} {
			problem.Store(now)
			wait(t, page, "the problem became "+now)
		}
	})
}

// listed inserts a payment of a business, a second after the last.
func listed(t *testing.T, db *models.DB, business int64, n int64) {
	t.Helper()
	at := time.Unix(n, 0).UTC()
	reference := time.Duration(business*1000 + n).String()
	row := models.Payment{BusinessID: business, Domain: "test", Reference: reference, BusinessReference: reference, TokenHash: reference,
		Amount: 1, Network: "sandbox-bitcoin", ExpiresAt: at, AbandonsAt: at, CreatedAt: at, UpdatedAt: at}
	if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
		t.Fatal(err)
	}
}

func TestListsAreTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		listed(t, db, 1, 1)
		hub := run(t, db)
		ours, leave, err := hub.SubscribeList(sse.List{Business: 1, Domain: "test"})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, ours, "a first look comes at once")
		quiet(t, ours)
		listed(t, db, 2, 2) // of another business
		hub.Signal()
		select {
		case <-ours:
			t.Error("told of another merchant's payment")
		case <-time.After(1200 * time.Millisecond):
		}
		listed(t, db, 1, 3)
		wait(t, ours, "a payment came")
		leave()
		leave()
		if hub.CountPages() != 0 {
			t.Error("the page is still counted")
		}
	})
}

func TestListsAreBounded(t *testing.T) {
	hub := sse.New(nil)
	leaves := []func(){}
	full := func(list sse.List) bool {
		_, leave, err := hub.SubscribeList(list)
		if err == nil {
			leaves = append(leaves, leave)
		}
		return fault.KindOf(err) == fault.Unavailable
	}
	for range 64 {
		if full(sse.List{Business: 1}) {
			t.Fatal("refused too early")
		}
	}
	if !full(sse.List{Business: 1}) {
		t.Error("a 65th page of one list")
	}
	for n := range 255 {
		if full(sse.List{Business: int64(n + 2)}) {
			t.Fatal("refused too early", n)
		}
	}
	if !full(sse.List{Business: 999}) || full(sse.List{Business: 2}) {
		t.Error("lists are not bounded")
	}
	for _, leave := range leaves {
		leave()
	}
	if hub.CountPages() != 0 || full(sse.List{Business: 999}) {
		t.Error("nobody is gone")
	}
	hub.Close()
	if !full(sse.List{Business: 999}) {
		t.Error("watched after the end")
	}
}
