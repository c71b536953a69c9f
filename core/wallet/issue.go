package wallet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"gorm.io/gorm/clause"

	"cointill/chain/bitcoin/params"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/models"
)

// maxTaken is how many addresses in a row may turn out to be given out already
// (a restored backup, the same branch entered in two ways) before a payment gives up.
const maxTaken = 100

// derive gives the payment the next address of the business's active wallet.
func (s *Service) derive(tx *models.Tx, p *models.Payment, now time.Time) (Place, error) {
	chain, name, _ := strings.Cut(p.Network, "-")
	net, ok := params.Lookup(money.Chain(chain), name)
	if !ok {
		return Place{}, fmt.Errorf("wallet: no receiver for network %q", p.Network)
	}
	for range maxTaken {
		w, err := step(tx, p, now)
		if err != nil {
			return Place{}, err
		}
		key, err := ParseKey(w.Key, net, w.Script)
		if err != nil {
			return Place{}, fmt.Errorf("wallet %d: its key can't be read any more: %w", w.ID, err)
		}
		address, err := key.Address(w.Index)
		if errors.Is(err, hdkeychain.ErrInvalidChild) {
			continue
		}
		if err != nil {
			return Place{}, err
		}
		row := models.Destination{Network: p.Network, Address: address, Tag: NoTag, BusinessID: p.BusinessID, Domain: p.Domain,
			PaymentID: &p.ID, WalletID: &w.ID, Index: &w.Index, CreatedAt: now}
		made := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "network"}, {Name: "address"}, {Name: "tag"}}, DoNothing: true}).Create(&row)
		if made.Error != nil {
			return Place{}, made.Error
		}
		if made.RowsAffected == 1 {
			return Place{Address: address}, nil
		}
	}
	return Place{}, fmt.Errorf("wallet: %d addresses in a row were given out before: advance the wallet's index", maxTaken)
}

// stepped is a wallet whose index was just taken.
type stepped struct {
	ID     int64
	Key    string
	Script string
	Index  int64
}

// step takes the active wallet's next index. The row stays locked until the
// transaction ends, so that an index is lost only with the row that it came from: never.
func step(tx *models.Tx, p *models.Payment, now time.Time) (stepped, error) {
	// Twice: on PostgreSQL a statement that waited for a change of wallets sees
	// the old one inactive, and the new one only when it is run again.
	for range 2 {
		var rows []stepped
		err := tx.Raw(`UPDATE wallets SET next_index = next_index + 1, updated_at = ?
			WHERE business_id = ? AND domain = ? AND network = ? AND active
			RETURNING id, key, script, next_index - 1 AS "index"`, now, p.BusinessID, p.Domain, p.Network).Scan(&rows).Error
		if err != nil {
			return stepped{}, err
		}
		if len(rows) == 1 {
			return rows[0], nil
		}
	}
	return stepped{}, fault.New(fault.Unavailable, "no_wallet",
		"The merchant has not set up a wallet for this coin, so it can't be paid with now. Choose another way to pay, or contact the merchant.")
}
