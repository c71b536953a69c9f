// Package observe writes what a network's follower reads: transfers, blocks and the cursor,
// in one transaction per batch, and has the payments that they concern decided again.
package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/departure"
	"cointill/core/payment/fence"
	"cointill/core/send"
	"cointill/models"
)

// Observer turns the batches of a follower into facts about payments and sends. It implements
// chain.Store. Make one with New.
type Observer struct {
	*payment.Service
	// Watching holds the addresses and spend keys that the network's follower looks for.
	Watching *chain.WatchSet

	sends       *send.Service
	addresses   *Addresses
	readSendsTo int64 // addresses of sends up to this number are all known
}

// New makes an observer that has the addresses for itself.
func New(payments *payment.Service, sends *send.Service, watching *chain.WatchSet) *Observer {
	return &Observer{Service: payments, Watching: watching, sends: sends, addresses: NewAddresses(watching)}
}

// NewSharing makes an observer that shares the addresses with observers of other networks.
func NewSharing(payments *payment.Service, sends *send.Service, watching *chain.WatchSet, with *Addresses) *Observer {
	watching.Shared = with.set
	return &Observer{Service: payments, Watching: watching, sends: sends, addresses: with}
}

var _ chain.Store = (*Observer)(nil)

// Cursor returns the last applied block of a network.
func (o *Observer) Cursor(ctx context.Context, network chain.Network) (chain.Cursor, error) {
	var rows []models.ChainCursor
	err := o.DB.Read(ctx).Where("network = ?", string(network)).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 || rows[0].Hash == "" {
		return chain.Cursor{}, err
	}
	return chain.Cursor{Known: true, Block: chain.BlockID{Height: rows[0].Height, Hash: rows[0].Hash}}, nil
}

// Hash returns the hash of an applied block, or "" when it is not kept any more.
func (o *Observer) Hash(ctx context.Context, network chain.Network, height int64) (string, error) {
	var hashes []string
	err := o.DB.Read(ctx).Model(&models.ChainBlock{}).Where("network = ? AND height = ?", string(network), height).
		Pluck("hash", &hashes).Error
	if err != nil || len(hashes) == 0 {
		return "", err
	}
	return hashes[0], nil
}

// Health records a network's problem, "" for none, unless a later holder of the lease has
// written already.
func (o *Observer) Health(ctx context.Context, network chain.Network, fence int64, sentence string) error {
	set := map[string]any{"problem": sentence, "fence": fence, "updated_at": o.Clock()}
	known := o.DB.Exec(ctx).Model(&models.ChainCursor{}).Where("network = ? AND fence <= ?", string(network), fence).
		Updates(set)
	if known.Error != nil || known.RowsAffected > 0 {
		return known.Error
	}
	row := models.ChainCursor{Network: string(network), Finalized: -1, Fence: fence, Problem: sentence,
		UpdatedAt: o.Clock()}
	return o.DB.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}

// Apply writes a batch of the follower: transfers, blocks and the cursor in one transaction,
// which also marks each payment that the batch concerns as due. These are then decided in other
// transactions. The mark stays until that is done, so that a crash in between loses nothing.
func (o *Observer) Apply(ctx context.Context, batch chain.Batch) error {
	a := &batchApplier{Observer: o, batch: batch, network: string(batch.Network),
		home: o.Networks.Home(string(batch.Network)), now: o.Clock()}
	err := o.DB.Write(ctx, func(tx *models.Tx) error {
		a.clearState(tx)
		return a.applyBatch()
	})
	// Also after an error: the commit may have been made although its answer was lost.
	o.Watching.AddSpends(a.spends...)
	if err != nil {
		return err
	}
	o.Watching.RemoveSpends(a.forgotten...)
	o.evaluatePayments(ctx, a.network, a.tip.Height, batch.Read, a.touched.listPayments())
	o.evaluateSends(ctx, a.network, a.tip.Height, a.touched.listSends())
	return nil
}

// Reread applies a block at or below the cursor again, for money that was missed the first
// time: an address of a restored backup, for example. It returns the number of transfers that
// were unknown. Known transfers change nothing.
func (o *Observer) Reread(ctx context.Context, network chain.Network, block chain.Block) (fresh int, err error) {
	return o.ApplyAgain(ctx, network, fence.NoLease, block)
}

// ApplyAgain is Reread under the lease with a fence.
func (o *Observer) ApplyAgain(ctx context.Context, network chain.Network, fence int64, block chain.Block) (fresh int,
	err error) {
	a := &batchApplier{Observer: o, network: string(network), home: o.Networks.Home(string(network)), now: o.Clock()}
	err = o.DB.Write(ctx, func(tx *models.Tx) error {
		a.clearState(tx)
		if err := a.lockCursor(fence); err != nil {
			return err
		}
		if block.Height > a.tip.Height {
			return nil // the follower will read it
		}
		if err := checkBranch(a.tx, a.network, block); err != nil {
			return err
		}
		if err := a.applyFacts(block); err != nil {
			return err
		}
		if err := books.BookTransfers(a.tx, a.now, a.network); err != nil {
			return err
		}
		return a.markPaymentsDue()
	})
	o.Watching.AddSpends(a.spends...) // as in Apply
	if err != nil {
		return 0, err
	}
	err = o.sends.Evaluator.EvaluateDue(ctx, a.network, a.tip.Height, a.touched.listSends())
	if len(a.touched.payments) > 0 {
		err = errors.Join(err, o.EvaluateDue(ctx, a.network, a.tip.Height, a.read, a.touched.listPayments()))
		o.SignalChange()
	}
	return a.fresh, err
}

