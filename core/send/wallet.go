package send

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// maxWallets bounds the payout wallets of a business in a domain.
const maxWallets = 50

// ListWallets lists the accounts that the business sends from, oldest first. Faults: Forbidden.
func (s *Signing) ListWallets(ctx context.Context, sc scope.Scope) (rows []models.PayoutWallet, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, err
	}
	err = sc.Rows(s.DB.Read(ctx)).Order("id").Find(&rows).Error
	return rows, err
}

// ListNetworks lists the networks of the domain on which an account can be registered, in their order.
func (s *Signing) ListNetworks(sc scope.Scope) (names []string) {
	for network := range s.Signers {
		if signer := s.Signers[network]; signer.Domain == sc.Domain {
			names = append(names, network)
		}
	}
	slices.Sort(names)
	return names
}

// AddWallet registers an account that the business sends from: its transactions pay sends. An
// account belongs to one business. Faults: Forbidden; Invalid for network, address and the proof;
// Conflict for an account that another business registered, and for too many.
func (s *Signing) AddWallet(ctx context.Context, sc scope.Scope, network, address string, proof Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	signer := s.Signers[network]
	if signer.Domain != sc.Domain {
		return fault.Validation(fault.Fields{"network": {"Must be one of the networks in the list."}})
	}
	account, prefix, err := signer.ParseAccount(strings.TrimSpace(address))
	var said chain.Refusal
	switch {
	case errors.As(err, &said):
		return fault.Validation(fault.Fields{"address": {said.Error()}})
	case err != nil:
		return err
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := lockBusiness(tx, sc); err != nil {
			return err
		}
		var mine []models.PayoutWallet
		if err := sc.Rows(tx).Where("network = ? AND address = ?", network, account).Find(&mine).Error; err != nil {
			return err
		}
		if len(mine) > 0 {
			return fault.Validation(fault.Fields{"address": {"Is one of your payout wallets already."}})
		}
		var count int64
		if err := sc.Rows(tx.Model(&models.PayoutWallet{})).Count(&count).Error; err != nil {
			return err
		}
		if count >= maxWallets {
			return fault.New(fault.Conflict, "too_many_wallets", "A business can have 50 payout wallets. "+
				"Remove one first.")
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.wallet_added", account,
			map[string]string{"network": network}); err != nil {
			return err
		}
		added := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&models.PayoutWallet{BusinessID: sc.BusinessID,
			Domain: string(sc.Domain), Network: network, Address: account, SpendPrefix: prefix, Actor: sc.Actor,
			CreatedAt: s.Clock()})
		if added.Error == nil && added.RowsAffected == 0 {
			return errWalletTaken
		}
		return added.Error
	})
}

var errWalletTaken = fault.New(fault.Conflict, "wallet_taken", "Another business of this installation registered this "+
	"account. If it is yours, ask the operator.")

// RemoveWallet ends that an account's transactions pay sends, but for those that were checked here.
// Faults: Forbidden; NotFound; Invalid for the proof.
func (s *Signing) RemoveWallet(ctx context.Context, sc scope.Scope, id int64, proof Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	var w models.PayoutWallet
	if err := sc.Rows(s.DB.Read(ctx)).Where("id = ?", id).Take(&w).Error; err != nil {
		return fault.MissingRow(err, "payout wallet")
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		removed := sc.Rows(tx).Where("id = ?", id).Delete(&models.PayoutWallet{})
		switch {
		case removed.Error != nil:
			return removed.Error
		case removed.RowsAffected == 0: // another person was faster
			return fault.Missing("payout wallet")
		}
		return audit.Record(tx, sc, s.Clock(), "send.wallet_removed", w.Address,
			map[string]string{"network": w.Network})
	})
}
