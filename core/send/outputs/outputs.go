// Package outputs knows which outputs a business has received that it can spend, for sends on networks
// whose transactions spend outputs (Bitcoin, Dogecoin). An account is an account key of the business:
// its addresses for payments have received the outputs, and its branch for change takes the rest.
package outputs

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

const (
	// batch is for how many outputs a node is asked at once, and mostBatches how often for one send.
	batch, mostBatches = 200, 10
	// askAgain is how long an output that a node called spent isn't asked for. After that it is asked
	// for once more, as a reorganisation may have undone the transaction that spent it.
	askAgain = 24 * time.Hour
)

// ListAccounts lists the account keys of the scope on a network, the active one first.
func ListAccounts(ctx context.Context, db *models.DB, sc scope.Scope, network string) (rows []models.Wallet, err error) {
	err = sc.Rows(db.Read(ctx)).Where("network = ? AND created_by <> ''", network).Order("active DESC, id DESC").
		Find(&rows).Error
	return rows, err
}

// Holder is what outputs are reserved for: a send, or a batch of sends that one transaction pays.
type Holder struct {
	BusinessID      int64
	Domain, Network string
	SendID, BatchID int64 // one of them; the other is 0
}

// HolderOf returns a send as the holder of its outputs.
func HolderOf(row models.Send) Holder {
	return Holder{BusinessID: row.BusinessID, Domain: row.Domain, Network: row.Network, SendID: row.ID}
}

// unreserved is the condition of outputs that neither another send nor another batch waits to spend.
const unreserved = "(reserved_by IS NULL OR reserved_by = ? OR NOT EXISTS (SELECT 1 FROM sends WHERE sends.id = reserved_by " +
	"AND sends.status IN ('ready', 'processing'))) AND (reserved_batch IS NULL OR reserved_batch = ? OR NOT EXISTS " +
	"(SELECT 1 FROM sends WHERE sends.batch_id = reserved_batch AND sends.status IN ('ready', 'processing')))"

// FillOrder sets what an order has on such a network: the outputs of the account o.From that a node says
// are unspent, at least enough for the amounts where there are, and the address for change. now is the
// current time.
//
// Faults: Invalid for account. An error of the node is a NodeError.
func FillOrder(ctx context.Context, db *models.DB, now time.Time, holder Holder, signer chain.OutputSigner,
	o *chain.Order) error {
	sc := scope.Scope{BusinessID: holder.BusinessID, Domain: scope.Domain(holder.Domain)}
	accounts, err := ListAccounts(ctx, db, sc, holder.Network)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(accounts, func(w models.Wallet) bool { return w.Key == o.From })
	if i < 0 {
		return fault.RefuseField("account", "Must be one of your account keys.")
	}
	f := finder{db: db, now: now, signer: signer, holder: holder, wallet: accounts[i]}
	if f.key, err = wallet.ReadKey(f.wallet); err != nil {
		return err
	}
	if slices.ContainsFunc(accounts, func(w models.Wallet) bool { return w.Fingerprint == f.key.Change() }) {
		return fault.New(fault.Conflict, "send_unavailable", "Another of your keys receives payments at the addresses "+
			"that this account's change would return to. Send from another account.")
	}
	if o.Change, err = f.key.ChangeAddress(f.wallet.NextChange); err != nil {
		return fault.New(fault.Conflict, "send_unavailable", "The account key doesn't say where change returns to. "+
			"Enter the account's extended public key, or a descriptor with both branches (/<0;1>/*), in Payment methods.")
	}
	o.Outputs, err = f.findUnspent(ctx, o.Total())
	return err
}

// NodeError is an error of the node that FillOrder asked.
type NodeError struct{ Err error }

// Error returns what the node's adapter says.
func (e NodeError) Error() string { return e.Err.Error() }

// Unwrap returns the adapter's error.
func (e NodeError) Unwrap() error { return e.Err }

// finder finds unspent outputs of one account for one holder.
type finder struct {
	db     *models.DB
	now    time.Time
	signer chain.OutputSigner
	holder Holder
	wallet models.Wallet
	key    wallet.Key
}

// candidate is a received output with the place of its address in the account.
type candidate struct {
	ID        int64
	TxID      string
	Idx       int
	Address   string
	Amount    money.Amount
	BlockHash string
	Height    int64
	Maturity  int64
	SpentAt   *time.Time
	Place     int64 // index of the address
	Change    bool
}

