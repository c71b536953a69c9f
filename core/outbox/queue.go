package outbox

import (
	"time"
)

// keyQueue is the queue of one key, such as a webhook endpoint: its running attempts and the
// claimed rows that wait for them.
type keyQueue[T any] struct {
	group           string
	running         int            // attempts under way
	waiting         []queuedRow[T] // claimed, not yet begun
	speed           speed          // how its last attempt went
	took            time.Duration
	refillRequested bool // the worker was woken to claim more rows of the key
}

// speed classifies a key by its last attempt. A fast key gets several concurrent attempts and
// a prefetch queue. Other keys get one row at a time, and all of them together may not fill
// the pool.
type speed int

const (
	untried speed = iota // nothing was tried yet
	fast                 // the last attempt was over soon
	slow                 // it was not, or one is under way for long
)

// queuedRow is a claimed row with its work.
type queuedRow[T any] struct {
	row   T
	work  Work
	until time.Time // begun later it could outlast its lease
}

// runningAttempt is an attempt that has not ended.
type runningAttempt struct {
	key, group string
	began      time.Time
}

// runningCounts counts running attempts.
type runningCounts struct {
	all, notFast, slow int            // notFast: all attempts except for fast keys
	group              map[string]int // of each group
	groupNotFast       map[string]int
	groupSlow          map[string]int
}

// maxKeys bounds how many keys the worker remembers.
const maxKeys = 20_000

// countRunning counts running attempts, and classifies keys as slow whose attempt runs too
// long. The lock is held.
func (w *Worker[T]) countRunning(now time.Time) runningCounts {
	counts := runningCounts{group: map[string]int{}, groupNotFast: map[string]int{}, groupSlow: map[string]int{}}
	for a := range w.under {
		key := w.queues[a.key]
		if now.Sub(a.began) >= w.options.Slow {
			key.speed = slow
		}
		counts.countAttempt(key.speed, a.group)
	}
	return counts
}

func (counts *runningCounts) countAttempt(t speed, group string) {
	counts.all++
	counts.group[group]++
	if t == fast {
		return
	}
	counts.notFast++
	counts.groupNotFast[group]++
	if t == slow {
		counts.slow++
		counts.groupSlow[group]++
	}
}

// chooseHeads chooses the heads whose keys may have another attempt, oldest first. A key gets
// at most its share, a group at most its own. Keys that are not known as fast get at most half
// of the pool and three quarters of a group; slow keys get a quarter of each, so that a new
// key doesn't wait for the timeouts of others. room is how many rows behind the head each fast
// key may have. more reports that other heads were left.
func (w *Worker[T]) chooseHeads(heads []dueRow, now time.Time) (chosen []dueRow, room map[string]int, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := w.countRunning(now)
	room = map[string]int{}
	left := maxPrefetchInAll
	for _, key := range w.queues {
		left -= len(key.waiting)
	}
	for _, h := range heads {
		if len(chosen) == claimBatch {
			more = true
			break
		}
		if counts.all >= w.options.Pool {
			break
		}
		if key := w.queueOf(h.Key); w.hasRoom(counts, key, h.Group) {
			key.group = h.Group
			chosen = append(chosen, h)
			w.reserveSlots(h.Group, 1)
			counts.countAttempt(key.speed, h.Group)
			if n := min(w.prefetchLimit(key)-len(key.waiting)-1, left); n > 0 {
				room[h.Key] = n
			}
		}
	}
	for key, n := range room {
		room[key] = min(n, claimBatch/len(chosen))
	}
	return chosen, room, more
}

func (w *Worker[T]) hasRoom(counts runningCounts, key *keyQueue[T], group string) bool {
	o := w.options
	grouped := group != "" && o.GroupShare > 0
	if grouped && counts.group[group] >= o.GroupShare {
		return false
	}
	if key.speed == fast {
		return key.running < o.Share && len(key.waiting) == 0 || key.running > 0 &&
			len(key.waiting) <= w.prefetchLimit(key)/2
	}
	if grouped && (counts.groupNotFast[group] >= max(o.GroupShare-QuarterOf(o.GroupShare), 1) || key.speed == slow &&
		counts.groupSlow[group] >= QuarterOf(o.GroupShare)) {
		return false
	}
	return key.running+len(key.waiting) == 0 && counts.notFast < max(o.Pool/2, 1) &&
		(key.speed != slow || counts.slow < QuarterOf(o.Pool))
}

// QuarterOf returns the part of a share that slow keys may take, at least 1.
func QuarterOf(n int) int { return max(n/4, 1) }

// maxQueueTime is how long a row should wait in a queue at most.
const maxQueueTime = 4 * time.Second

// prefetchLimit is how many rows of a key may wait in its queue: for a fast key, as many as it
// should finish within maxQueueTime.
func (w *Worker[T]) prefetchLimit(key *keyQueue[T]) int {
	if w.batcher == nil || key.speed != fast {
		return 0
	}
	each := max(key.took, time.Millisecond) / time.Duration(w.options.Share)
	return int(min(max(maxQueueTime/max(each, 1), 1), maxPrefetch))
}

// queueOf returns the queue of a key. The lock is held.
func (w *Worker[T]) queueOf(key string) *keyQueue[T] {
	if found := w.queues[key]; found != nil {
		return found
	}
	if len(w.queues) >= maxKeys {
		for name, other := range w.queues { // any idle one: it only holds a speed
			if other.running == 0 && len(other.waiting) == 0 {
				delete(w.queues, name)
			}
			if len(w.queues) < maxKeys/2 {
				break
			}
		}
	}
	made := &keyQueue[T]{}
	w.queues[key] = made
	return made
}