// checkBranch refuses a block whose hash differs from the one that was applied at its height,
// as long as that is kept.
func checkBranch(tx *models.Tx, network string, block chain.Block) error {
	var hashes []string
	err := tx.Model(&models.ChainBlock{}).Where("network = ? AND height = ?", network, block.Height).
		Pluck("hash", &hashes).Error
	if len(hashes) == 1 && hashes[0] != block.Hash {
		err = fmt.Errorf("%w: block %d is %s there, and %s was applied", chain.ErrStale, block.Height, block.Hash,
			hashes[0])
	}
	return err
}

// batchApplier is one run of Apply or Reread in one transaction.
type batchApplier struct {
	*Observer
	batch     chain.Batch
	network   string
	home      string // see payment.Networks
	now       time.Time
	tx        *models.Tx
	tip       chain.BlockID
	final     int64               // the network's own finality so far
	read      time.Time           // the network was read up to this time before
	touched   touchedRows         // to decide again
	spends    []string            // new spend keys
	forgotten []string            // spend keys that no block can use up any more
	blocks    []models.ChainBlock // applied blocks, to be stored together
	fresh     int                 // number of transfers that were unknown
	updates   paymentUpdates      // of this block or snapshot
	arrivals  []journal.Move      // of transfers of payments, to post when a block ends
	shares    payment.Shares      // of their values
	blockCache
}

// clearState clears the results of an earlier try of the transaction.
func (a *batchApplier) clearState(tx *models.Tx) {
	a.tx, a.touched, a.spends, a.forgotten = tx, touchedRows{map[int64]bool{}, map[int64]bool{}}, nil, nil
	a.updates = paymentUpdates{service: a.Service, tx: tx}
	a.blocks, a.fresh, a.arrivals, a.shares = nil, 0, nil, payment.Shares{}
	a.blockCache = blockCache{places: map[string][]models.Destination{}, known: map[string]models.Transfer{}}
}

func (a *batchApplier) applyBatch() error {
	if err := a.claimCursor(); err != nil {
		return err
	}
	if a.batch.Ancestor != nil {
		if err := a.undoBlocks(*a.batch.Ancestor); err != nil {
			return err
		}
	}
	for _, block := range a.batch.Blocks {
		if err := a.applyBlock(block); err != nil {
			return err
		}
	}
	if a.batch.Pending != nil {
		if err := a.applyMempool(*a.batch.Pending); err != nil {
			return err
		}
	}
	return a.finishBatch()
}

// claimCursor locks the network's cursor and refuses a batch that doesn't continue from it.
func (a *batchApplier) claimCursor() error {
	if err := a.lockCursor(a.batch.Fence); err != nil {
		return err
	}
	if a.tip.Hash != "" && a.tip != a.batch.From {
		return chain.ErrStale
	}
	return nil
}

// lockCursor reads the network's cursor and locks its row.
func (a *batchApplier) lockCursor(held int64) error {
	first := models.ChainCursor{Network: a.network, Finalized: -1, UpdatedAt: a.now}
	if err := a.tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&first).Error; err != nil {
		return err
	}
	cursor, err := fence.LockCursor(a.tx, a.network, held)
	if err != nil {
		return err
	}
	a.tip, a.final = chain.BlockID{Height: cursor.Height, Hash: cursor.Hash}, cursor.Finalized
	if cursor.ReadUntil != nil {
		a.read = *cursor.ReadUntil
	}
	return nil
}

// undoBlocks removes every block above the ancestor. Their transfers become unconfirmed; a
// later snapshot of the mempool that lacks them marks them as gone. A transfer without a block hash
// is of a network that was reset since.
func (a *batchApplier) undoBlocks(ancestor chain.BlockID) error {
	var rows []models.Transfer
	above, inBlocks := "network = ? AND height > ?", "network = ? AND height > ? AND block_hash <> ''"
	if err := a.tx.Where(inBlocks, a.network, ancestor.Height).Find(&rows).Error; err != nil {
		return err
	}
	for _, t := range rows {
		a.touched.addTransfer(t)
	}
	loose := map[string]any{"height": nil, "block_hash": "", "gone_reason": string(payment.Reorged), "reverted": false,
		"updated_at": a.now}
	if err := a.tx.Model(&models.Transfer{}).Where(inBlocks, a.network, ancestor.Height).Updates(loose).Error; err != nil {
		return err
	}
	const conflicted = "network = ? AND conflict_height > ?"
	var conflicts []models.Transfer
	if err := a.tx.Where(conflicted, a.network, ancestor.Height).Find(&conflicts).Error; err != nil {
		return err
	}
	for _, t := range conflicts {
		a.touched.addTransfer(t)
	}
	unspent := map[string]any{"conflict_tx": "", "conflict_height": nil}
	if err := a.tx.Model(&models.Transfer{}).Where(conflicted, a.network, ancestor.Height).
		Updates(unspent).Error; err != nil {
		return err
	}
	if err := departure.Undo(a.tx, a.now, a.network, ancestor.Height); err != nil {
		return err
	}
	a.tip = ancestor
	return a.tx.Where(above, a.network, ancestor.Height).Delete(&models.ChainBlock{}).Error
}

