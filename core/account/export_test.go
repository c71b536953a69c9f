package account

import "context"

// NewLine lets tests see in which order a line lets in, and how many doors it holds.
func NewLine() (do func(ctx context.Context, user int64, work func() error) error, doors func() int) {
	l := newLine()
	return l.do, func() int { return len(l.doors) }
}

// ShutDoor lets nobody hash who comes by a user's door, or by that of strangers with 0,
// until it is opened again.
func (s *Service) ShutDoor(user int64) (open func()) {
	way, gone := s.hashing.come(user)
	way <- struct{}{}
	return func() { <-way; gone() }
}
