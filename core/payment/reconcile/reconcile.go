// Package reconcile finds ether that contracts sent to payment addresses: no transfer shows
// it, so the balances of addresses are compared with the transfers that were seen.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment/fence"
	"cointill/core/payment/observe"
	"cointill/models"
)

// Accounts is a network on which money can come to an address without a
// transaction that pays it: contracts send it on, and it shows in the balance only.
type Accounts interface {
	// Balances are what addresses hold after the block at a height, in the smallest
	// unit of the network's own coin and in the addresses' order; chain.ErrForgotten
	// where no node keeps the state of so old a block.
	Balances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error)
	// Inner is the block at a height with what contracts sent on in it;
	// chain.ErrForgotten where no node can tell.
	Inner(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error)
}

const (
	// looksAtOnce bounds how many addresses one look concerns; those that waited
	// longest come first, and the next look goes on.
	comparisonBatch = 1_000
	// maxFoundPerComparison bounds how many blocks with unseen money one comparison finds for
	// an address, so that a sender can't keep it busy. The next comparison continues.
	maxFoundPerComparison = 20
	// watchAfterEnd is how long the address of an ended payment is compared, because exchanges may
	// pay late. endedInterval is the number of blocks between two such comparisons: fewer than the
	// 128 blocks for which nodes keep balances.
	watchAfterEnd = 6 * time.Hour
	endedInterval = 96
	// maxFailures is how many times a failing node is asked again before its data counts as
	// lost.
	maxFailures = 12
)

// Reconciler compares the balances of payment addresses at the finalized block with the
// transfers that were seen, and searches for missing money. The payment's Holding stores where
// a comparison ended, so that the next holder of the lease continues there.
type Reconciler struct {
	*observe.Observer
	Network  chain.Network
	Coin     money.Coin // the network's own
	Accounts Accounts
	Fence    int64 // of the lease under which it works

	failures map[string]int // failed looks, by block and address
}

// holding is what an address held after a block.
type holding struct {
	height int64
	amount money.Amount
}

// Run looks every so often until the context ends; a look that fails is made again.
func (r *Reconciler) Run(ctx context.Context, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := r.Step(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "balances can't be compared; it is tried again", "network", r.Network, "error", err)
		}
	}
}

// Step runs one comparison: it reads the balances of new payments' addresses before they are
// paid, and compares addresses for which a further block was finalized.
func (r *Reconciler) Step(ctx context.Context) error {
	var cursors []models.ChainCursor
	if err := r.DB.Read(ctx).Where("network = ?", string(r.Network)).Find(&cursors).Error; err != nil ||
		len(cursors) == 0 {
		return err
	}
	final := cursors[0].Finalized
	failed := r.beginComparison(ctx, final)
	var rows []models.Holding
	err := r.DB.Read(ctx).Where("network = ? AND next <= ? AND known", string(r.Network), final).Order("next").
		Limit(comparisonBatch).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return errors.Join(failed, err)
	}
	amounts, err := r.Accounts.Balances(ctx, final, addressesOf(rows))
	if err != nil {
		return errors.Join(failed, err)
	}
	var done []models.Holding
	for i, row := range rows {
		now := holding{final, amounts[i]}
		if err := r.compareBalance(ctx, row.Address, holding{row.Height, row.Amount}, now); err != nil {
			failed = errors.Join(failed, err) // once more at the next look
			continue
		}
		row.Height, row.Amount = final, now.amount
		done = append(done, row)
	}
	if failed == nil {
		r.failures = nil
	}
	return errors.Join(failed, r.keepHolding(ctx, done))
}

// beginComparison reads the balances of new payments' addresses after the last block before
// their customers saw them. When no node has that state any more, it reads them at the
// finalized block.
func (r *Reconciler) beginComparison(ctx context.Context, final int64) error {
	var rows []models.Holding
	if err := r.DB.Read(ctx).Where("network = ? AND NOT known", string(r.Network)).Limit(comparisonBatch).
		Find(&rows).Error; err != nil {
		return err
	}
	shown := map[int64][]models.Holding{}
	for _, row := range rows {
		shown[row.Height] = append(shown[row.Height], row)
	}
	var failed error
	for height, rows := range shown {
		amounts, err := r.Accounts.Balances(ctx, height, addressesOf(rows))
		if err != nil && r.isUnknowable(err, height, "") && final > height {
			height = final
			amounts, err = r.Accounts.Balances(ctx, final, addressesOf(rows))
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for i := range rows {
			rows[i].Amount, rows[i].Known, rows[i].Height, rows[i].Next = amounts[i], true, height, height+1
		}
		failed = errors.Join(failed, r.saveHolding(ctx, rows, nil))
	}
	return failed
}

// isUnknowable reports whether an error means that no node can show the state of a block and
// an address: none has it, or one that may have it failed for a minute.
func (r *Reconciler) isUnknowable(err error, height int64, address string) bool {
	if errors.Is(err, chain.ErrForgotten) {
		return true
	}
	if r.failures == nil {
		r.failures = map[string]int{}
	}
	what := fmt.Sprint(height, " ", address)
	r.failures[what]++
	return r.failures[what] >= maxFailures
}

// keepHolding writes down where comparisons ended. Payments that have ended are looked at
// less often, and at last no more.
func (r *Reconciler) keepHolding(ctx context.Context, rows []models.Holding) error {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.PaymentID
	}
	var payments []models.Payment
	if err := r.DB.Read(ctx).Select("id", "settled_at").Where("id IN ? AND settled_at IS NOT NULL", ids).
		Find(&payments).Error; err != nil {
		return err
	}
	ends := map[int64]time.Time{}
	for _, p := range payments {
		ends[p.ID] = *p.SettledAt
	}
	var stay []models.Holding
	var over []int64
	for _, row := range rows {
		switch end, ended := ends[row.PaymentID]; {
		case !ended:
			row.Next = row.Height + 1
		case r.Clock().Sub(end) < watchAfterEnd:
			row.Next = row.Height + endedInterval
		default:
			over = append(over, row.PaymentID)
			continue
		}
		stay = append(stay, row)
	}
	return r.saveHolding(ctx, stay, over)
}

