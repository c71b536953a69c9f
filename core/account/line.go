package account

import (
	"context"
	"sync"
	"time"

	"cointill/core/fault"
)

// lineTime is how long anybody waits for a place: a third of what a request has, so that
// there is time left to hash, or to say that there was no place.
const lineTime = 5 * time.Second

// strangers stands for whoever isn't known: their browser is new to the user, or they are
// no user yet. They may be any number.
const strangers int64 = 0

// line is where passwords wait to be hashed: Argon2 takes 64 MiB each, so there are few
// places. They are had in the order of asking, but one comes to the line by a door: that of
// strangers, or that of a user whose browser is known. One at a time stands in the line
// from each door, so that a crowd at one is a single person to who comes by another.
type line struct {
	places chan struct{}
	// collect frees the memory of a hash before its place is given to the next one; nil
	// leaves that to the runtime, which first lets the memory of several hashes pile up.
	collect func()

	mu    sync.Mutex
	doors map[int64]*door // by user; those that somebody is at
}

type door struct {
	way chan struct{}
	at  int // how many wait at it or stand in the line
}

func newLine(places int, collect func()) *line {
	return &line{places: make(chan struct{}, places), collect: collect, doors: map[int64]*door{}}
}

// do runs work in a place, for a user or for strangers. Unavailable when there is none in time.
func (l *line) do(ctx context.Context, user int64, work func() error) error {
	leave, ok := l.enter(ctx, user)
	if !ok {
		return fault.Retry("busy", "The server is busy with other sign-ins. Try again in a moment.", retryBusy)
	}
	defer leave()
	if l.collect != nil {
		defer l.collect()
	}
	return work()
}

func (l *line) enter(ctx context.Context, user int64) (leave func(), ok bool) {
	ctx, done := context.WithTimeout(ctx, lineTime)
	defer done()
	way, gone := l.come(user)
	defer gone()
	pass, ok := take(ctx, way)
	if !ok {
		return nil, false
	}
	defer pass()
	return take(ctx, l.places)
}

// come finds the way through a user's door. Who has gone is at it no more.
func (l *line) come(user int64) (way chan struct{}, gone func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.doors[user]
	if d == nil {
		d = &door{way: make(chan struct{}, 1)}
		l.doors[user] = d
	}
	d.at++
	return d.way, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if d.at--; d.at == 0 {
			delete(l.doors, user)
		}
	}
}

// take takes one of some places, in the order of asking. Leave gives it back.
func take(ctx context.Context, places chan struct{}) (leave func(), ok bool) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, true
	case <-ctx.Done():
		return nil, false
	}
}
