package outbox

import "time"

// line is what the worker knows of one key.
type line[T any] struct {
	group   string
	running int       // attempts under way
	waiting []held[T] // claimed, not yet begun
	temper  temper    // how its last attempt went
	took    time.Duration
	asked   bool // the worker was woken to claim more of it
}

// temper is how much a key is trusted with: one that is quick may have several
// attempts at once and rows waiting here for their turn; of others one row at a
// time is taken, and all of them together may not fill the pool.
type temper int

const (
	unknown temper = iota // nothing was tried yet
	quick                 // the last attempt was over soon
	slow                  // it was not, or one is under way for long
)

// held is a claimed row with its work.
type held[T any] struct {
	row   T
	work  Work
	until time.Time // begun later it could outlast its lease
}

// attempt is one that is under way.
type attempt struct {
	key, group string
	began      time.Time
}

// load counts attempts under way.
type load struct {
	all, wary, slow int            // wary: all but those of quick keys
	group           map[string]int // of each group
	groupWary       map[string]int
	groupSlow       map[string]int
}

// remembered bounds how many keys the worker keeps in mind.
const remembered = 20_000

// weigh counts what is under way, and calls keys slow that have been at it for
// too long. The lock is held.
func (w *Worker[T]) weigh(now time.Time) load {
	l := load{group: map[string]int{}, groupWary: map[string]int{}, groupSlow: map[string]int{}}
	for a := range w.under {
		key := w.lines[a.key]
		if now.Sub(a.began) >= w.options.Slow {
			key.temper = slow
		}
		l.add(key.temper, a.group)
	}
	return l
}

func (l *load) add(t temper, group string) {
	l.all++
	l.group[group]++
	if t == quick {
		return
	}
	l.wary++
	l.groupWary[group]++
	if t == slow {
		l.slow++
		l.groupSlow[group]++
	}
}

// choose picks the heads whose keys may have another attempt, oldest first: no
// key more than its share, no group more than its own; no more than half of the
// pool, and three quarters of a group, for keys that have not shown that they are
// quick, and a quarter of each for those that are known to be slow: who is new in
// a group must not wait for the timeouts of the others there. room is how many rows
// behind the head quick keys may have; more says that there were others to choose from.
func (w *Worker[T]) choose(heads []place, now time.Time) (chosen []place, room map[string]int, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.weigh(now)
	room = map[string]int{}
	left := mostAhead
	for _, key := range w.lines {
		left -= len(key.waiting)
	}
	for _, h := range heads {
		if len(chosen) == batch {
			more = true
			break
		}
		if l.all >= w.options.Pool {
			break
		}
		if key := w.line(h.Key); w.fits(l, key, h.Group) {
			key.group = h.Group
			chosen = append(chosen, h)
			w.keep(h.Group, 1)
			l.add(key.temper, h.Group)
			if n := min(w.ahead(key)-len(key.waiting)-1, left); n > 0 {
				room[h.Key] = n
			}
		}
	}
	for key, n := range room {
		room[key] = min(n, batch/len(chosen))
	}
	return chosen, room, more
}

func (w *Worker[T]) fits(l load, key *line[T], group string) bool {
	o := w.options
	grouped := group != "" && o.GroupShare > 0
	if grouped && l.group[group] >= o.GroupShare {
		return false
	}
	if key.temper == quick {
		return key.running < o.Share && len(key.waiting) == 0 || key.running > 0 && len(key.waiting) <= w.ahead(key)/2
	}
	if grouped && (l.groupWary[group] >= max(o.GroupShare-Quarter(o.GroupShare), 1) || key.temper == slow && l.groupSlow[group] >= Quarter(o.GroupShare)) {
		return false
	}
	return key.running+len(key.waiting) == 0 && l.wary < max(o.Pool/2, 1) && (key.temper != slow || l.slow < Quarter(o.Pool))
}

// Quarter is the part of a share that keys may take which are known to be slow; never nothing.
func Quarter(n int) int { return max(n/4, 1) }

// turn is how long a row should at most wait here.
const turn = 4 * time.Second

// ahead is how many rows of a key may wait here for their turn: of a quick one
// as many as it should soon be through with.
func (w *Worker[T]) ahead(key *line[T]) int {
	if w.batcher == nil || key.temper != quick {
		return 0
	}
	each := max(key.took, time.Millisecond) / time.Duration(w.options.Share)
	return int(min(max(turn/max(each, 1), 1), ahead))
}

// line is what is known of a key. The lock is held.
func (w *Worker[T]) line(key string) *line[T] {
	if found := w.lines[key]; found != nil {
		return found
	}
	if len(w.lines) >= remembered {
		for name, other := range w.lines { // any will do: it is only a memory
			if other.running == 0 && len(other.waiting) == 0 {
				delete(w.lines, name)
			}
			if len(w.lines) < remembered/2 {
				break
			}
		}
	}
	made := &line[T]{}
	w.lines[key] = made
	return made
}
