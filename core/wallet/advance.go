package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"gorm.io/gorm/clause"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// mostAhead is how far one command may advance an index: each address that it
// leaves out is watched from then on, so a slip of the finger would stay.
const mostAhead = 10_000

// insertedAtOnce bounds the rows of one statement.
const insertedAtOnce = 500

// Advance moves a wallet's next index up, for an operator who restored a
// backup: whatever was given out since it was made is not given out again. It
// never moves down. What is left out may have been shown to customers, so it is
// watched from then on, for no payment. NotFound for an unknown wallet, Invalid
// for an index below the present one or more than 10,000 above it.
func (s *Service) Advance(ctx context.Context, actor string, walletID, to int64) error {
	var w models.Wallet
	found := s.DB.Read(ctx).Where("id = ?", walletID).Limit(1).Find(&w)
	if found.Error != nil {
		return found.Error
	}
	if found.RowsAffected == 0 {
		return fault.Missing("wallet")
	}
	if w.Script == ScriptAccount {
		return fault.Validation(fault.Fields{"index": {"This wallet is an account with destination tags. Tags are random, so none needs to be left out."}})
	}
	if highest := min(w.NextIndex+mostAhead, Indexes); to < w.NextIndex || to > highest {
		return fault.Validation(fault.Fields{"index": {fmt.Sprintf("The wallet's next index is %d: it never goes down, and one command takes it up by %d at most, to %d. "+
			"If more addresses were issued, run the command again.", w.NextIndex, mostAhead, highest)}})
	}
	left, err := s.leaveOut(w, to) // before the transaction: payments wait for it
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		moved := tx.Model(&models.Wallet{}).Where("id = ? AND script = ? AND next_index <= ?", walletID, w.Script, to).
			Updates(map[string]any{"next_index": to, "updated_at": s.Clock()})
		if moved.Error != nil {
			return moved.Error
		}
		if moved.RowsAffected == 0 {
			return fault.Validation(fault.Fields{"index": {"The wallet was changed, or went past this index, just now. Look at its index, and run the command again if that is needed."}})
		}
		if err := watch(tx, left); err != nil {
			return err
		}
		sc := scope.Scope{BusinessID: w.BusinessID, Domain: scope.Domain(w.Domain), Actor: actor, Role: scope.System}
		return account.Audit(tx, sc, s.Clock(), "wallet.advanced", w.Network, map[string]int64{"wallet": w.ID, "before": w.NextIndex, "after": to})
	})
}

// leaveOut makes the destinations from the wallet's next index up to another, for no payment.
func (s *Service) leaveOut(w models.Wallet, to int64) ([]models.Destination, error) {
	key, err := stored(w.ID, w.Key, w.Script, w.Network)
	if err != nil {
		return nil, err
	}
	rows := make([]models.Destination, 0, to-w.NextIndex)
	for i := w.NextIndex; i < to; i++ {
		address, err := key.Address(i)
		if errors.Is(err, hdkeychain.ErrInvalidChild) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, models.Destination{Network: w.Network, Address: address, Tag: NoTag, BusinessID: w.BusinessID, Domain: w.Domain,
			WalletID: &w.ID, Index: &i, CreatedAt: s.Clock()})
	}
	return rows, nil
}

// watch stores destinations, but for those that a payment has got meanwhile.
func watch(tx *models.Tx, rows []models.Destination) error {
	if len(rows) == 0 {
		return nil
	}
	return tx.Clauses(onePlace).CreateInBatches(rows, insertedAtOnce).Error
}

// onePlace leaves a destination with whom it was given to first.
var onePlace = clause.OnConflict{Columns: []clause.Column{{Name: "network"}, {Name: "address"}, {Name: "tag"}}, DoNothing: true}
