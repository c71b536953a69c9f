package auth

import "context"

// NewLine lets tests see in which order a line of so many places lets in, and how many doors it holds.
func NewLine(places int) (do func(ctx context.Context, user int64, work func() error) error, doors func() int) {
	l := newLine(places, nil)
	return l.do, func() int { return len(l.doors) }
}

// ShutDoor lets nobody hash who comes by a user's door, or by that of strangers with 0,
// until it is opened again.
func (s *Service) ShutDoor(user int64) (open func()) {
	way, gone := s.hashing.come(user)
	way <- struct{}{}
	return func() { <-way; gone() }
}

// DummyHash is what the passwords of unknown e-mails are compared with.
func (s *Service) DummyHash() string { return dummyHash(s.Cost) }

// AfterHash calls f after each work that was done in a place to hash; nil for nothing.
func (s *Service) AfterHash(f func()) { s.hashing.collect = f }
