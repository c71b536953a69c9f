package account

import "context"

// NewLine lets tests see in which order a line lets in.
func NewLine() func(ctx context.Context, known bool, work func() error) error { return newLine().do }

// ShutDoor lets no stranger hash until it is opened again.
func (s *Service) ShutDoor() (open func()) {
	s.hashing.door <- struct{}{}
	return func() { <-s.hashing.door }
}
