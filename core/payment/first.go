package payment

import (
	"time"

	"cointill/chain"
	"cointill/models"
)

// firstSeenOnClock is when a transfer was first seen by the payment's own clock, and never
// before the page was opened.
func (v *View) firstSeenOnClock(row models.Transfer) time.Time {
	seen := row.FirstSeenAt.Add(time.Duration(v.Payment.Advanced) * time.Second)
	if v.Payment.OpenedAt != nil && seen.Before(*v.Payment.OpenedAt) {
		seen = *v.Payment.OpenedAt // a block's clock may be behind ours; nobody knew the address before
	}
	return seen
}

// adjustToBlockTime gives a transfer its block's time where that is earlier: a node that is
// behind may show as waiting what was in a block before anybody saw it.
func (a *applying) adjustToBlockTime(row *models.Transfer, block *chain.Header) error {
	if !block.Time.Before(row.FirstSeenAt) {
		return nil
	}
	row.FirstSeenAt = block.Time.UTC().Truncate(time.Microsecond)
	if row.PaymentID == nil || row.SeenAt == nil {
		return nil
	}
	n, err := a.loadUpdate(*row.PaymentID)
	if err != nil {
		return err
	}
	seen := n.firstSeenOnClock(*row)
	if !seen.Before(*row.SeenAt) {
		return nil
	}
	row.SeenAt = &seen
	if takesNoTransfers(n.View) || n.Payment.FirstSeenAt == nil || !seen.Before(*n.Payment.FirstSeenAt) {
		return nil
	}
	n.Payment.FirstSeenAt = &seen
	return a.tx.Model(&models.Payment{}).Where("id = ?", n.Payment.ID).Update("first_seen_at", seen).Error
}
