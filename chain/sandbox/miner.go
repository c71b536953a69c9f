package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cointill/models"
)

const (
	// idleInterval is the time between blocks on an idle chain.
	idleInterval = time.Minute
	// busyBlocks is how many blocks a transaction keeps its chain busy, or as many more as are finalized later.
	// It is larger than the usual final depths of other networks.
	busyBlocks = 64
	// pollInterval is how often a miner checks for changes by other processes. It is long, because each process
	// mines what it has sent itself: it matters only when one ends in between.
	pollInterval = 5 * time.Second
	// retryInterval is the time between two tries after a failure.
	retryInterval = time.Second
	// keptEmptyBlocks is how many of the newest blocks without transactions are kept. PruneEvery
	// is the number of new blocks between two prunings.
	keptEmptyBlocks, pruneEvery = 2000, 500
	// heldTxLifetime is how long a held transaction stays in the mempool.
	heldTxLifetime = 14 * 24 * time.Hour
)

// MineIfDue mines a block if one is due. It reports whether it did, and how long to wait until the next
// call. Any number of processes may call MineIfDue for one chain: the time of the last block decides
// under the chain's lock whether a block is due.
func (c *Chain) MineIfDue(ctx context.Context) (mined bool, wait time.Duration, err error) {
	now := c.clock()
	if wait, err = c.untilNextBlock(c.db.Read(ctx), now); err != nil || wait > 0 {
		return false, wait, err
	}
	err = c.updateChain(ctx, func(s *chainUpdate) (err error) {
		if wait, err = c.untilNextBlock(s.tx, now); err != nil || wait > 0 {
			mined = false
			return err // another process was faster
		}
		if err = s.mineBlocks(1); err != nil {
			return err
		}
		mined = true
		wait, err = c.untilNextBlock(s.tx, now)
		return err
	})
	return mined && err == nil, wait, err
}

// untilNextBlock returns the time until the next block is due.
func (c *Chain) untilNextBlock(tx *models.Tx, now time.Time) (time.Duration, error) {
	tip, err := c.readTip(tx)
	if err != nil {
		return 0, err
	}
	waiting, err := c.oldestPending(tx)
	if err != nil {
		return 0, err
	}
	due := tip.Time.Add(c.traits.interval)
	if len(waiting) > 0 {
		// On an idle chain a payment stays pending for a moment, as on a real network.
		if seen := waiting[0].CreatedAt.Add(c.traits.interval / 2); seen.After(due) {
			due = seen
		}
		return due.Sub(now), nil
	}
	busy := false
	err = tx.Raw(`SELECT EXISTS (SELECT 1 FROM sandbox_plans WHERE network = @network)
		OR EXISTS (SELECT 1 FROM sandbox_txes WHERE network = @network AND height > @height)`,
		map[string]any{"network": c.network, "height": tip.Height - busyBlocks - max(c.traits.finalityDepth,
			0)}).Find(&busy).Error
	if err != nil {
		return 0, fmt.Errorf("sandbox: is %s busy: %w", c.network, err)
	}
	if !busy {
		due = tip.Time.Add(idleInterval)
	}
	return due.Sub(now), nil
}

// oldestPending reads the oldest transaction that the next block takes. There may be none.
func (c *Chain) oldestPending(tx *models.Tx) (rows []models.SandboxTx, err error) {
	err = tx.Where("network = ? AND height IS NULL AND held = ?", c.network, false).Order("id").Limit(1).
		Find(&rows).Error
	if err != nil {
		err = fmt.Errorf("sandbox: read the mempool of %s: %w", c.network, err)
	}
	return rows, err
}

// pruneBlocks deletes old blocks without transactions that every follower has read, and held
// transactions older than heldTxLifetime.
func (s *chainUpdate) pruneBlocks() error {
	below := s.tip.Height
	var cursors []models.ChainCursor
	err := s.tx.Where("network = ?", s.network).Limit(1).Find(&cursors).Error
	if err == nil {
		if len(cursors) > 0 {
			below = min(below, cursors[0].Height)
		}
		err = s.tx.Exec(`DELETE FROM sandbox_blocks WHERE network = @network AND height > 0 AND height < @below
			AND NOT EXISTS (SELECT 1 FROM sandbox_txes t
				WHERE t.network = @network AND t.height = sandbox_blocks.height)`,
			map[string]any{"network": s.network, "below": below - keptEmptyBlocks}).Error
	}
	if err == nil {
		err = s.tx.Where("network = ? AND height IS NULL AND held = ? AND created_at < ?", s.network, true,
			s.clock().Add(-heldTxLifetime)).
			Delete(&models.SandboxTx{}).Error
	}
	if err != nil {
		return fmt.Errorf("sandbox: prune %s: %w", s.network, err)
	}
	return nil
}

// Miner mines blocks on some chains.
type Miner struct {
	Chains []*Chain
	Log    *slog.Logger
}

// Run mines until the context ends, and then returns nil. Failures are logged and tried again.
func (m Miner) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, c := range m.Chains {
		all.Go(func() { m.mineChain(ctx, c) })
	}
	all.Wait()
	return nil
}

func (m Miner) mineChain(ctx context.Context, c *Chain) {
	changed := make(chan struct{}, 1)
	stop := c.Notify(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-changed:
		}
		_, wait, err := c.MineIfDue(ctx)
		if (err != nil) != failed && ctx.Err() == nil {
			failed = err != nil
			m.Log.Warn("sandbox miner", "network", c.network, "failed", failed, "error", err)
		}
		if err != nil {
			wait = retryInterval
		}
		timer.Reset(max(10*time.Millisecond, min(wait, pollInterval)))
	}
}
