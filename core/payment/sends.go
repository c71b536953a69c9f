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

// MaxSends bounds how many of a payment's sends a record lists, the oldest first.
const MaxSends = 100

// readSends reads the sends of payments. Those that refund.SelectSent chooses count as refunded.
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
