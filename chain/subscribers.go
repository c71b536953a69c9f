package chain

import "sync"

// Subscribers are the functions that a source calls when there may be something new on its network, such as a
// follower's Wake. They are safe for concurrent use. The zero Subscribers are none.
type Subscribers struct {
	mu   sync.Mutex
	all  map[int]func() // by number
	last int            // number of the last one that was added
}

// Notify adds a function, which is called until stop is. It must not block.
func (s *Subscribers) Notify(wake func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int]func(){}
	}
	s.last++
	number := s.last
	s.all[number] = wake
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, number)
	}
}

// Wake calls every function that Notify added.
func (s *Subscribers) Wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, wake := range s.all {
		wake()
	}
}
