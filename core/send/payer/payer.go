// Package payer knows the accounts that pay the sends of a business: registered payout wallets on networks
// with accounts, and account keys on networks whose transactions spend outputs.
package payer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/send/destination"
	"cointill/core/send/outputs"
	"cointill/core/wallet"
	"cointill/models"
)

// Signer is what signs sends of one network of a domain: see chain.Signer.
type Signer struct {
	chain.Signer
	Domain scope.Domain
}

// DescribeNetwork returns the signer's network, by its name, as destinations on it are read.
func (s Signer) DescribeNetwork(name string) destination.Network {
	on := destination.Network{Name: name}
	if token, is := s.Signer.(chain.TokenSigner); is {
		on.Token = token.TokenContract()
	}
	return on
}

// Accounts lists the accounts that pay, and registers payout wallets.
type Accounts struct {
	DB      *models.DB
	Clock   clock.Clock
	Users   auth.Reauthenticator
	Signers map[string]Signer // of real networks, by the network's name
}

// maxWallets bounds the payout wallets of a business in a domain.
const maxWallets = 50

// ListWallets lists the accounts that the business sends from, oldest first. Faults: Forbidden.
func (s *Accounts) ListWallets(ctx context.Context, sc scope.Scope) (rows []models.PayoutWallet, err error) {
	if err := sc.CheckAction(scope.SeeSends); err != nil {
		return nil, err
	}
	err = sc.Rows(s.DB.Read(ctx)).Order("id").Find(&rows).Error
	return rows, err
}

// Account is what can pay sends on a network: a registered account, or an account key where outputs
// are spent.
type Account struct {
	Name  string        // as sends store it
	Label fault.Message // for people
}

// ListAccounts lists what can pay sends on a network. Faults: Forbidden.
func (s *Accounts) ListAccounts(ctx context.Context, sc scope.Scope, network string) (accounts []Account, err error) {
	if s.SpendsOutputs(network) {
		keys, err := outputs.ListAccounts(ctx, s.DB, sc, network)
		for _, w := range keys {
			accounts = append(accounts, Account{w.Key, wallet.ShortName(w)})
		}
		return accounts, err
	}
	rows, err := s.ListWallets(ctx, sc)
	for _, w := range rows {
		if w.Network == network {
			accounts = append(accounts, Account{w.Address, fault.Verbatim(w.Address)})
		}
	}
	return accounts, err
}

// SpendsOutputs reports a network whose sends are paid from account keys, with a choice of the fee.
func (s *Accounts) SpendsOutputs(network string) bool {
	_, is := s.Signers[network].Signer.(chain.OutputSigner)
	return is
}

// ListNetworks lists the networks of the domain on which an account can be registered, in their order.
func (s *Accounts) ListNetworks(sc scope.Scope) (names []string) {
	for network := range s.Signers {
		if signer := s.Signers[network]; signer.Domain == sc.Domain && !s.SpendsOutputs(network) {
			names = append(names, network)
		}
	}
	slices.Sort(names)
	return names
}

// RefuseInput makes the fault for a field whose text an adapter refused.
func RefuseInput(field string, said chain.InputRefusal) error {
	return fault.Validation(fault.Fields{field: {{Text: string(said)}}})
}

// AddWallet registers an account that the business sends from: its transactions pay sends. An
// account belongs to one business. Faults: Forbidden; Invalid for network, address and the proof;
// Conflict for an account that another business registered, and for too many.
func (s *Accounts) AddWallet(ctx context.Context, sc scope.Scope, network, address string, proof auth.Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	signer := s.Signers[network]
	if signer.Domain != sc.Domain || s.SpendsOutputs(network) {
		return fault.RefuseField("network", "Must be one of the networks in the list.")
	}
	account, prefix, err := signer.ParseAccount(strings.TrimSpace(address))
	var said chain.InputRefusal
	switch {
	case errors.As(err, &said):
		return RefuseInput("address", said)
	case err != nil:
		return err
	}
	if account == signer.DescribeNetwork(network).Token {
		return fault.RefuseField("address", "This is the token's own contract. It signs nothing, so no send can be paid "+
			"from it.")
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := LockBusiness(tx, sc); err != nil {
			return err
		}
		var mine []models.PayoutWallet
		if err := sc.Rows(tx).Where("network = ? AND address = ?", network, account).Find(&mine).Error; err != nil {
			return err
		}
		if len(mine) > 0 {
			return fault.RefuseField("address", "Is one of your payout wallets already.")
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
func (s *Accounts) RemoveWallet(ctx context.Context, sc scope.Scope, id int64, proof auth.Proof) error {
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

// LockBusiness makes transactions in which people change sends or rules of a business wait for one another.
func LockBusiness(tx *models.Tx, sc scope.Scope) error {
	if !models.IsPostgres(tx) {
		return nil // its transaction holds the only writer
	}
	return tx.Exec("SELECT id FROM businesses WHERE id = ? FOR NO KEY UPDATE", sc.BusinessID).Error
}

// SandboxAccount names the sandbox wallet of a business: what it sends spends keys that begin with
// this name.
func SandboxAccount(businessID int64, domain string) string {
	return fmt.Sprintf("sandbox-wallet-%d-%s", businessID, domain)
}

// SandboxKey is what the spend key of a transaction begins with that the sandbox wallet sends for a send.
func SandboxKey(row models.Send) string {
	return SandboxAccount(row.BusinessID, row.Domain) + ":" + row.Reference + " "
}
