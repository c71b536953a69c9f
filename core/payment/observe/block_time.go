package observe

import (
	"time"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/models"
)

// adjustToBlockTime gives a transfer its block's time where that is earlier. A node that lags
// may show a transfer as waiting after a block has confirmed it.
func (u *paymentUpdates) adjustToBlockTime(row *models.Transfer, block *chain.Header) error {
	if !block.Time.Before(row.FirstSeenAt) {
		return nil
	}
	row.FirstSeenAt = block.Time.UTC().Truncate(time.Microsecond)
	if row.PaymentID == nil || row.SeenAt == nil {
		return nil
	}
	n, err := u.loadUpdate(*row.PaymentID)
	if err != nil {
		return err
	}
	seen := n.FirstSeenOnClock(*row)
	if !seen.Before(*row.SeenAt) {
		return nil
	}
	row.SeenAt = &seen
	if row.Unmatched != "" || payment.TakesNoTransfers(n.View) || !seen.Before(*n.Payment.FirstSeenAt) {
		return nil
	}
	n.Payment.FirstSeenAt = &seen
	return u.tx.Model(&models.Payment{}).Where("id = ?", n.Payment.ID).Update("first_seen_at", seen).Error
}
