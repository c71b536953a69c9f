package payment

import (
	"time"

	"cointill/models"
)

// FirstSeenOnClock is when a transfer was first seen by the payment's own clock, and never
// before the page was opened.
func (v *View) FirstSeenOnClock(row models.Transfer) time.Time {
	seen := row.FirstSeenAt.Add(time.Duration(v.Payment.Advanced) * time.Second)
	if v.Payment.OpenedAt != nil && seen.Before(*v.Payment.OpenedAt) {
		seen = *v.Payment.OpenedAt // a block's clock may be behind ours; the address was unknown before
	}
	return seen
}
