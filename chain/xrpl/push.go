package xrpl

import (
	"context"
	"sync"
	"time"
)

// longestRest bounds the rest between two attempts to open a stream.
const longestRest = time.Minute

// listener is one stream of ledgers. It returns when the connection ends, and
// calls up when it stands and heard for each ledger.
type listener struct {
	host   string
	listen func(ctx context.Context, up, heard func()) error
}

// Notify has a function called whenever a server says that there is a new
// ledger, until stop is called: a follower's Wake. It must not block.
func (s *Source) Notify(wake func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listened++
	id := s.listened
	s.listeners[id] = wake
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, id)
	}
}

func (s *Source) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, wake := range s.listeners {
		wake()
	}
}

// Run keeps the streams until the context ends, and then returns nil. They only
// call what Notify was given, so a source works without Run, too: it learns
// things a little later.
func (s *Source) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range s.push {
		all.Go(func() { s.keep(ctx, l) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// keep opens a stream again and again, with growing rests while it doesn't last.
// Each time it stands the follower is woken: something may have been missed.
func (s *Source) keep(ctx context.Context, l listener) {
	rest, failing := s.pace.retry, false
	timer := time.NewTimer(0)
	defer timer.Stop()
	tell := s.log.With("network", s.params.Network(), "host", l.host)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		opened := s.clock()
		err := l.listen(ctx, func() {
			if failing {
				tell.Info("a stream of ledgers is back")
			}
			failing = false
			s.notify()
		}, s.notify)
		if ctx.Err() != nil {
			return
		}
		if !failing {
			tell.Warn("a stream of ledgers ended; the server is polled until it is back", "error", err)
		}
		failing = true
		if s.clock().Sub(opened) > longestRest {
			rest = s.pace.retry
		}
		timer.Reset(rest)
		rest = min(2*rest, longestRest)
	}
}
