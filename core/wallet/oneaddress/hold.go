package oneaddress

import (
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/models"
)

const (
	// HoldTime is for how long an amount stays a payment's after the payment's end.
	HoldTime = 7 * 24 * time.Hour
	// ShortHoldTime is the same while no other amount is free.
	ShortHoldTime = 24 * time.Hour
	// shareTime is for how long an amount that nothing was paid for counts as its client's: until the payment ends, and
	// ShortHoldTime after.
	shareTime = 48 * time.Hour
	// clientShare is which part of the amounts near one amount due a client may hold without paying, but never fewer
	// than leastShare. It is not less, as many customers of a mobile network share one internet address.
	clientShare, leastShare = 4, 5
	// clockSlack is by how much a block's time may be before our clock's.
	clockSlack = 15 * time.Minute
	// readAtOnce is how many amounts one query looks up.
	readAtOnce = 250
)

// ErrUsedUp refuses to open a payment that finds no free amount, or whose client holds too many.
var ErrUsedUp = fault.Retry("amounts_used_up", time.Hour,
	"Too many payments of about this amount are open with this merchant, "+
		"so another one could not be told apart from them. Choose another way to pay, or try again later.")

// ErrTooSmall refuses to open a payment whose amount is so small that no other amount is near it.
var ErrTooSmall = fault.New(fault.Conflict, "amount_too_small_for_one_address",
	"This amount is so small that it could not be told apart from other payments to the merchant's one address. "+
		"Choose another way to pay, or a larger amount.")

// Address is where amounts are held: an address under its home network, and the wallet that it was entered as.
type Address struct {
	Network, Text string
	Wallet        int64
}

// holder is a held amount with its payment, as it is now.
type holder struct {
	Amount    money.Amount
	PaymentID int64
	SettledAt *time.Time // nil while the payment is open
}

// Hold gives a payment the lowest amount that is free at each of some addresses and isn't below its amount due, in the
// caller's transaction, which has locked the addresses' wallets. An amount is free when no payment holds it, or the one
// that did ended more than HoldTime ago. When none is free, it is the amount whose payment ended first, more than
// ShortHoldTime ago. short reports that few amounts are left. client is who opens the payment, "" for the business
// itself.
//
// Faults: ErrTooSmall for an amount that has no others near it; ErrUsedUp when none is free, or the client holds its
// share without having paid.
func Hold(tx *models.Tx, at []Address, p *models.Payment, client string, now time.Time) (amount money.Amount,
	short bool, err error) {
	near := ListAmounts(money.Coin(p.Coin), p.Due)
	if len(near) == 0 {
		return amount, false, ErrTooSmall
	}
	list, err := orderAmounts(tx, near)
	if err != nil {
		return amount, false, err
	}
	rows := make([]models.HeldAmount, len(at))
	for n, one := range at {
		rows[n] = one.newRow(p, client, now)
		if err := checkShare(tx, rows[n], near); err != nil {
			return amount, false, err
		}
	}
	first := choice{ended: now.Add(-ShortHoldTime)} // of the payment that ended first
	for from := 0; from < len(list); from += readAtOnce {
		part := list[from:min(from+readAtOnce, len(list))]
		held := make([]map[string]holder, len(rows))
		for n, row := range rows {
			if held[n], err = readHolders(tx, row, part); err != nil {
				return amount, false, err
			}
		}
		for i, one := range part {
			c, ended := combineHolders(one, held)
			switch {
			case !ended:
			case c.ended.Before(now.Add(-HoldTime)):
				return one, 4*(from+i) >= 3*len(list), takeAmount(tx, rows, c)
			case c.ended.Before(first.ended):
				first = c
			}
		}
	}
	if first.former == nil {
		return amount, false, ErrUsedUp
	}
	return first.amount, true, takeAmount(tx, rows, first)
}

// choice is an amount that can be taken: who had it at each address, 0 for none, and when the last of these ended.
type choice struct {
	amount money.Amount
	former []int64
	ended  time.Time
}

// combineHolders returns an amount as it is held at all addresses; false while an open payment holds it at one of them.
func combineHolders(amount money.Amount, held []map[string]holder) (c choice, ended bool) {
	c = choice{amount: amount, former: make([]int64, len(held))}
	for n := range held {
		h, known := held[n][amount.String()]
		switch {
		case !known:
			continue
		case h.SettledAt == nil:
			return c, false
		case h.SettledAt.After(c.ended):
			c.ended = *h.SettledAt
		}
		c.former[n] = h.PaymentID
	}
	return c, true
}

// newRow makes the row of an amount that a payment holds at an address. The amount itself is set later.
func (a Address) newRow(p *models.Payment, client string, now time.Time) models.HeldAmount {
	return models.HeldAmount{Network: a.Network, Address: a.Text, Asset: p.Coin, PaymentID: p.ID, WalletID: a.Wallet,
		Client: client, HeldAt: now}
}

// IsHeld reports whether a payment holds its amount due at an address.
func IsHeld(tx *models.Tx, at Address, p models.Payment) (bool, error) {
	var found []int64
	err := tx.Model(&models.HeldAmount{}).Where("network = ? AND address = ? AND asset = ?", at.Network, at.Text, p.Coin).
		Where("amount = ? AND payment_id = ?", p.Due, p.ID).Limit(1).Pluck("payment_id", &found).Error
	return len(found) > 0, err
}

