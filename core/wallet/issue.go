package wallet

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/core/fault"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
)

// near is how many addresses in a row are tried one by one when they turn out
// to be given out already. Then each step is twice as wide as the one before:
// the index moves only if the payment gets an address, so a run of taken ones
// that stopped one payment would stop every other after it.
const near = 40

// derivePlace gives the payment the next address of the business's active wallet, or
// a tag of its account.
func (s *Service) derivePlace(tx *models.Tx, p *models.Payment, client string, now time.Time) (Place, error) {
	if isLedger(p.Network) {
		w, err := nextIndex(tx, p, now, 1) // counts the tags
		if err != nil {
			return Place{}, err
		}
		return assignTag(tx, p, w.Key, now, freshTag)
	}
	if _, ok := Find(p.Network); !ok {
		return Place{}, fmt.Errorf("wallet: no receiver for network %q", p.Network)
	}
	for tried, wide := 0, int64(1); ; tried++ {
		if tried >= near {
			wide *= 2
		}
		w, err := nextIndex(tx, p, now, wide)
		if err != nil {
			return Place{}, err
		}
		if w.Script == ScriptAddress {
			at := oneaddress.Address{Network: p.Network, Text: w.Key, Wallet: w.ID}
			amount, err := holdAmount(tx, p, []oneaddress.Address{at}, client, now)
			return Place{Address: w.Key, Amount: &amount}, err
		}
		if w.Index >= Indexes {
			return Place{}, usedUp()
		}
		key, err := readStored(w.ID, w.Key, w.Script, p.Network)
		if err != nil {
			return Place{}, err
		}
		if key.list != nil && key.countLeft(w.Index) == 0 {
			return Place{}, usedUp()
		}
		address, err := key.Address(w.Index)
		if errors.Is(err, hdkeychain.ErrInvalidChild) {
			continue
		}
		if err != nil {
			return Place{}, err
		}
		row := models.Destination{Network: p.Network, Address: address, Tag: NoTag, BusinessID: p.BusinessID,
			Domain:    p.Domain,
			PaymentID: &p.ID, WalletID: &w.ID, Index: &w.Index, CreatedAt: now}
		made := tx.Clauses(onePlace).Create(&row)
		if made.Error != nil {
			return Place{}, made.Error
		}
		if made.RowsAffected == 1 {
			return Place{Address: address}, s.reserveIndex(tx, p.Network, w)
		}
	}
}

// readStored reads a wallet's key back.
func readStored(wallet int64, text, script, network string) (Key, error) {
	net, ok := Find(network)
	if !ok {
		return Key{}, fmt.Errorf("wallet %d: its network %q is not known any more", wallet, network)
	}
	key, err := ParseKey(text, net, script)
	if err != nil {
		return Key{}, fmt.Errorf("wallet %d: its key can't be read any more: %w", wallet, err)
	}
	return key, nil
}

// stepped is a wallet whose index was just taken.
type stepped struct {
	ID          int64
	Key         string
	Script      string
	Fingerprint string
	Index       int64
}

// nextIndex takes the active wallet's next index, or one further ahead. The row stays locked until the
// transaction ends, so that an index is lost only with the row that it came from: never.
func nextIndex(tx *models.Tx, p *models.Payment, now time.Time, wide int64) (stepped, error) {
	// Twice: on PostgreSQL a statement that waited for a change of wallets sees
	// the old one inactive, and the new one only when it is run again.
	for range 2 {
		var rows []stepped
		err := tx.Raw(`UPDATE wallets SET next_index = next_index + ?, updated_at = ?
			WHERE business_id = ? AND domain = ? AND network = ? AND active
			RETURNING id, key, script, fingerprint, next_index - 1 AS "index"`, wide, now, p.BusinessID, p.Domain, p.Network).Scan(&rows).Error
		if err != nil {
			return stepped{}, err
		}
		if len(rows) == 1 {
			return rows[0], nil
		}
	}
	return stepped{}, fault.New(fault.Unavailable, "no_wallet",
		"The merchant has not set up a wallet for this coin, so it can't be paid with now. Choose another way to "+
			"pay, or contact the merchant.")
}
