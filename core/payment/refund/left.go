package refund

import (
	"cointill/core/money"
	"cointill/models"
)

// Sends of these states take no money (core/send), nor do reversed ones of these reasons, which cannot return.
var releasedSends, lostSends = []string{"rejected", "cancelled", "expired"}, []string{"replaced", "reverted"}

// CountLeft returns how much of a payment's final money is neither refunded nor to be refunded
// by an open send. The payment's row must be locked.
func CountLeft(tx *models.Tx, p models.Payment) (left money.Amount, err error) {
	refunds, err := List(tx, p.ID)
	if err != nil {
		return left, err
	}
	sent, err := sumSends(tx.Where("payment_id = ? AND transfer_id IS NULL", p.ID))
	for _, r := range refunds {
		sent = sent.Add(r.Amount)
	}
	return p.Paid.Sub(sent), err
}

// Share is the part of a refund that is of money on one network.
type Share struct {
	Network string
	Amount  money.Amount
}

// Split divides a refund among the networks on which the payment's money is held, in their order. What the books hold
// nowhere is of the first.
func Split(amount money.Amount, networks []string, held map[string]money.Amount) (shares []Share) {
	for _, network := range networks {
		part := held[network]
		if part.Cmp(amount) > 0 {
			part = amount
		}
		if part.Sign() > 0 {
			shares, amount = append(shares, Share{network, part}), amount.Sub(part)
		}
	}
	if amount.Sign() > 0 {
		shares = append(shares, Share{networks[0], amount})
	}
	return shares
}

// CountLeftOfTransfer returns how much of an unmatched transfer no open or completed send refunds.
func CountLeftOfTransfer(tx *models.Tx, t models.Transfer) (left money.Amount, err error) {
	sent, err := sumSends(tx.Where("transfer_id = ?", t.ID))
	return t.Amount.Sub(sent), err
}

// List lists the recorded refunds of a payment, oldest first.
func List(tx *models.Tx, paymentID int64) (rows []models.Resolution, err error) {
	err = Select(tx).Where("payment_id = ?", paymentID).Find(&rows).Error
	return rows, err
}

// Select limits a query for decisions about payments to refunds, oldest first. The others attached a
// transfer.
func Select(tx *models.Tx) *models.Tx { return tx.Where("transfer_id IS NULL").Order("id") }

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

// SumSent returns how much of unmatched transfers completed sends refunded, by the payment that each came to. transfers
// selects their numbers. Payments without any are left out.
func SumSent(tx, transfers *models.Tx) (map[int64]money.Amount, error) {
	var rows []struct {
		PaymentID int64
		Sum       models.AmountSum
	}
	query := tx.Model(&models.Send{}).Where("transfer_id IN (?) AND payment_id IS NOT NULL", transfers).
		Where("status = 'successful' AND NOT reversed").Group("payment_id")
	err := models.Select(query, "payment_id, "+models.SumAmounts(tx, "amount")+" AS sum").Find(&rows).Error
	sums := make(map[int64]money.Amount, len(rows))
	for _, r := range rows {
		sums[r.PaymentID] = r.Sum.Amount
	}
	return sums, err
}

// SelectSent limits a query for sends to those that count as refunded: completed ones of a payment's own money.
// Those that were sent in another way are left out, as no chain has shown them.
func SelectSent(tx *models.Tx) *models.Tx {
	return tx.Where("sends.status = 'successful' AND sends.transfer_id IS NULL AND NOT sends.reversed " +
		"AND sends.another_way_at IS NULL")
}