// checkShare refuses a client that holds its share of the amounts that a payment can be given, so that a stranger who
// opens payments and pays none leaves most amounts to others. near are these amounts, the lowest first. They are compared
// as numbers of seven digits, which is finer than their range.
func checkShare(tx *models.Tx, row models.HeldAmount, near []money.Amount) error {
	if row.Client == "" {
		return nil
	}
	most := max(len(near)/clientShare, leastShare)
	var unpaid []int64
	err := tx.Model(&models.HeldAmount{}).Joins("JOIN payments ON payments.id = held_amounts.payment_id").
		Where("held_amounts.network = ? AND held_amounts.address = ?", row.Network, row.Address).
		Where("held_amounts.asset = ? AND held_amounts.client = ?", row.Asset, row.Client).
		Where("held_amounts.held_at > ? AND payments.first_seen_at IS NULL", row.HeldAt.Add(-shareTime)).
		Where("CAST(held_amounts.amount AS REAL) BETWEEN CAST(? AS REAL) AND CAST(? AS REAL)", near[0].String(),
			near[len(near)-1].String()).
		Limit(most).Pluck("held_amounts.payment_id", &unpaid).Error
	if err == nil && len(unpaid) == most {
		err = ErrUsedUp
	}
	return err
}

// orderAmounts has the search begin further up in a restored database: amounts that were held since the backup was
// made are unknown there, and the lowest ones are the likeliest.
func orderAmounts(tx *models.Tx, list []money.Amount) ([]money.Amount, error) {
	left, err := models.LeftOut(tx)
	if err != nil || left == 0 {
		return list, err
	}
	skipped := min(int(min(left, maxAmounts)), len(list)/2)
	return slices.Concat(list[skipped:], list[:skipped]), nil
}

// readHolders reads who holds some amounts, by amount.
func readHolders(tx *models.Tx, at models.HeldAmount, amounts []money.Amount) (map[string]holder, error) {
	var rows []holder
	err := tx.Model(&models.HeldAmount{}).Select("held_amounts.amount, held_amounts.payment_id, payments.settled_at").
		Joins("JOIN payments ON payments.id = held_amounts.payment_id").
		Where("held_amounts.network = ? AND held_amounts.address = ?", at.Network, at.Address).
		Where("held_amounts.asset = ? AND held_amounts.amount IN ?", at.Asset, amounts).Find(&rows).Error
	held := make(map[string]holder, len(rows))
	for _, row := range rows {
		held[row.Amount.String()] = row
	}
	return held, err
}

// takeAmount gives an amount to a payment at each address. The lock of the wallets keeps others from taking it since it
// was read.
func takeAmount(tx *models.Tx, rows []models.HeldAmount, c choice) error {
	for n, row := range rows {
		row.Amount = c.amount
		made := tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "network"}, {Name: "address"}, {Name: "asset"}, {Name: "amount"}},
			DoUpdates: clause.AssignmentColumns([]string{"payment_id", "wallet_id", "client", "held_at"}),
			Where: clause.Where{Exprs: []clause.Expression{clause.Eq{
				Column: clause.Column{Table: "held_amounts", Name: "payment_id"}, Value: c.former[n]}}},
		}).Create(&row)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected != 1 {
			return fmt.Errorf("the amount %s at %s was taken although its wallet is locked", c.amount, row.Address)
		}
	}
	return nil
}

// FindWallet returns what says on which networks the address of an opened payment receives. home is the home network of
// the payment's. found is false where the payment has an address of its own.
func FindWallet(tx *models.Tx, home string, p models.Payment) (w models.Wallet, found bool, err error) {
	var rows []models.Wallet
	err = tx.Model(&models.HeldAmount{}).Select("wallets.networks", "wallets.proved_at").
		Joins("JOIN wallets ON wallets.id = held_amounts.wallet_id").
		Where("held_amounts.network = ? AND held_amounts.address = ?", home, p.Address).
		Where("held_amounts.asset = ? AND held_amounts.amount = ?", p.Coin, p.Due).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return w, false, err
	}
	return rows[0], true, nil
}

// Find returns the payment that holds the amount of a transfer to one address; 0 for none. home is the home
// network of the transfer's. It is the payment that held the amount when the transfer was first seen, so that
// blocks which are read again give no old money to a new payment. entered reports whether the address was entered
// for the transfer's network.
func Find(tx *models.Tx, home string, t models.Transfer) (payment int64, entered bool, err error) {
	var rows []struct {
		PaymentID int64
		SettledAt *time.Time
		Networks  string
		ProvedAt  *time.Time
	}
	err = tx.Model(&models.HeldAmount{}).
		Select("held_amounts.payment_id, payments.settled_at, wallets.networks, wallets.proved_at").
		Joins("JOIN payments ON payments.id = held_amounts.payment_id").
		Joins("JOIN wallets ON wallets.id = held_amounts.wallet_id").
		Where("held_amounts.network = ? AND held_amounts.address = ?", home, t.Address).
		Where("held_amounts.asset = ? AND held_amounts.amount = ?", t.Asset, t.Amount).
		Where("held_amounts.held_at <= ?", t.FirstSeenAt.Add(clockSlack)).
		Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return 0, false, err
	}
	held := rows[0]
	if held.SettledAt != nil && t.FirstSeenAt.After(held.SettledAt.Add(HoldTime)) {
		return 0, false, nil
	}
	w := models.Wallet{Networks: held.Networks, ProvedAt: held.ProvedAt}
	return held.PaymentID, networks.IsEntered(w, chain.Network(t.Network).Code()), nil
}
