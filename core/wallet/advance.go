package wallet

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// mostAhead is how far one command may advance an index: each address that it
// leaves out is watched from then on, so a slip of the finger would stay.
const mostAhead = 10_000

// sharing are the scripts of wallets whose payments all go to one address.
var sharing = []string{ScriptAccount, ScriptAddress}

// insertedAtOnce bounds the destinations of one transaction.
const insertedAtOnce = 500

// Advance moves a wallet's next index up, for an operator who restored a backup: whatever was
// given out since it was made is not given out again. It never moves down. A skipped address
// may have been shown to customers, so it is watched from then on, for no payment. NotFound
// for an unknown wallet, Invalid for an index below the present one or more than 10,000 above
// it.
func (s *Service) Advance(ctx context.Context, actor string, walletID, to int64) error {
	var w models.Wallet
	found := s.DB.Read(ctx).Where("id = ?", walletID).Limit(1).Find(&w)
	if found.Error != nil {
		return found.Error
	}
	if found.RowsAffected == 0 {
		return fault.Missing("wallet")
	}
	if w.Script == ScriptAddress {
		return fault.RefuseField("index", "This wallet is one address, so no address needs to be left out.")
	}
	if w.Script == ScriptAccount {
		return fault.RefuseField("index", "This wallet is an account with destination tags. Tags are random, so "+
			"none needs to be left out.")
	}
	if highest := min(w.NextIndex+mostAhead, Indexes); to < w.NextIndex || to > highest {
		return fault.RefuseField("index", "The wallet's next index is %d: it never goes down, and one command takes "+
			"it up by %d at most, to %d. If more addresses were issued, run the command again.", w.NextIndex,
			mostAhead, highest)
	}
	moved, err := s.moveIndex(ctx, w, to, to,
		func(tx *models.Tx) error { return s.auditMove(tx, actor, "wallet.advanced", w, w.NextIndex, to) })
	if err == nil && !moved {
		err = fault.RefuseField("index", "The wallet was changed, or went past this index, just now. Look at its "+
			"index, and run the command again if that is needed.")
	}
	return err
}

// auditMove writes down in the business's audit log that a wallet left out addresses.
func (s *Service) auditMove(tx *models.Tx, actor, action string, w models.Wallet, from, to int64) error {
	sc := scope.Scope{BusinessID: w.BusinessID, Domain: scope.Domain(w.Domain), Actor: actor, Role: scope.System}
	return audit.Record(tx, sc, s.Clock(), action, w.Network, map[string]int64{"wallet": w.ID, "before": from,
		"after": to})
}

// moveIndex brings a wallet from its next index up to another and watches the addresses
// between, with what note writes; moved is false where it was changed, or its next index
// is beyond most by now.
func (s *Service) moveIndex(ctx context.Context, w models.Wallet, to, most int64,
	note func(tx *models.Tx) error) (moved bool, err error) {
	left, err := s.leaveOut(w, w.NextIndex, to) // before the transaction: payments wait for it
	if err != nil {
		return false, err
	}
	now := s.Clock()
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		row := tx.Model(&models.Wallet{}).Where("id = ? AND script = ? AND next_index <= ?", w.ID, w.Script, most).
			Updates(map[string]any{"next_index": to, "updated_at": now})
		if moved = row.RowsAffected > 0; row.Error != nil || !moved {
			return row.Error
		}
		if err := storeDestinations(tx, left); err != nil || note == nil {
			return err
		}
		return note(tx)
	})
	return moved, err
}

// leaveOut makes a wallet's destinations from one index up to another, for no payment:
// of every kind, as its kind of address may have been changed since the backup.
func (s *Service) leaveOut(w models.Wallet, from, to int64) ([]models.Destination, error) {
	key, err := readStored(w.ID, w.Key, w.Script, w.Network)
	if err != nil {
		return nil, err
	}
	kinds := key.listKinds()
	rows := make([]models.Destination, 0, (to-from)*int64(len(kinds)))
	if key.list != nil && to > int64(len(key.list)) {
		return nil, fault.RefuseField("index", "The list has %d addresses only.", len(key.list))
	}
	for i := from; i < to; i++ {
		for _, kind := range kinds {
			address, err := kind.Address(i)
			if errors.Is(err, hdkeychain.ErrInvalidChild) {
				continue
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, models.Destination{Network: w.Network, Address: address, Tag: NoTag,
				BusinessID: w.BusinessID, Domain: w.Domain,
				WalletID: &w.ID, Index: &i, CreatedAt: s.Clock()})
		}
	}
	return rows, nil
}

// storeDestinations stores destinations, but for those that a payment has got meanwhile.
func storeDestinations(tx *models.Tx, rows []models.Destination) error {
	if len(rows) == 0 {
		return nil
	}
	return tx.Clauses(onePlace).Create(rows).Error
}

// onePlace leaves a destination with whom it was given to first.
var onePlace = clause.OnConflict{Columns: []clause.Column{{Name: "network"}, {Name: "address"}, {Name: "tag"}},
	DoNothing: true}

// LeftOut is how far a wallet's next index was moved.
type LeftOut struct{ Wallet, From, To int64 }

// AdvanceAll leaves out as many addresses of every wallet, former ones too, as
// Advance does of one: for an operator who restored a backup and doesn't know
// which of them went on. Accounts of the XRP Ledger and single addresses have nothing to leave out. A
// list of addresses is left out to its end at most. Invalid for less than 0 or
// more than 10,000.
func (s *Service) AdvanceAll(ctx context.Context, actor string, by int64) (done []LeftOut, err error) {
	if by < 0 || by > mostAhead {
		return nil, fault.RefuseField("index", "From 0 to %d addresses can be left out at once.", mostAhead)
	}
	var wallets []models.Wallet
	if err := s.DB.Read(ctx).Where("script NOT IN ?", sharing).Order("id").Find(&wallets).Error; err != nil {
		return nil, err
	}
	for _, w := range wallets {
		to := min(w.NextIndex+by, Indexes)
		key, err := readStored(w.ID, w.Key, w.Script, w.Network)
		if err != nil {
			return done, err
		}
		if key.list != nil {
			to = min(to, int64(len(key.list)))
		}
		if to <= w.NextIndex {
			continue
		}
		if err := s.Advance(ctx, actor, w.ID, to); err != nil {
			return done, fmt.Errorf("wallet %d: %w", w.ID, err)
		}
		done = append(done, LeftOut{Wallet: w.ID, From: w.NextIndex, To: to})
	}
	return done, nil
}

// Lately is how many addresses a wallet has issued in the last seven days in
// which any was, counted to 10,000.
type Lately struct {
	Wallet, Next, Issued int64
	Network              string
}

// Lately tells it of every wallet that Advance is for.
func (s *Service) Lately(ctx context.Context) ([]Lately, error) {
	var last []models.Destination
	if err := s.DB.Read(ctx).Order("id DESC").Limit(1).Find(&last).Error; err != nil {
		return nil, err
	}
	since := s.Clock()
	if len(last) > 0 {
		since = last[0].CreatedAt
	}
	var list []Lately
	err := s.DB.Read(ctx).Raw(`SELECT id AS wallet, next_index AS next, network, (SELECT count(*) FROM destinations
			WHERE wallet_id = wallets.id AND idx >= wallets.next_index - ? AND payment_id IS NOT NULL AND created_at > ?) AS issued
		FROM wallets WHERE script NOT IN ? ORDER BY id`, mostAhead, since.AddDate(0, 0, -7), sharing).Scan(&list).Error
	return list, err
}
