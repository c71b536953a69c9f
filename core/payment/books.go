package payment

import (
	"cmp"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
)

// FindAccount returns the place of a transfer in the books, by its payment's state; "" for
// no payment.
func FindAccount(t models.Transfer, state State) journal.Account {
	confirmed, believed := t.IsConfirmed(), t.Unmatched != Unproved && journal.IsBooked(t.Asset, t.Amount)
	left := t.Booked == string(journal.Reversed)
	returned := t.Booked == string(journal.Returned) || left && t.Resolution == Refunded
	switch {
	case returned && (confirmed || !believed):
		return journal.Returned
	case returned, !confirmed && (left || t.Booked == string(journal.Sales)) && t.Unmatched == "":
		return journal.Reversed
	case !confirmed:
		return journal.Nowhere
	case !believed:
		return journal.None
	case t.PaymentID == nil && t.Unmatched == "": // the change of a send
		return journal.None
	case t.Unmatched != "":
		return journal.Unmatched
	case state == Successful:
		return journal.Sales
	case state.Final() && state != Abandoned:
		return journal.Declined
	}
	return journal.Pending
}

// bookTransfers books transfers of a payment where its state puts them.
func bookTransfers(tx *models.Tx, now time.Time, v *View, transfers []models.Transfer) error {
	return journal.MoveTransfers(tx, now, v.listMoves(transfers))
}

// listMoves returns the moves of transfers of the payment to where its state puts them.
func (v *View) listMoves(transfers []models.Transfer) (moves []journal.Move) {
	shares := Shares{}
	for _, t := range transfers {
		if t.Asset == v.Payment.Coin && t.Booked == string(FindAccount(t, v.State())) {
			key := share{v.Payment.ID, journal.Account(t.Booked)}
			shares[key] = shares[key].Add(t.Amount)
		}
	}
	for i := range transfers {
		t := &transfers[i]
		if to := FindAccount(*t, v.State()); string(to) != t.Booked {
			m := v.DescribeMove(t, to, v.Now)
			shares.SetValue(v, &m)
			moves = append(moves, m)
		}
	}
	return moves
}

// Shares are the sums of a payment's transfers in an account, and of its moves to it so far. They make the values
// of these add up to the value of their sum.
type Shares map[share]money.Amount

type share struct {
	payment int64
	to      journal.Account
}

// SetValue gives a move the value of the sum so far, less the value of the sum before it.
func (s Shares) SetValue(v *View, m *journal.Move) {
	if m.Currency == "" {
		return
	}
	key := share{v.Payment.ID, m.To}
	before := s[key]
	s[key] = before.Add(m.Transfer.Amount)
	m.Value = money.CountHundredths(v.Fiat(s[key])) - money.CountHundredths(v.Fiat(before))
}

// FindMove returns the move of one of the payment's transfers to where its state puts it. at is by the
// machine's clock.
func (v *View) FindMove(t *models.Transfer, at time.Time) journal.Move {
	return v.DescribeMove(t, FindAccount(*t, v.State()), at.Add(ClockAdvance(v.Payment)))
}

// DescribeMove returns the move of one of the payment's transfers, at the locked rate.
func (v *View) DescribeMove(t *models.Transfer, to journal.Account, at time.Time) journal.Move {
	m := journal.Move{Transfer: t, To: to, At: at, Zone: v.Business.TimeZone}
	if t.Asset == v.Payment.Coin {
		m.Currency, m.Value = v.Payment.Currency, money.CountHundredths(v.Fiat(t.Amount))
	}
	if to == journal.Sales {
		m.Due = 100 * v.Payment.Amount
	}
	return m
}

// ReadOwners returns for each transfer a view with what the books need of its payment and its
// business.
func ReadOwners(tx *models.Tx, transfers []models.Transfer) ([]View, error) {
	var ofPayments, ofBusinesses []int64
	for _, t := range transfers {
		if t.PaymentID != nil {
			ofPayments = append(ofPayments, *t.PaymentID)
		}
		ofBusinesses = append(ofBusinesses, t.BusinessID)
	}
	payments, businesses := map[int64]models.Payment{}, map[int64]models.Business{}
	if len(ofPayments) > 0 {
		var rows []models.Payment
		if err := models.Among(tx.Select("id", "status", "currency", "amount", "coin", "due", "advanced", "settled_at",
			"network"), "id", ofPayments).Find(&rows).Error; err != nil {
			return nil, err
		}
		for _, p := range rows {
			payments[p.ID] = p
		}
	}
	var rows []models.Business
	if err := models.Among(tx.Select("id", "time_zone"), "id", ofBusinesses).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, b := range rows {
		businesses[b.ID] = b
	}
	views := make([]View, len(transfers))
	for i, t := range transfers {
		views[i].Business = businesses[t.BusinessID]
		if t.PaymentID != nil {
			views[i].Payment = payments[*t.PaymentID]
		}
	}
	return views, nil
}

// BookRefund books a refund: of a whole transfer, or of a payment.
func BookRefund(tx *models.Tx, now time.Time, r models.Resolution) error {
	t := models.Transfer{BusinessID: r.BusinessID, PaymentID: r.PaymentID}
	if r.TransferID != nil {
		if err := tx.Where("id = ?", *r.TransferID).Take(&t).Error; err != nil {
			return err
		}
	}
	views, err := ReadOwners(tx, []models.Transfer{t})
	if err != nil {
		return err
	}
	v := &views[0]
	if r.TransferID != nil {
		m := v.DescribeMove(&t, journal.Returned, r.CreatedAt)
		m.ResolutionID = &r.ID
		return journal.MoveTransfers(tx, now, []journal.Move{m})
	}
	return v.postRefund(tx, now, r, money.Amount{})
}

// postRefund books a refund of the payment. before is how much was refunded before: the values of all refunds add up
// to the value of their sum.
func (v *View) postRefund(tx *models.Tx, now time.Time, r models.Resolution, before money.Amount) error {
	from := journal.Declined
	if v.State() == Successful {
		from = journal.Refunds
	}
	value := money.CountHundredths(v.Fiat(before.Add(r.Amount))) - money.CountHundredths(v.Fiat(before))
	return journal.PostRefund(tx, now, journal.Refund{Resolution: r,
		Network: cmp.Or(r.Network, v.Payment.Network), From: from,
		Currency: v.Payment.Currency, Value: value, Zone: v.Business.TimeZone})
}
