package auth

import "context"

// NewHashQueue makes a queue with so many slots. lanes is how many of its lanes are in use.
func NewHashQueue(slots int) (do func(ctx context.Context, user int64, work func() error) error, lanes func() int) {
	q := newHashQueue(slots, nil)
	return q.runInSlot, func() int { return len(q.lanes) }
}

// BlockLane lets no request through a user's lane, or through the anonymous one with 0,
// until unblock is called.
func (s *Service) BlockLane(user int64) (unblock func()) {
	head, leave := s.hashing.enterLane(user)
	head <- struct{}{}
	return func() { <-head; leave() }
}

// DummyHash is what the passwords of unknown e-mails are compared with.
func (s *Service) DummyHash() string { return dummyHash(s.Cost) }

// AfterHash calls f after each work that was done in a slot; nil for nothing.
func (s *Service) AfterHash(f func()) { s.hashing.collect = f }
