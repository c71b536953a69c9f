package node_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"cointill/chain/node"
	"cointill/core/clock"
)

// TestCallsOfTheLastDay checks that calls are counted for a day, to the hour, also when the clock goes back.
func TestCallsOfTheLastDay(t *testing.T) {
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 59, 0, 0, time.UTC))
	c := node.NewCallCounter(now.Now)
	expect := func(want int64) {
		t.Helper()
		if got := c.CountDay(); got != want {
			t.Errorf("at %s there were %d calls in a day, want %d", now.Now().Format(time.DateTime), got, want)
		}
	}
	expect(0)
	c.AddCalls(1)
	now.Advance(time.Minute) // the next hour
	c.AddCalls(10)
	expect(11)
	now.Advance(22*time.Hour + 59*time.Minute)
	c.AddCalls(100)
	expect(111)
	now.Advance(time.Minute) // a day after the first
	expect(110)
	now.Advance(time.Hour)
	expect(100)
	now.Advance(-3 * time.Hour) // the machine's clock was ahead
	c.AddCalls(1000)
	expect(1100)
	now.Advance(90 * 24 * time.Hour)
	expect(0)
	var none *node.CallCounter
	none.AddCalls(1)
	if got := none.CountDay(); got != 0 {
		t.Errorf("a counter that isn't there counts %d calls, want 0", got)
	}
}

// TestClientCountsItsRequests checks that each request counts, also one without an answer.
func TestClientCountsItsRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }))
	now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := node.NewClient(server.URL, nil, nil)
	c.Calls = node.NewCallCounter(now.Now)
	for range 2 {
		_, _ = c.Send(t.Context(), "", nil, nil, 100)
		server.Close()
	}
	if got := c.Calls.CountDay(); got != 2 {
		t.Errorf("after an answer 429 and none at all %d requests are counted, want 2", got)
	}
}
