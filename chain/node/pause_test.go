package node

import (
	"net/http"
	"testing"
	"time"

	"cointill/core/clock"
)

// TestPauseGrowsAndEnds: a pause doubles from one second to a minute, is at least as long as the node asked for, and
// is short again after an answer.
func TestPauseGrowsAndEnds(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(1, 0))
	p := NewPause(now.Now)
	for i, c := range []struct{ asked, want time.Duration }{{0, time.Second}, {0, 2 * time.Second},
		{9 * time.Second, 9 * time.Second},
		{0, 8 * time.Second}, {0, 16 * time.Second}, {0, 32 * time.Second}, {0, time.Minute}, {0, time.Minute},
		{time.Hour, time.Hour}} {
		p.Begin(c.asked)
		if got := p.Left(); got != c.want {
			t.Errorf("pause %d after %s asked for is %s, want %s", i, c.asked, got, c.want)
		}
		now.Advance(c.want)
		if got := p.Left(); got != 0 {
			t.Errorf("pause %d has %s left at its end", i, got)
		}
	}
	p.Reset()
	if p.Begin(0); p.Left() != time.Second {
		t.Errorf("after an answer a pause is %s, want 1s", p.Left())
	}
}

// TestRetryAfter: the header holds seconds or a moment, and nothing else counts.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const sent = "Fri, 27 Nov 2026 08:00:00 GMT"
	for _, c := range []struct {
		text, date string
		want       time.Duration
	}{{"", sent, 0}, {"0", sent, 0}, {"7", "", 7 * time.Second}, {"86400", "", 10 * time.Minute}, {"-1", sent,
		0}, {"soon", sent, 0},
		{"99999999999999999999", sent, 0}, {"Fri, 27 Nov 2026 08:00:30 GMT", sent, 30 * time.Second},
		{"Fri, 27 Nov 2026 07:00:00 GMT", sent, 0},
		{"Sat, 28 Nov 2026 08:00:00 GMT", sent, 10 * time.Minute}, {"Fri, 27 Nov 2026 08:00:30 GMT", "", 0}} {
		header := http.Header{"Retry-After": {c.text}, "Date": {c.date}}
		if got := parseRetryAfter(header); got != c.want {
			t.Errorf("Retry-After %q of %q is %s, want %s", c.text, c.date, got, c.want)
		}
	}
}
