package sse_test

import (
	"context"
	"strconv"
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
	for _, most := range []int{2048, 100} { // the first is what a hub begins with
		hub := sse.New(modelstest.Open(t, false, time.Now))
		if most != 2048 {
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
		makeBusinesses(t, db, 2)
		listed(t, db, 1, 1)
		hub := run(t, db)
		ours, leave, err := hub.SubscribeMember(sse.Viewer{Business: 1}, sse.Topic{Business: 1, Domain: "test"})
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

// TestMembersAreBounded (AP-18): by browser, by business, by domain and in all, so that customers have the other half.
func TestMembersAreBounded(t *testing.T) {
	leaves := []func(){}
	of := func(hub *sse.Hub, session string, business int64) bool {
		_, leave, err := hub.SubscribeMember(sse.Viewer{Session: session, Business: business}, sse.Topic{Business: business})
		if err == nil {
			leaves = append(leaves, leave)
		}
		return fault.KindOf(err) == fault.Unavailable
	}
	hub := sse.New(nil)
	for n := range 64 {
		if of(hub, strconv.Itoa(n/8), 1) {
			t.Fatalf("page %d of a business is refused, want 64", n+1)
		}
	}
	if !of(hub, "another", 1) {
		t.Error("a 65th page of a business is let in")
	}
	if of(hub, "x", 2) {
		t.Error("a page of another business is refused")
	}
	for n := range 9 {
		if of(hub, "y", 3) {
			t.Errorf("page %d of a browser is refused, want that its oldest page ends", n+1)
		}
	}
	if got := hub.CountPages(); got != 64+1+8 {
		t.Errorf("with nine pages of a browser opened %d pages are open, want 73", got)
	}
	hub.Most = 4096
	for n := range 1021 {
		if of(hub, "z"+strconv.Itoa(n), int64(n+4)) {
			t.Fatalf("domain %d is refused, want 1,024", n+4)
		}
	}
	if !of(hub, "one more", 9999) || of(hub, "known", 2) {
		t.Error("a 1,025th domain is let in, or a page of a known one is refused")
	}
	for _, leave := range leaves {
		leave()
		leave()
	}
	if n := hub.CountPages(); n != 0 || of(hub, "one more", 9999) {
		t.Errorf("%d pages are left, or one is refused after all left", n)
	}
	hub.Close()
	if !of(hub, "one more", 9999) {
		t.Error("a page is let in after the end")
	}
	small := sse.New(nil)
	small.Most = 10
	for n := range 5 {
		of(small, strconv.Itoa(n), int64(n+1))
	}
	if !of(small, "six", 6) {
		t.Error("members have more than half of the pages")
	}
	if _, _, err := small.Subscribe(sse.Topic{Payment: 1}); err != nil {
		t.Errorf("a customer is refused beside members: %v", err)
	}
}
