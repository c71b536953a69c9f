package auth

import (
	"context"
	"sync"
	"time"

	"cointill/core/fault"
)

// maxQueueWait is how long a request waits for a slot: a third of its time, so that enough is
// left to hash, or to answer that there was no slot.
const maxQueueWait = 5 * time.Second

// anonymousLane is the lane of unknown clients: the browser is new to the user, or there is no
// such user. All of them share it.
const anonymousLane int64 = 0

// hashQueue is a fair semaphore for the hashing of passwords. Argon2 takes 64 MiB each, so
// there are few slots. They are given in the order of requests, but each request comes through
// a lane: the anonymous lane, or the lane of a user whose browser is known. One request of each
// lane waits for a slot at a time, so a crowd in one lane delays the others like a single
// request.
type hashQueue struct {
	slots chan struct{}
	// collect frees the memory of a hash before its slot is given to the next one; nil
	// leaves that to the runtime, which first lets the memory of several hashes pile up.
	collect func()

	mu    sync.Mutex
	lanes map[int64]*lane // lanes in use, by user
}

type lane struct {
	head     chan struct{} // held by the request that waits for a slot
	requests int           // how many wait in it, with the one at its head
}

func newHashQueue(slots int, collect func()) *hashQueue {
	return &hashQueue{slots: make(chan struct{}, slots), collect: collect, lanes: map[int64]*lane{}}
}

// runInSlot runs work in a slot, through a user's lane or the anonymous one. Unavailable when there
// is none in time.
func (q *hashQueue) runInSlot(ctx context.Context, user int64, work func() error) error {
	release, ok := q.acquireSlot(ctx, user)
	if !ok {
		return fault.Retry("busy", retryBusy, "The server is busy with other sign-ins. Try again in a moment.")
	}
	defer release()
	if q.collect != nil {
		defer q.collect()
	}
	return work()
}

func (q *hashQueue) acquireSlot(ctx context.Context, user int64) (release func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, maxQueueWait)
	defer cancel()
	head, leave := q.enterLane(user)
	defer leave()
	releaseHead, ok := takeSlot(ctx, head)
	if !ok {
		return nil, false
	}
	defer releaseHead()
	return takeSlot(ctx, q.slots)
}

// enterLane counts a request in a user's lane until leave is called, and returns the lane's head.
func (q *hashQueue) enterLane(user int64) (head chan struct{}, leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[user]
	if l == nil {
		l = &lane{head: make(chan struct{}, 1)}
		q.lanes[user] = l
	}
	l.requests++
	return l.head, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if l.requests--; l.requests == 0 {
			delete(q.lanes, user)
		}
	}
}

// takeSlot takes one of some slots, in the order of the calls. release returns it.
func takeSlot(ctx context.Context, slots chan struct{}) (release func(), ok bool) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, true
	case <-ctx.Done():
		return nil, false
	}
}
