package source

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestNotModified: what hasn't changed is not sent again, and is read as of now.
func TestNotModified(t *testing.T) {
	t.Parallel()
	const changed = "Sun, 01 Mar 2026 11:00:00 GMT"
	for name, test := range map[string]struct{ tag, modified string }{
		"tag": {`"one"`, ""}, "weak tag": {`W/"one"`, ""}, "date": {"", changed}, "both": {`"one"`, changed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var visits atomic.Int32
			b := setup(t, func(w http.ResponseWriter, r *http.Request) {
				if visits.Add(1) > 1 {
					if r.Header.Get("If-None-Match") != test.tag || r.Header.Get("If-Modified-Since") != test.modified {
						t.Errorf("asked by %v", r.Header)
					}
					w.WriteHeader(http.StatusNotModified)
					return
				}
				w.Header().Set("ETag", test.tag)
				w.Header().Set("Last-Modified", test.modified)
				says(200, "application/json", table)(w, r)
			})
			b.check(t, atNoon)
			for range 2 {
				b.clock.Advance(20 * time.Second)
				if prices, err := b.fetch(t); err != nil || !prices[0].At.Equal(b.clock.Now()) {
					t.Errorf("%v, %v", prices, err)
				}
			}
		})
	}
}

// TestKept: only good answers are kept, the last of them, and it outlasts bad ones.
func TestKept(t *testing.T) {
	t.Parallel()
	steps := []struct {
		tag, body string
		status    int
		asked     string // by which tag
		want      string
	}{
		{`"bad"`, `{"code":"1"}`, 200, "", ownError},
		{`"one"`, table, 200, "", atNoon},
		{`"page"`, `<html>`, 200, `"one"`, webPage},
		{`"down"`, `{}`, 503, `"one"`, "answers 503"},
		{"", "", 304, `"one"`, atNoon},
		{`"two"`, `{"code":"200000","data":{"BTC":"7"}}`, 200, `"one"`, "BTC/USD 7 at 2026-03-01 12:00:00"},
		{"", "", 304, `"two"`, "BTC/USD 7 at 2026-03-01 12:00:00"},
		{"", `{"code":"200000","data":{"BTC":"8"}}`, 200, `"two"`, "BTC/USD 8 at 2026-03-01 12:00:00"}, // no tag any more
		{"", "", 304, "", "answers 304"},
	}
	now := 0
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		step := steps[now]
		if got := r.Header.Get("If-None-Match"); got != step.asked {
			t.Errorf("step %d is asked by %q, want %q", now, got, step.asked)
		}
		if step.tag != "" {
			w.Header().Set("ETag", step.tag)
		}
		if step.status == http.StatusNotModified {
			w.WriteHeader(step.status)
			return
		}
		says(step.status, "application/json", step.body)(w, r)
	})
	for ; now < len(steps); now++ {
		b.check(t, steps[now].want)
	}
}

// TestKeptPerAddress: a mirror's answer is never taken for the publisher's, and
// what is kept is bounded.
func TestKeptPerAddress(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			t.Error("asked conditionally for what was never seen")
		}
		w.Header().Set("ETag", `"one"`)
		says(200, "application/json", table)(w, r)
	})
	for i := range 3 * maxKept {
		b.source.Documents[0].Path = fmt.Sprintf("/%d", i)
		b.check(t, atNoon)
		if len(b.client.cache) > maxKept {
			t.Fatalf("%d answers are kept", len(b.client.cache))
		}
	}
	if len(b.client.cache) != maxKept {
		t.Errorf("%d answers are kept", len(b.client.cache))
	}
}

// TestAge: an answer from a cache on the way is as old as it says; a price
// with a time of its own keeps that.
func TestAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[string]string{
		"": "12:00:00", "0": "12:00:00", "45": "11:59:15", "-5": "12:00:00", "soon": "12:00:00", "1.5": "12:00:00",
	} {
		b := setup(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Age", age)
			says(200, "application/json", table)(w, r)
		})
		b.check(t, "BTC/USD 67011.9 at 2026-03-01 "+want)
	}
	for _, age := range []string{"604800", "99999999999", "99999999999999999999999"} {
		setup(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Age", age)
			says(200, "application/json", table)(w, r)
		}).check(t, "BTC/USD 67011.9 at 2026-02-22 12:00:00")
	}
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Age", "45")
		says(200, "application/json", `{"code":"0","data":[{"instId":"BTC-USD","idxPx":"5","ts":"1772366399000"}]}`)(w, r)
	})
	origin := b.source.Origin
	b.source = newOKX()
	b.source.Origin = origin
	b.check(t, "BTC/USD 5 at 2026-03-01 11:59:59")
}

// TestTogether: one client serves many at once.
func TestTogether(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		says(200, "application/json", table)(w, r)
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if prices, err := b.fetch(t); err != nil || told(prices) != atNoon {
					t.Errorf("%v, %v", prices, err)
				}
			}
		})
	}
	group.Wait()
}
