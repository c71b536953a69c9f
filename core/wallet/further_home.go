package wallet

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
)

// ErrNetworkFixed refuses a network that a payment can't be changed to: its address would need another amount than
// the customer was shown, or it is too late.
var ErrNetworkFixed = fault.New(fault.Conflict, "network_fixed", "The network of this payment can't be changed any more.")

// AssignFirst is Assign for a payment whose customer may choose among networks with several home networks. The amount
// due becomes one that is free at each one address of the business under them, so that it stays the same whichever is
// chosen. Addresses of keys are given out when their network is chosen.
func (s *Service) AssignFirst(tx *models.Tx, p *models.Payment, homes []string, client string,
	now time.Time) (Place, error) {
	if len(homes) < 2 {
		return s.Assign(tx, p, client, now)
	}
	shared, err := listAddresses(lockWallets(tx), p, homes)
	if err != nil {
		return Place{}, err
	}
	var amount *money.Amount
	if len(shared) > 0 {
		held, err := holdAmount(tx, p, shared, client, now)
		if err == nil {
			err = countPayment(tx, shared, now)
		}
		if err != nil {
			return Place{}, err
		}
		amount = &held
	}
	for _, at := range shared {
		if at.Network == p.Network {
			return Place{Address: at.Text, Amount: amount}, nil
		}
	}
	to, err := s.Assign(tx, p, client, now)
	to.Amount = amount
	return to, err
}

// MayMove reports whether AssignFurther would give an opened payment an address on the home network that p names: its
// amount stays as its customer was shown it, so it must be held at the one address there.
func (s *Service) MayMove(tx *models.Tx, p *models.Payment) (bool, error) {
	given, shared, err := s.findFurther(tx, tx, p)
	if err != nil || given != "" || len(shared) == 0 {
		return err == nil, err
	}
	return oneaddress.IsHeld(tx, shared[0], *p)
}

// countPayment adds one to the payments that the wallets of some addresses were used for.
func countPayment(tx *models.Tx, at []oneaddress.Address, now time.Time) error {
	var wallets []int64
	for _, one := range at {
		wallets = append(wallets, one.Wallet)
	}
	return tx.Model(&models.Wallet{}).Where("id IN ?", wallets).
		Updates(map[string]any{"next_index": gorm.Expr("next_index + 1"), "updated_at": now}).Error
}

// AssignFurther returns the address of an opened payment on the home network that p names: the one that it has there
// already, or a new one.
//
// Faults: as Assign's; Conflict (network_fixed) for one address that the payment's amount isn't held at.
func (s *Service) AssignFurther(tx *models.Tx, p *models.Payment, now time.Time) (string, error) {
	given, shared, err := s.findFurther(tx, lockWallets(tx), p)
	if err != nil || given != "" {
		return given, err
	}
	if len(shared) > 0 {
		held, err := oneaddress.IsHeld(tx, shared[0], *p)
		if err == nil && !held {
			err = ErrNetworkFixed
		}
		return shared[0].Text, err
	}
	to, err := s.Assign(tx, p, "", now) // no amount is held at it, so no client has a share of it
	return to.Address, err
}

// findFurther returns the address that a payment has on a home network already, or else the one address of its business
// there.
func (s *Service) findFurther(tx, wallets *models.Tx, p *models.Payment) (given string,
	shared []oneaddress.Address, err error) {
	var places []models.Destination
	err = tx.Where("payment_id = ? AND network = ?", p.ID, p.Network).Order("id").Limit(1).Find(&places).Error
	if err != nil {
		return "", nil, err
	}
	if len(places) > 0 {
		return places[0].Address, nil, nil
	}
	if s.Receivers[chain.Network(p.Network)] == nil {
		shared, err = listAddresses(wallets, p, []string{p.Network})
	}
	return "", shared, err
}

// lockWallets has the next statement lock the wallets that it reads.
func lockWallets(tx *models.Tx) *models.Tx {
	return tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
}

// listAddresses lists the active wallets of a payment's business on networks that are one address, in one order.
func listAddresses(tx *models.Tx, p *models.Payment, networks []string) (shared []oneaddress.Address, err error) {
	var rows []models.Wallet
	err = tx.Where("business_id = ? AND domain = ? AND active AND network IN ?", p.BusinessID, p.Domain, networks).
		Order("id").Find(&rows).Error
	for _, w := range rows {
		if w.Script == ScriptAddress {
			shared = append(shared, oneaddress.Address{Network: w.Network, Text: w.Key, Wallet: w.ID})
		}
	}
	return shared, err
}

// holdAmount gives a payment an amount that no other open payment has at any of the addresses. The rows of their
// wallets are locked, so that the later of two payments sees the amount of the earlier one.
func holdAmount(tx *models.Tx, p *models.Payment, at []oneaddress.Address, client string,
	now time.Time) (money.Amount, error) {
	amount, short, err := oneaddress.Hold(tx, at, p, client, now)
	if err == nil && short {
		for _, one := range at {
			if err := tx.Model(&models.Wallet{}).Where("id = ?", one.Wallet).Update("runs_short_at", now).Error; err != nil {
				return amount, err
			}
		}
	}
	return amount, err
}
