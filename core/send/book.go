package send

import (
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// bookSend posts where the send's money is.
func (s *store) bookSend(tx *models.Tx, v *View, out Outcome) error {
	row := &v.Send
	var moves []journal.SendMove
	move := func(from, to journal.Account, amount money.Amount, value int64) {
		moves = append(moves, journal.SendMove{Send: *row, From: from, To: to, Amount: amount, Value: value, At: v.Now,
			Zone: v.Business.TimeZone})
	}
	from, to := journal.Account(row.Booked), journal.Nowhere
	switch {
	case out.State == Processing:
		to = journal.InFlight
	case out.State == Successful && !out.Reversed:
		var err error
		if to, err = s.findAccount(tx, *row); err != nil {
			return err
		}
	}
	if from != to {
		if from == journal.Nowhere {
			move(journal.Wallet, journal.InFlight, row.Amount, row.Value)
		} else if from != journal.InFlight {
			move(from, journal.InFlight, row.Amount, row.Value)
		}
		if to == journal.Nowhere {
			move(journal.InFlight, journal.Wallet, row.Amount, row.Value)
		} else if to != journal.InFlight {
			move(journal.InFlight, to, row.Amount, row.Value)
		}
	}
	twice := row.Amount.MulDiv(int64(len(out.Extra)), 1)
	if more := twice.Sub(row.BookedTwice); more.Sign() > 0 {
		move(journal.Wallet, journal.PaidTwice, more, 0)
	} else if more.Sign() < 0 {
		move(journal.PaidTwice, journal.Wallet, more.Abs(), 0)
	}
	row.Booked, row.BookedTwice = string(to), twice
	return journal.PostSends(tx, s.Clock(), moves)
}

// findAccount returns the account that a completed send is booked in.
func (s *store) findAccount(tx *models.Tx, row models.Send) (journal.Account, error) {
	switch {
	case row.Kind == Payout:
		return journal.Payouts, nil
	case row.TransferID != nil:
		return journal.Unmatched, nil
	}
	var status string
	err := tx.Model(&models.Payment{}).Where("id = ?", *row.PaymentID).Pluck("status", &status).Error
	if status == string(payment.Declined) {
		return journal.Declined, err
	}
	return journal.Refunds, err
}
