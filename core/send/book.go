package send

import (
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/send/fees"
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
	case out.State == Successful && !out.Reversed && row.AnotherWayAt == nil:
		var err error
		if to, err = s.findAccount(tx, *row); err != nil {
			return err
		}
	}
	if from != to { // a move from an account to itself is left out
		move(placeOf(from), journal.InFlight, row.Amount, row.Value)
		move(journal.InFlight, placeOf(to), row.Amount, row.Value)
	}
	moveMore := func(to journal.Account, more money.Amount) {
		from := journal.Wallet
		if more.Sign() < 0 {
			from, to = to, from
		}
		move(from, to, more.Abs(), 0)
	}
	twice := row.Amount.MulDiv(int64(len(out.Extra)), 1)
	moveMore(journal.PaidTwice, twice.Sub(row.BookedTwice))
	fee, err := fees.Sum(tx, *row, v.listFinal())
	if err != nil {
		return err
	}
	moveMore(journal.NetworkFees, fee.Sub(row.BookedFee))
	row.Booked, row.BookedTwice, row.BookedFee = string(to), twice, fee
	return journal.PostSends(tx, s.Clock(), moves)
}

// listFinal returns the send's transfers whose blocks are final, with those that the network recorded as failed.
func (v *View) listFinal() (final []models.Transfer) {
	c := v.decideCase()
	for _, t := range v.Transfers {
		if !t.Gone && t.Height != nil && c.isDeep(*t.Height, v.Chain) {
			final = append(final, t)
		}
	}
	return final
}

// placeOf returns the account that holds the money of a send which is booked in an account; the wallet for none.
func placeOf(booked journal.Account) journal.Account {
	if booked == journal.Nowhere {
		return journal.Wallet
	}
	return booked
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