// findUnspent asks the node for the newest outputs first, and before them for the outputs of an earlier
// transaction for the holder, until twice the amount is there: a fee may be as much as a small amount.
func (f *finder) findUnspent(ctx context.Context, amount money.Amount) (found []chain.OwnOutput, err error) {
	var cursors []models.ChainCursor
	if err := f.db.Read(ctx).Where("network = ?", f.holder.Network).Find(&cursors).Error; err != nil || len(cursors) == 0 {
		return nil, err
	}
	sum, wanted := money.Amount{}, amount.Add(amount)
	reserved, before := true, int64(0)
	for range mostBatches {
		rows, err := f.listCandidates(ctx, reserved, before)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 && !reserved {
			return found, nil
		}
		unspent, err := f.askNode(ctx, rows, cursors[0].Height)
		if err != nil {
			return nil, err
		}
		for _, one := range unspent {
			found, sum = append(found, one), sum.Add(one.Amount)
		}
		if reserved {
			reserved = false
			continue
		}
		if before = rows[len(rows)-1].ID; sum.Cmp(wanted) >= 0 {
			return found, nil
		}
	}
	return found, nil
}

// listCandidates reads the outputs that the holder was prepared with before, or further ones, the newest
// first, with numbers below before; 0 for no such bound.
func (f *finder) listCandidates(ctx context.Context, reserved bool, before int64) (rows []candidate, err error) {
	query := f.db.Read(ctx).Table("transfers").
		Select("transfers.id, tx_id, transfers.idx, transfers.address, amount, block_hash, height, maturity, spent_at, "+
			"destinations.idx AS place, destinations.change_of IS NOT NULL AS change").
		Joins("JOIN destinations ON destinations.network = transfers.network AND "+
			"destinations.address = transfers.address AND destinations.tag = ?", wallet.NoTag).
		Where("transfers.business_id = ? AND transfers.domain = ? AND transfers.network = ? AND spendable",
			f.holder.BusinessID, f.holder.Domain, f.holder.Network).
		Where("(destinations.wallet_id = ? OR destinations.change_of = ?)", f.wallet.ID, f.wallet.ID).
		Where("height IS NOT NULL AND NOT gone AND NOT reverted AND (spent_at IS NULL OR spent_at <= ?)",
			f.now.Add(-askAgain))
	h := f.holder
	switch {
	case reserved && h.BatchID > 0:
		query = query.Where("reserved_batch = ?", h.BatchID)
	case reserved:
		query = query.Where("reserved_by = ?", h.SendID)
	default:
		query = query.Where("(reserved_by IS NULL OR reserved_by <> ?) AND (reserved_batch IS NULL OR reserved_batch <> ?) AND "+
			unreserved, h.SendID, h.BatchID, h.SendID, h.BatchID)
	}
	if before > 0 {
		query = query.Where("transfers.id < ?", before)
	}
	err = query.Order("transfers.id DESC").Limit(batch).Find(&rows).Error
	return rows, err
}

// askNode returns the candidates that are unspent and may be spent in the next block, and writes down
// what the node says.
func (f *finder) askNode(ctx context.Context, rows []candidate, tip int64) (unspent []chain.OwnOutput, err error) {
	outputs := make([]chain.OwnOutput, len(rows))
	for i, row := range rows {
		outputs[i] = chain.OwnOutput{TxID: row.TxID, Index: row.Idx, Amount: row.Amount, BlockHash: row.BlockHash}
		if outputs[i].OwnAddress, err = f.key.FindOwn(row.Address, row.Change, row.Place); err != nil {
			return nil, err
		}
	}
	if len(outputs) == 0 {
		return nil, nil
	}
	states, err := f.signer.FindOutputStates(ctx, outputs)
	if err == nil && len(states) != len(outputs) {
		err = fmt.Errorf("outputs: %d states of %d outputs", len(states), len(outputs))
	}
	if err != nil {
		return nil, NodeError{err}
	}
	var returned, gone, over []int64
	for i, row := range rows {
		switch {
		case states[i] == chain.OutputUnspent:
			if row.SpentAt != nil {
				returned = append(returned, row.ID)
			}
			if tip-row.Height+1 >= row.Maturity {
				unspent = append(unspent, outputs[i])
			}
		case states[i] == chain.OutputSpent && row.SpentAt == nil:
			gone = append(gone, row.ID)
		case states[i] == chain.OutputSpent:
			over = append(over, row.ID)
		}
	}
	return unspent, f.noteStates(ctx, returned, gone, over)
}

