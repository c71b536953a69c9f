// Package clock gives the time to everything that asks for it, and repeats work. Only the command
// reads the machine's clock; tests move a fake one.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time in UTC, in whole microseconds, which is what both
// databases store and compare exactly.
type Clock func() time.Time

// Real is the machine's clock. Only the command calls it.
func Real() Clock { return func() time.Time { return Trim(time.Now()) } }

// Trim brings a time to UTC and whole microseconds.
func Trim(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Fake is a clock that stands still until it is moved; safe for concurrent use.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake starts a fake clock at a time.
func NewFake(start time.Time) *Fake { return &Fake{now: Trim(start)} }

// Now is the fake time; pass the method itself as a Clock.
func (f *Fake) Now() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return f.now }

// Advance moves the clock forward.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = Trim(f.now.Add(d))
}

// Layout is how times are written in answers and events: ISO 8601 UTC with
// exactly six fractional digits and Z (contract section 3).
const Layout = "2006-01-02T15:04:05.000000Z"

// Format writes a time in Layout.
func Format(t time.Time) string { return t.UTC().Format(Layout) }

// zones keeps the time zones that were loaded, by their names: loading one reads a file.
var zones sync.Map

// LoadZone returns the time zone of an IANA name; UTC when this machine doesn't know it.
func LoadZone(name string) *time.Location {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}