// applyBlock applies one block after the tip.
func (a *batchApplier) applyBlock(b chain.Block) error {
	if a.tip.Hash != "" && (b.Height != a.tip.Height+1 || b.Parent != a.tip.Hash) {
		return fmt.Errorf("%w: block %d after %d", chain.ErrStale, b.Height, a.tip.Height)
	}
	if err := a.applyFacts(b); err != nil {
		return err
	}
	a.tip = b.BlockID
	row := models.ChainBlock{Network: a.network, Height: b.Height, Hash: b.Hash, Parent: b.Parent, Time: b.Time}
	a.blocks = append(a.blocks, row)
	return nil
}

// blockRows is how many blocks are inserted at once.
const blockRows = 500

// applyFacts writes the transfers of a block and the double spends that it confirms.
func (a *batchApplier) applyFacts(b chain.Block) error {
	if err := a.markDoubleSpends(b.Spends, &b.Height); err != nil { // first, as in pending
		return err
	}
	if err := a.loadKnown(b.Transfers); err != nil {
		return err
	}
	left, err := a.findMovers(b.Departures, b.Spends)
	if err == nil {
		err = left.Record(b.Height, a.now)
	}
	if err != nil {
		return err
	}
	for _, t := range b.Transfers {
		if err := a.applyTransfer(t, &b.Header); err != nil {
			return err
		}
	}
	if err := journal.PostArrivals(a.tx, a.now, a.arrivals); err != nil {
		return err
	}
	a.arrivals = nil
	return a.updates.flushEvents()
}

// findMovers finds what the transactions of a block or snapshot took from addresses of businesses.
func (a *batchApplier) findMovers(left []chain.Departure, spends []chain.Spend) (departure.Amounts, error) {
	reader := departure.Reader{Tx: a.tx, Network: a.network, Home: a.home, Depths: a.Depths}
	found, err := departure.Find(reader, left, spends)
	a.movers = found.ListMovers()
	return found, err
}

// finishBatch stores the blocks, moves the cursor, deletes blocks that no reorg can reach, and marks the payments
// that the batch concerns.
func (a *batchApplier) finishBatch() error {
	set := map[string]any{"height": a.tip.Height, "hash": a.tip.Hash,
		"finalized":  min(max(a.final, a.batch.Tip.Finalized), a.tip.Height),
		"source_tip": a.batch.Tip.Height, "problem": "", "updated_at": a.now}
	if a.batch.Read.After(a.read) {
		set["read_until"] = a.batch.Read
	}
	if err := a.tx.Model(&models.ChainCursor{}).Where("network = ?", a.network).Updates(set).Error; err != nil {
		return err
	}
	if len(a.blocks) > 0 {
		if err := a.tx.CreateInBatches(a.blocks, blockRows).Error; err != nil {
			return err
		}
	}
	if err := a.deleteUnreachable(); err != nil {
		return err
	}
	if err := books.BookTransfers(a.tx, a.now, a.network); err != nil {
		return err
	}
	if err := departure.Settle(a.tx, a.now, a.network, a.tip.Height); err != nil {
		return err
	}
	return a.markPaymentsDue()
}

// markPaymentsDue makes every payment and send due that the batch concerns.
func (a *batchApplier) markPaymentsDue() error {
	if err := send.MarkDue(a.tx, a.touched.listSends(), a.now); err != nil {
		return err
	}
	ids := a.touched.listPayments()
	if len(ids) == 0 {
		return nil
	}
	return a.tx.Model(&models.Payment{}).Where("id IN ?", ids).Update("due_at", a.now).Error
}

// touchedRows are the ids of the payments and sends that a batch concerns.
type touchedRows struct{ payments, sends map[int64]bool }

// addTransfer adds the payment and the send of a transfer.
func (r touchedRows) addTransfer(t models.Transfer) {
	if t.PaymentID != nil {
		r.payments[*t.PaymentID] = true
	}
	if t.SendID != nil {
		r.sends[*t.SendID] = true
	}
}

func (r touchedRows) listPayments() []int64 { return slices.Sorted(maps.Keys(r.payments)) }

func (r touchedRows) listSends() []int64 { return slices.Sorted(maps.Keys(r.sends)) }