// noteStates writes which outputs are unspent after all, which were found spent, and which still are a
// day after that.
func (f *finder) noteStates(ctx context.Context, returned, gone, over []int64) error {
	for _, change := range []struct {
		ids []int64
		set map[string]any
	}{{returned, map[string]any{"spent_at": nil}}, {gone, map[string]any{"spent_at": f.now}},
		{over, map[string]any{"spendable": false}}} {
		if len(change.ids) == 0 {
			continue
		}
		err := models.Among(f.db.Exec(ctx).Model(&models.Transfer{}), "id", change.ids).UpdateColumns(change.set).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// Reserve keeps the outputs that terms spend for a send or a batch, and has the follower watch the address
// for change. Conflict where another one took one of them meanwhile.
func Reserve(tx *models.Tx, now time.Time, h Holder, o chain.Order, keys []string) error {
	holder := map[string]any{"reserved_by": nil, "reserved_batch": nil}
	if h.BatchID > 0 {
		holder["reserved_batch"] = h.BatchID
	} else {
		holder["reserved_by"] = h.SendID
	}
	for _, key := range keys {
		id, index, ok := splitKey(key)
		if !ok {
			return fmt.Errorf("outputs: %q is no outpoint", key)
		}
		output := tx.Model(&models.Transfer{}).Where("network = ? AND tx_id = ? AND idx = ? AND business_id = ? AND domain = ?",
			h.Network, id, index, h.BusinessID, h.Domain).Session(&gorm.Session{})
		// Locked by a statement before the one that looks: which sends a batch has is read as it is then.
		var locked []models.Transfer
		if err := output.Select("id").Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Find(&locked).Error; err != nil {
			return err
		}
		taken := output.Where(unreserved, h.SendID, h.BatchID).UpdateColumns(holder)
		if taken.Error != nil {
			return taken.Error
		}
		if taken.RowsAffected != 1 {
			return fault.New(fault.Conflict, "send_changed", "Another send was prepared with the same money just now. "+
				"Prepare this one again.")
		}
	}
	return watchChange(tx, now, h, o)
}

// watchChange makes the address for change a destination of the business.
func watchChange(tx *models.Tx, now time.Time, h Holder, o chain.Order) error {
	var w models.Wallet
	if err := tx.Where("business_id = ? AND domain = ? AND network = ? AND key = ?", h.BusinessID, h.Domain, h.Network,
		o.From).Take(&w).Error; err != nil {
		return err
	}
	index := int64(o.Change.Path[len(o.Change.Path)-1])
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&models.Destination{Network: h.Network,
		Address: o.Change.Address, Tag: wallet.NoTag, BusinessID: h.BusinessID, Domain: h.Domain, ChangeOf: &w.ID,
		Index: &index, CreatedAt: now}).Error
}

// NoteChange has the next transaction of a wallet return its change to a fresh address: money was seen
// at this one.
func NoteChange(tx *models.Tx, place models.Destination) error {
	next := *place.Index + 1
	return tx.Model(&models.Wallet{}).Where("id = ? AND next_change < ?", *place.ChangeOf, next).
		UpdateColumn("next_change", next).Error
}

// SpendsOwn reports whether a transaction with these spend keys spends an output that the business has
// received.
func SpendsOwn(tx *models.Tx, network string, business int64, keys []string) (bool, error) {
	wanted := map[string]bool{}
	var ids []string
	for _, key := range keys {
		if id, _, ok := splitKey(key); ok {
			wanted[key], ids = true, append(ids, id)
		}
	}
	if len(ids) == 0 {
		return false, nil
	}
	var rows []models.Transfer
	err := models.Among(tx.Select("tx_id", "idx").Where("network = ? AND business_id = ?", network, business), "tx_id", ids).
		Find(&rows).Error
	return slices.ContainsFunc(rows, func(t models.Transfer) bool {
		return wanted[chain.OwnOutput{TxID: t.TxID, Index: t.Index}.SpendKey()]
	}), err
}

// splitKey reads a spend key of an output: "txid:vout".
func splitKey(key string) (id string, index int, ok bool) {
	id, digits, ok := strings.Cut(key, ":")
	raw, err := hex.DecodeString(id)
	index, err2 := strconv.Atoi(digits)
	return id, index, ok && err == nil && len(raw) == 32 && err2 == nil
}
