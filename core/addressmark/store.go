package addressmark

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Store keeps marks in several folders: a mark is written to all of them, and the highest
// counts. It may be used by many goroutines, and a folder by many processes, except on systems without flock.
type Store struct {
	places []*place

	mu    sync.Mutex
	known map[Key]reservation
}

// reservation is the highest mark that this process knows of a key.
type reservation struct {
	next int64
	// unused says that the index below it was reserved by this process and certainly not
	// given out, so that it may be reserved again.
	unused bool
}

// timeout is how long an operation on one folder may take. A transaction waits for it, which
// PostgreSQL ends after five seconds without a statement.
const timeout = 2 * time.Second

// New makes a store of marks in folders, which need not be there yet. Nothing is written
// before a mark is.
func New(folders ...string) *Store {
	s := &Store{known: map[Key]reservation{}}
	for _, folder := range folders {
		s.places = append(s.places, &place{folder: folder, timeout: timeout, files: map[string]string{}})
	}
	return s
}

// AheadError is the refusal of an index that may have been given out before. Next is the
// lowest one that was not.
type AheadError struct{ Next int64 }

// Error implements error.
func (e *AheadError) Error() string {
	return fmt.Sprintf("the address mark says that addresses below index %d were given out", e.Next)
}

// Reserve records an index as given out, durably in one folder at least, before a customer
// sees it. It returns an AheadError when any process that uses one of the folders reserved the
// index, or a higher one, before. Any other error means that no folder could keep the mark. An
// index may be given out only after nil.
func (s *Store) Reserve(k Key, index int64) error {
	again, ahead := s.claimIndex(k, index)
	if ahead != nil {
		if next, err := s.Next(k); err == nil { // others may have gone further
			ahead.Next = next
		}
		return ahead
	}
	outcomes := s.updateAll(k, func(held int64) (int64, bool) {
		if held > index && !(again && held == index+1) {
			return held, false
		}
		return index + 1, true
	})
	var problems []error
	kept, highest := false, int64(0)
	for _, o := range outcomes {
		switch {
		case o.err != nil:
			problems = append(problems, o.err)
		case o.wrote:
			kept = true
		default:
			highest = max(highest, o.held)
		}
	}
	if highest > 0 {
		s.rememberReservation(k, reservation{next: highest})
		return &AheadError{Next: highest}
	}
	s.rememberReservation(k, reservation{next: index + 1, unused: !kept})
	if !kept {
		return fmt.Errorf("the address mark can't be kept in any folder: %w", errors.Join(problems...))
	}
	return nil
}

// Release says that a reserved index was certainly not given out, as the transaction was
// rolled back: this process may reserve it again. For all others it stays given out.
func (s *Store) Release(k Key, index int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[k].next == index+1 {
		s.known[k] = reservation{next: index + 1, unused: true}
	}
}

// Next is the lowest index of a key that was not given out as far as the marks say, 0
// where there is none. It is an error when no folder can be read.
func (s *Store) Next(k Key) (int64, error) {
	return s.raiseToHighest(k, func(held int64) (int64, bool) { return held, false })
}

// Raise brings the mark up to an index, unless it is beyond it, in every folder. It gives
// the mark after that, and is an error when no folder could keep it.
func (s *Store) Raise(k Key, next int64) (int64, error) {
	return s.raiseToHighest(k, func(held int64) (int64, bool) { return max(held, next), held < next })
}

// raiseToHighest changes a key's mark and gives the highest after that.
func (s *Store) raiseToHighest(k Key, decide change) (int64, error) {
	highest, works := int64(0), false
	var problems []error
	for _, o := range s.updateAll(k, decide) {
		problems = append(problems, o.err)
		works = works || o.err == nil
		highest = max(highest, o.held)
	}
	if !works {
		return 0, fmt.Errorf("the address mark can't be read in any folder: %w", errors.Join(problems...))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if highest > s.known[k].next {
		s.known[k] = reservation{next: highest}
	}
	return s.known[k].next, nil
}

// updateAll changes a key's mark in all folders at once.
func (s *Store) updateAll(k Key, decide change) []outcome {
	outcomes := make([]outcome, len(s.places))
	var all sync.WaitGroup
	for i, p := range s.places {
		all.Go(func() { outcomes[i] = p.updateMark(k, decide) })
	}
	all.Wait()
	return outcomes
}

// claimIndex refuses an index that this process knows to be given out, also when its file was
// removed since. again says that it is one that was reserved, and released.
func (s *Store) claimIndex(k Key, index int64) (again bool, ahead *AheadError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.known[k]
	again = before.unused && index == before.next-1
	if again {
		s.known[k] = reservation{next: before.next} // for one caller only
	} else if index < before.next {
		return false, &AheadError{Next: before.next}
	}
	return again, nil
}

func (s *Store) rememberReservation(k Key, r reservation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.next >= s.known[k].next {
		s.known[k] = r
	}
}

// Status is how one folder does.
type Status struct {
	Folder string
	// Problems are sentences, one for each problem of the folder or of a file in it.
	Problems []string
}

// Status returns the state of every folder after its last operations.
func (s *Store) Status() []Status {
	var list []Status
	for _, p := range s.places {
		list = append(list, p.placeStatus())
	}
	return list
}

// mostShown bounds how many files with problems of their own are named.
const mostShown = 5

func (p *place) placeStatus() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	status := Status{Folder: p.folder}
	if p.problem != "" {
		status.Problems = append(status.Problems, p.problem)
	}
	names := slices.Sorted(maps.Keys(p.files))
	for _, name := range names[:min(len(names), mostShown)] {
		status.Problems = append(status.Problems, name+": "+p.files[name])
	}
	return status
}