// saveHolding writes holdings, and deletes the holdings of some payments.
func (r *Reconciler) saveHolding(ctx context.Context, rows []models.Holding, over []int64) error {
	return fence.Write(ctx, r.DB, r.Network, r.Fence, func(tx *models.Tx) error {
		if len(over) > 0 {
			if err := tx.Where("network = ? AND payment_id IN ?", string(r.Network), over).
				Delete(&models.Holding{}).Error; err != nil {
				return err
			}
		}
		one := []clause.Column{{Name: "payment_id"}, {Name: "network"}}
		return tx.Clauses(clause.OnConflict{Columns: one, UpdateAll: true}).
			Create(&rows).Error
	})
}

func addressesOf(rows []models.Holding) []string {
	addresses := make([]string, len(rows))
	for i, row := range rows {
		addresses[i] = row.Address
	}
	return addresses
}

// compareBalance searches for money that an address gained between two blocks and that no
// transfer shows, until nothing is missing.
func (r *Reconciler) compareBalance(ctx context.Context, address string, before, now holding) error {
	for range maxFoundPerComparison {
		if now.amount.Cmp(before.amount) <= 0 {
			return nil
		}
		done, err := r.searchBlocks(ctx, address, before, now)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d payments by contracts at once came to %s", maxFoundPerComparison, address)
}

// searchBlocks finds the first block that brought something unseen; done when there is none.
func (r *Reconciler) searchBlocks(ctx context.Context, address string, before, now holding) (done bool, err error) {
	var seen []models.Transfer
	err = r.DB.Read(ctx).Where(
		"network = ? AND height > ? AND height <= ? AND address = ? AND asset = ? AND NOT reverted", string(r.Network),
		before.height, now.height,
		address, string(r.Coin)).Find(&seen).Error
	if err != nil {
		return false, err
	}
	missing := func(at holding) money.Amount {
		gain := at.amount.Sub(before.amount)
		for _, t := range seen {
			if *t.Height <= at.height {
				gain = gain.Sub(t.Amount)
			}
		}
		return gain
	}
	if missing(now).Sign() <= 0 {
		return true, nil
	}
	low, high := before, now
	for high.height-low.height > 1 {
		middle := holding{height: low.height + (high.height-low.height)/2}
		amounts, err := r.Accounts.Balances(ctx, middle.height, []string{address})
		switch {
		case err != nil && r.isUnknowable(err, middle.height, address):
			low = middle // it arrived here or later, as far as nodes can show now
		case err != nil:
			return false, err
		default:
			if middle.amount = amounts[0]; missing(middle).Sign() > 0 {
				high = middle
			} else {
				low = middle
			}
		}
	}
	return false, r.applyFound(ctx, address, high.height, missing(high))
}

// applyFound records money of a block: with its transaction when a node shows it, otherwise as
// a balance, which credits nothing.
func (r *Reconciler) applyFound(ctx context.Context, address string, height int64, amount money.Amount) error {
	watch := new(chain.WatchSet)
	watch.AddAddresses(address)
	block, err := r.Accounts.Inner(ctx, height, watch)
	switch {
	case err == nil:
		if fresh, err := r.ApplyAgain(ctx, r.Network, r.Fence, block); err != nil || fresh > 0 {
			return err
		}
	case ctx.Err() != nil:
		return ctx.Err()
	case !r.isUnknowable(err, height, address):
		return err
	}
	var blocks []models.ChainBlock
	if err := r.DB.Read(ctx).Where("network = ? AND height = ?", string(r.Network), height).
		Find(&blocks).Error; err != nil {
		return err
	}
	lost := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height}, Time: r.Clock()},
		Transfers: []chain.Transfer{{TxID: models.BalanceTxID(height, address), Asset: string(r.Coin),
			Destination: chain.Destination{Address: address}, Amount: amount, Via: observe.UnknownVia}}}
	if len(blocks) > 0 { // else it is so old that no block of its time is kept
		lost.Hash, lost.Parent, lost.Time = blocks[0].Hash, blocks[0].Parent, blocks[0].Time
	}
	_, err = r.ApplyAgain(ctx, r.Network, r.Fence, lost)
	return err
}
