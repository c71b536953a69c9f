package payment

import (
	"context"
	"time"

	"cointill/models"
)

// unfollowedGrace is how long after a payment's deadline its network may be missing in the
// configuration. Then the payment is decided by the known transfers, because no process will
// read more. A network that is configured and down is waited for without a limit.
const unfollowedGrace = 7 * 24 * time.Hour

// readUntil returns the time up to which a network of a payment was read, on the payment's own
// clock. read is the stored time.
func (s *Service) readUntil(v View, network string, read *time.Time) (until time.Time) {
	if v.Payment.Advanced > 0 {
		return v.Now // its clock was moved: see advance
	}
	if until = s.countedAsRead(network); read != nil && read.After(until) {
		until = *read
	}
	return until
}

// countedAsRead returns the time up to which a network counts as read without being read; zero
// for one that is followed.
func (s *Service) countedAsRead(network string) time.Time {
	if s.Networks.Followed(network) {
		return time.Time{}
	}
	return s.Clock().Add(-unfollowedGrace)
}

// sweepUnfollowed decides due payments of networks that are not followed any more.
func (s *Service) sweepUnfollowed(ctx context.Context) error {
	var networks []string // a handful
	if err := s.DB.Read(ctx).Model(&models.ChainCursor{}).Pluck("network", &networks).Error; err != nil {
		return err
	}
	for _, network := range networks {
		until := s.countedAsRead(network)
		if until.IsZero() {
			continue
		}
		if err := evaluateRead(ctx, s, network, until); err != nil {
			return err
		}
	}
	return nil
}
