package clock_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/clock"
)

// machine is one with a clock that somebody may set. Its steady time is that of
// the database's clock, moved by what the machine's was off when it started.
type machine struct {
	*clock.Shared
	wall *clock.Fake
}

var noon = time.Date(2026, 10, 25, 0, 59, 0, 0, time.UTC) // a minute before Europe's clocks go back

func started(database *clock.Fake, off time.Duration, asked func()) machine {
	m := machine{wall: clock.NewFake(database.Now().Add(off))}
	steady := func() time.Time { return database.Now().Add(off) }
	m.Shared = clock.NewShared(m.wall.Now, steady, func(context.Context) (time.Time, error) {
		if asked != nil {
			asked()
		}
		return database.Now(), nil
	})
	return m
}

// TestShared (T-4): machines whose clocks are ten minutes off, in either direction,
// tell the database's time, also after somebody set one of them, and in the hour
// that local time has twice.
func TestShared(t *testing.T) {
	t.Parallel()
	database := clock.NewFake(noon)
	for _, off := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute, 200 * time.Millisecond} {
		m := started(database, off, nil)
		if err := m.Compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := m.Now().Sub(database.Now()).Abs(); d > 250*time.Millisecond {
			t.Errorf("started %s off, it is %s off", off, d)
		}
		if d := m.Drift() - off; d.Abs() > 250*time.Millisecond {
			t.Errorf("started %s off, it says %s", off, m.Drift())
		}
		m.wall.Advance(10 * time.Minute) // somebody sets the clock
		if d := m.Now().Sub(database.Now()).Abs(); d > 250*time.Millisecond {
			t.Errorf("the clock was set, and it is %s off", d)
		}
		if d := m.Drift() - off - 10*time.Minute; d.Abs() > 250*time.Millisecond {
			t.Errorf("the clock was set, and it says %s", m.Drift())
		}
		database.Advance(2 * time.Hour)
		if d := m.Now().Sub(database.Now()).Abs(); d > 250*time.Millisecond {
			t.Errorf("two hours later it is %s off", d)
		}
	}
}

// TestSharedStaysPut: a question that took long moves nothing, and one that wasn't answered neither.
func TestSharedStaysPut(t *testing.T) {
	t.Parallel()
	database := clock.NewFake(noon)
	m := started(database, 10*time.Minute, nil)
	if err := m.Compare(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow := started(database, 0, func() { database.Advance(3 * time.Second) })
	if err := slow.Compare(t.Context()); err != nil || !slow.Now().Equal(database.Now()) {
		t.Errorf("a slow question moved it by %s, %v", slow.Now().Sub(database.Now()), err)
	}
	down := clock.NewShared(database.Now, database.Now, func(context.Context) (time.Time, error) { return time.Time{}, errors.New("no route") })
	if err := down.Compare(t.Context()); err == nil || !down.Now().Equal(database.Now()) {
		t.Errorf("no answer moved it by %s, %v", down.Now().Sub(database.Now()), err)
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestSharedRuns (T-4): a clock that drifts is followed within seconds, and told of
// once from 30 seconds on, and once when it is back.
func TestSharedRuns(t *testing.T) {
	var log lines
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		var off atomic.Int64
		there := func(context.Context) (time.Time, error) { return clock.Real()().Add(-time.Duration(off.Load())), nil }
		s := clock.NewShared(clock.Real(), clock.Real(), there)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = s.Run(ctx) }()
		for _, step := range []struct {
			off  time.Duration
			told int
		}{{0, 0}, {29 * time.Second, 0}, {31 * time.Second, 1}, {-10 * time.Minute, 1}, {time.Second, 2}} {
			off.Store(int64(step.off))
			<-time.After(5 * time.Second)
			synctest.Wait()
			if got := clock.Real()().Sub(s.Now()); got != step.off {
				t.Errorf("%s off, it goes by %s", step.off, got)
			}
			if n := strings.Count(log.String(), "this machine's clock and the database's"); n != step.told {
				t.Errorf("%s off: told %d times, want %d", step.off, n, step.told)
			}
		}
	})
}
