package wallet

import (
	"context"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// firstIndex returns the first index that a newly entered key may give out. It is 0, except in a
// restored database that doesn't know the key: the key may have been entered after the
// backup was made, and have given out as many addresses as every known wallet skips. A
// known wallet that has not skipped them is one that Prepare didn't finish. Invalid for a
// list then: its order may have changed, so the addresses that it gave out are unknown.
func firstIndex(tx *models.Tx, k Key) (int64, error) {
	left, err := models.LeftOut(tx)
	if err != nil || left == 0 || k.script == ScriptAddress {
		return 0, err
	}
	first := min(left, Indexes)
	var known []models.Wallet
	err = tx.Where("network = ? AND fingerprint = ?", string(k.net.Network()), k.Fingerprint()).Limit(1).
		Find(&known).Error
	if err != nil || len(known) > 0 && (k.list != nil || known[0].NextIndex >= first) {
		return 0, err
	}
	if k.list != nil {
		return 0, errKey("This server was restored from a backup and doesn't know whether addresses of a list that " +
			"it never saw were given to customers before. Ask its operator to say that no list is missing (cointill " +
			"restore --all-entered), or enter a public key instead.")
	}
	return first, nil
}

// Prepare has a key that a restored database doesn't know leave out the addresses
// before the one that it begins with, before Use makes it the wallet: few at a time,
// as payments wait for each change. The wallet is stored first and inactive, so what
// breaks off goes on from there when the key is entered again; it has no CreatedBy until
// Use makes it one. Errors are Use's.
func (s *Service) Prepare(ctx context.Context, sc scope.Scope, c money.Chain, key, script string) error {
	if _, ok := s.findLedger(sc.Domain, c); ok {
		return nil
	}
	k, err := s.parseKey(sc, c, key, script)
	if err != nil {
		return err
	}
	first, err := firstIndex(s.DB.Read(ctx), k)
	if err != nil || first == 0 {
		return err
	}
	row, atOnce := s.newWallet(k, sc, ""), insertedAtOnce/int64(len(k.listKinds()))
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := checkFree(tx, k, sc); err != nil {
			return err
		}
		made := row // as often as the transaction is tried
		return tx.Clauses(oneBranch).Create(&made).Error
	})
	for err == nil {
		var w models.Wallet
		err = s.DB.Read(ctx).Where("network = ? AND fingerprint = ?", row.Network, row.Fingerprint).Take(&w).Error
		if err != nil || w.NextIndex >= first {
			return err
		}
		// Where another request was faster it goes on from there.
		to := min(w.NextIndex+atOnce, first)
		_, err = s.moveIndex(ctx, w, to, to, nil)
	}
	return err
}
