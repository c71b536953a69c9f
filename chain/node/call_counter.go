package node

import (
	"sync"
	"time"

	"cointill/core/clock"
)

// countedHours is how many hours a CallCounter covers: the present one and the 23 before it.
const countedHours = 24

// CallCounter counts the calls that this process makes to one node, by hours, as many providers charge for each. Nil
// counts nothing.
type CallCounter struct {
	clock clock.Clock

	mu    sync.Mutex
	hours [countedHours]int64
	last  int64 // the hour of the last call, counted from 1970
}

// NewCallCounter makes a counter.
func NewCallCounter(now clock.Clock) *CallCounter { return &CallCounter{clock: now} }

// AddCalls counts calls that are made now.
func (c *CallCounter) AddCalls(n int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOld()
	c.hours[c.last%countedHours] += int64(n)
}

// CountDay returns the calls of the last 23 hours and the present one.
func (c *CallCounter) CountDay() (all int64) {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOld()
	for _, n := range c.hours {
		all += n
	}
	return all
}

// forgetOld clears the hours that are no longer covered. The caller holds the lock.
func (c *CallCounter) forgetOld() {
	now := c.clock().Unix() / int64(time.Hour/time.Second)
	for hour := max(c.last, now-countedHours) + 1; hour <= now; hour++ {
		c.hours[hour%countedHours] = 0
	}
	c.last = max(c.last, now)
}
