package observe

import (
	"context"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/payment"
	"cointill/core/send"
	"cointill/models"
)

// awaitedFor is how long a payment is awaited from when its customer opened it, and before a time limit of it ends. It
// is far longer than the time to pay, and shorter than the day after which a payment without money is abandoned.
const awaitedFor = time.Hour

// IsAwaited reports whether a payment or a send may soon change by what a network shows: a payment that a customer
// may pay now, money that isn't final, or a send that a wallet may sign. Late money and surplus are not awaited. The
// cost doesn't grow with the tables.
func (o *Observer) IsAwaited(ctx context.Context, network chain.Network) (bool, error) {
	db, now := o.DB.Read(ctx), o.Clock()
	soon, opened := now.Add(awaitedFor), now.Add(payment.Monitoring-awaitedFor)
	const (
		dueSoon   = "network = ? AND due_read IS NOT NULL AND due_read <= ?"
		dueLate   = "network = ? AND due_read IS NOT NULL AND due_read >= ?" // a day after it was opened
		dueHeight = "network = ? AND due_height IS NOT NULL"
	)
	for _, query := range []*gorm.DB{
		db.Model(&models.Payment{}).Where(dueSoon, string(network), soon),
		db.Model(&models.Payment{}).Where(dueLate, string(network), opened),
		db.Model(&models.PaymentNetwork{}).Where(dueSoon, string(network), soon),
		db.Model(&models.PaymentNetwork{}).Where(dueLate, string(network), opened),
		db.Model(&models.Payment{}).Where(dueHeight, string(network)),
		db.Model(&models.PaymentNetwork{}).Where(dueHeight, string(network)),
		db.Model(&models.Transfer{}).Where("network = ? AND height IS NULL AND NOT gone", string(network)),
		db.Model(&models.Send{}).Where(dueHeight, string(network)),
		db.Model(&models.Send{}).Where("network = ? AND due_at IS NOT NULL AND status = ?", string(network), send.Ready),
	} {
		var found []int
		if err := query.Select("1").Limit(1).Find(&found).Error; err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
