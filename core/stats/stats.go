// Package stats keeps the figures of an overview: the number of a business's
// payments on a day, their sums and their durations. A payment's transaction
// writes its change to a row of its own, so that no payment waits for another; a
// sweep folds the changes into rows of days. The cost of an overview depends on
// its number of days, not of payments.
package stats

import (
	"math/bits"
	"time"

	"cointill/core/clock"
	"cointill/models"
)

// Reversed is what a payment is counted as that was taken back on the chain
// after it was successful. All other statuses are the states of payments.
const Reversed = "reversed"

// The words of core/payment that decide how a payment is counted.
const (
	successful = "successful"
	byHand     = "accepted_by_user"
)

// Service counts payments.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
}

// none is the bucket of payments whose time isn't counted.
const none = -1

// Standing is how a payment is counted; the zero Standing isn't counted at all.
type Standing struct {
	status string
	wait   int // bucket
}

// StandingOf returns how a payment is counted as it stands.
func StandingOf(p models.Payment) Standing {
	s := Standing{status: p.Status, wait: none}
	if p.Status == successful && p.Reversed {
		s.status = Reversed
	}
	if s.status == successful && p.Reason != byHand && p.SettledAt != nil {
		s.wait = BucketOf(p.SettledAt.Sub(p.CreatedAt))
	}
	return s
}

// NoteChange writes down, in the transaction that changes a payment, that it was
// counted otherwise before.
func NoteChange(tx *models.Tx, before Standing, p models.Payment) error {
	now := StandingOf(p)
	if before.status == "" {
		before.wait = none
	}
	if now == before {
		return nil
	}
	return tx.Create(&models.TallyChange{BusinessID: p.BusinessID, Domain: p.Domain, PaymentAt: p.CreatedAt,
		Currency: p.Currency, Method: p.Method,
		Amount: p.Amount, From: before.status, To: now.status, FromWait: before.wait, ToWait: now.wait}).Error
}

// fine is how many buckets there are for each doubling of a time: each is at most
// a sixteenth wide, so that a median is right to a few percent.
const fine = 16

// BucketOf returns the bucket that a time is counted in: exactly below 32 seconds,
// coarser above.
func BucketOf(took time.Duration) int {
	seconds := uint64(max(took, 0) / time.Second)
	if seconds < 2*fine {
		return int(seconds)
	}
	shift := bits.Len64(seconds) - bits.Len64(2*fine-1)
	return shift*fine + int(seconds>>shift)
}

// BucketMiddle returns the middle of a bucket.
func BucketMiddle(bucket int) time.Duration {
	if bucket < 2*fine {
		return time.Duration(max(bucket, 0)) * time.Second
	}
	shift := bucket/fine - 1
	least := time.Duration(bucket-shift*fine) << shift
	return least*time.Second + (time.Second<<shift)/2
}

// dayOf is the day of a time in a zone.
func dayOf(at time.Time, zone *time.Location) string { return at.In(zone).Format(time.DateOnly) }
