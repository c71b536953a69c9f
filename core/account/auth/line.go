package auth

import (
	"context"
	"sync"
	"time"

	"cointill/core/fault"
)

// lineTime is how long a request waits for a place: a third of its time, so that enough is
// left to hash, or to answer that there was no place.
const lineTime = 5 * time.Second

// strangers is the lane of unknown clients: the browser is new to the user, or there is no
// such user. There may be any number of them.
const strangers int64 = 0

// line queues the hashing of passwords. Argon2 takes 64 MiB each, so there are few places.
// They are given in the order of requests, but each request comes through a lane: the lane of
// unknown clients, or the lane of a user whose browser is known. One request of each lane
// stands in the queue at a time, so a crowd in one lane delays the others like a single
// request.
type line struct {
	places chan struct{}
	// collect frees the memory of a hash before its place is given to the next one; nil
	// leaves that to the runtime, which first lets the memory of several hashes pile up.
	collect func()

	mu    sync.Mutex
	doors map[int64]*door // lanes in use, by user
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

// come finds the way through a user's door. A request that has left is not counted any more.
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
