package payment

import (
	"maps"
	"slices"

	"cointill/core/money"
	"cointill/core/payment/timeline"
	"cointill/models"
)

// SendNote is what a payment's timeline says about a completed refund.
type SendNote struct {
	Reference string // SND_…
	Amount    money.Amount
	Coin      money.Coin
	Hash      string
	// AnotherWay says that people say so; there is no hash.
	AnotherWay bool
}

// NoteSend notes a completed refund on a payment, which then needs no decision any more.
func (d *Resolver) NoteSend(tx *models.Tx, id int64, n SendNote) error {
	v, err := d.payments.LoadPayment(tx, id)
	if err != nil {
		return err
	}
	now := d.payments.Clock()
	if v.State() == Declined && v.Payment.ResolvedAt == nil {
		v.Payment.ResolvedAt = &now
	}
	amount := n.Coin.Format(n.Amount) + " " + string(n.Coin)
	remark := amount + " was refunded."
	if n.AnotherWay {
		remark = amount + " was refunded in another way. No transaction is known."
	}
	if err := d.payments.appendStep(tx, v, models.Step{Kind: StepNote, From: v.Payment.Status, To: v.Payment.Status,
		Remark: remark,
		Detail: timeline.WriteDetail(timeline.Sent, map[string]any{"send": n.Reference, "hash": n.Hash, "amount": n.Amount,
			"asset": n.Coin, "another_way": n.AnotherWay})}); err != nil {
		return err
	}
	return d.payments.SavePayment(tx, v)
}

// Sends of these states take no money (core/send), nor do reversed ones of these reasons, which cannot return.
var releasedSends, lostSends = []string{"rejected", "cancelled", "expired"}, []string{string(Replaced), string(Reverted)}

// RefundableOf returns how much of a payment's final money is neither refunded nor to be refunded
// by an open send. The payment's row must be locked.
func RefundableOf(tx *models.Tx, p models.Payment) (left money.Amount, err error) {
	refunds, err := refundsOf(tx, p.ID)
	if err != nil {
		return left, err
	}
	sent, err := sumSends(tx.Where("payment_id = ? AND transfer_id IS NULL", p.ID))
	return p.Paid.Sub(sumRefunds(refunds)).Sub(sent), err
}

// LeftOfTransfer returns how much of an unmatched transfer no open or completed send refunds.
func LeftOfTransfer(tx *models.Tx, t models.Transfer) (left money.Amount, err error) {
	sent, err := sumSends(tx.Where("transfer_id = ?", t.ID))
	return t.Amount.Sub(sent), err
}

// SelectReserving limits a query for sends to those that reserve money: all but released and lost ones.
func SelectReserving(tx *models.Tx) *models.Tx {
	return tx.Where("status NOT IN ? AND NOT (reversed AND reason IN ?)", releasedSends, lostSends)
}

func sumSends(query *models.Tx) (sum money.Amount, err error) {
	var rows []models.Send
	err = SelectReserving(query).Select("amount").Find(&rows).Error
	for _, row := range rows {
		sum = sum.Add(row.Amount)
	}
	return sum, err
}

// SelectSentRefunds limits a query for sends to those that count as refunded: completed ones of a payment's own money.
// Those that were sent in another way are left out, as no chain has shown them.
func SelectSentRefunds(tx *models.Tx) *models.Tx {
	return tx.Where("sends.status = 'successful' AND sends.transfer_id IS NULL AND NOT sends.reversed " +
		"AND sends.another_way_at IS NULL")
}

// MaxSends bounds how many of a payment's sends a record lists, the oldest first.
const MaxSends = 100

// readSends reads the sends of payments. Those that SelectSentRefunds chooses count as refunded.
func readSends(tx *models.Tx, views map[int64]*View) error {
	if len(views) == 0 {
		return nil
	}
	var rows []models.Send
	err := models.Among(tx.Omit("metadata", "note", "quote"), "payment_id",
		slices.Collect(maps.Keys(views))).Order("id").
		Find(&rows).Error
	for _, row := range rows {
		v := views[*row.PaymentID]
		if row.Status == "successful" && row.TransferID == nil && !row.Reversed && row.AnotherWayAt == nil {
			v.Refunded = v.Refunded.Add(row.Amount)
		}
		if len(v.Sends) < MaxSends {
			v.Sends = append(v.Sends, row)
		}
	}
	return err
}
