package node

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"cointill/core/clock"
)

const (
	// minPause and maxPause bound the pause after a node reported a rate limit.
	minPause, maxPause = time.Second, time.Minute
	// maxRetryAfter bounds the pause that a node asks for.
	maxRetryAfter = 10 * time.Minute
)

// Pause is the time in which a node that limits requests is not asked. It is safe for concurrent use.
type Pause struct {
	clock clock.Clock

	mu    sync.Mutex
	last  time.Duration // the last pause
	until time.Time
}

// NewPause makes a Pause that is over.
func NewPause(now clock.Clock) *Pause { return &Pause{clock: now} }

// Left returns how long the node is not asked yet, or 0.
func (p *Pause) Left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.until.Sub(p.clock()), 0)
}

// Begin pauses the node for twice as long as the last time, and at least as long as it asked for.
func (p *Pause) Begin(asked time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = min(max(2*p.last, minPause), maxPause)
	p.until = p.clock().Add(max(p.last, asked))
}

// Reset makes the next pause a short one, because the node answers again.
func (p *Pause) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = 0
}

// parseRetryAfter reads the header Retry-After, which holds seconds, or a moment that is compared with the header
// Date of the same answer. It returns 0 where there is none, or it can't be read.
func parseRetryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	until, err := http.ParseTime(text)
	sent, also := http.ParseTime(header.Get("Date"))
	if err != nil || also != nil {
		return 0
	}
	return min(max(until.Sub(sent), 0), maxRetryAfter)
}
