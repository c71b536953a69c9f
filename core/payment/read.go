package payment

import (
	"context"
	"time"

	"cointill/models"
)

// unfollowedGrace is how long a network may be left out of the configuration, beyond a
// payment's deadline, before the payment is decided by what is known of it: nobody
// will read more. A network that is followed, and only out, is waited for without end.
const unfollowedGrace = 7 * 24 * time.Hour

// readUntil is the moment until which a payment's network was read, on the payment's
// own clock; read is what was written of that.
func (s *Service) readUntil(v View, read *time.Time) (until time.Time) {
	if v.Payment.Advanced > 0 {
		return v.Now // its clock was moved: see advance
	}
	if until = s.countedAsRead(v.Payment.Network); read != nil && read.After(until) {
		until = *read
	}
	return until
}

// countedAsRead is the moment until which a network counts as read whether anybody did or
// not; zero for one that is followed.
func (s *Service) countedAsRead(network string) time.Time {
	if s.Networks.Followed(network) {
		return time.Time{}
	}
	return s.Clock().Add(-unfollowedGrace)
}

// sweepUnfollowed decides payments of networks that nobody follows any more.
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
		if err := s.EvaluateEach(ctx, DueRead, network, until); err != nil {
			return err
		}
	}
	return nil
}
