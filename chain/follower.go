package chain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	// maxBatchBlocks bounds how many new blocks one batch carries, and so memory and
	// the length of a transaction. A reorganisation adds those that it replaces.
	maxBatchBlocks = 100
	// maxBatchMoves is how many transfers and spends end a batch with the block that
	// reaches it: what is paid in a busy hour is caught up with in steps that a
	// database is soon done with, and that stay done if the program ends.
	maxBatchMoves = 20
	// firstStartDepth is how many blocks below the tip a first start reads, so that a
	// reorganisation right afterwards finds a common ancestor.
	firstStartDepth = 24
	// minStepDelay is the rest after a step of Run: wakes that come meanwhile share the
	// next one, so that a burst of them costs one reading of the mempool, not each.
	minStepDelay = 50 * time.Millisecond
	// maxRereads is how often one step begins anew because the source moved under it.
	maxRereads = 3
)

// FollowerConfig says what to follow and where to put it.
type FollowerConfig struct {
	Network Network
	Source  Source
	Store   Store
	Watch   Watch
	// Refresh brings Watch up to date with what other processes added. It runs
	// after the tip was read and before any block is: an address is stored before
	// it is shown, so no block is read without the addresses that it may pay. Nil
	// when one process does everything.
	Refresh func(ctx context.Context) error
	// Fence is the number of the lease that is held now; nil means none is needed.
	Fence    func() int64
	Clock    func() time.Time
	Interval time.Duration // between two steps of Run; 0 means 1 s
	Timeout  time.Duration // of one question to the source; 0 means 30 s
	Log      *slog.Logger  // told when health changes; nil means nobody is
}

// Follower walks one network's best chain and hands what it learns to a Store,
// without a gap, whatever the source does: it may fail, lag, jump back,
// contradict itself or be reorganised, and the process may die at any moment.
// Everything it must remember is in the store.
type Follower struct {
	FollowerConfig
	wake chan struct{}

	stepMu             sync.Mutex // one step at a time; guards what follows
	appliedFingerprint string     // fingerprint of the last applied Pending and where it was applied
	recordedProblem    *string    // the last recorded health; nil when this follower recorded none under this fence
	fence              int64

	statusMu   sync.Mutex
	lastStatus Status
}

// Status is how a follower does, for readiness and metrics.
type Status struct {
	Applied BlockID   // the last applied block that this process knows of
	Tip     BlockID   // the source's tip when it was last read
	Problem string    // "" when healthy
	At      time.Time // when the last look ended: a step, or a batch of one; before the first, when the follower was made
}

// NewFollower makes a follower; Run or Step starts it.
func NewFollower(config FollowerConfig) *Follower {
	if config.Fence == nil {
		config.Fence = func() int64 { return 0 }
	}
	if config.Interval <= 0 {
		config.Interval = time.Second
	}
	if config.Timeout <= 0 {
		config.Timeout = 30 * time.Second
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	config.Source = timeoutSource{config.Source, config.Timeout}
	f := &Follower{FollowerConfig: config, wake: make(chan struct{}, 1)}
	f.lastStatus.At = f.currentTime()
	return f
}

// Run follows until the context ends, and then returns nil. Problems are told
// through Store.Health; the next step, an Interval or a Wake later, tries again.
func (f *Follower) Run(ctx context.Context) error {
	delay := min(minStepDelay, f.Interval)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-f.wake:
		}
		_, _ = f.Step(ctx) // recorded in Health, or the context's end
		timer.Reset(delay)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(f.Interval - delay)
	}
}

// Wake makes Run take its next step now: for sources that push. It never blocks.
func (f *Follower) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Status tells how the following goes.
func (f *Follower) Status() Status {
	f.statusMu.Lock()
	defer f.statusMu.Unlock()
	return f.lastStatus
}

// Step catches up with the source's tip and reads its mempool once. It reports
// whether anything was applied. An error is why it stopped; it is in Health
// already, unless the store itself failed or refused with ErrStale.
func (f *Follower) Step(ctx context.Context) (changed bool, err error) {
	f.stepMu.Lock()
	defer f.stepMu.Unlock()
	if fence := f.Fence(); fence != f.fence {
		f.fence, f.appliedFingerprint, f.recordedProblem = fence, "", nil
	}
	askedTwice := false
	for rereads := 0; ; {
		applied, next, err := f.applyNextBatch(ctx)
		changed = changed || applied
		switch {
		case next == sourceMoved && rereads < maxRereads:
			rereads++
		case !askedTwice && f.isHealthy() && Passing(err):
			askedTwice = true
		case err != nil:
			return changed, f.recordHealth(ctx, err)
		case next == behindTip:
			s := f.Status()
			f.Log.Info("chain follower catches up", "network", f.Network, "applied", s.Applied.Height, "tip", s.Tip.Height)
		default:
			return changed, f.recordHealth(ctx, nil)
		}
	}
}

// isHealthy reports whether nothing is told to be wrong with the network.
func (f *Follower) isHealthy() bool { return f.recordedProblem == nil || *f.recordedProblem == "" }

// Passing reports an error with a method Passing that says true: an answer went
// missing, as single ones of a node do that is well. The source is asked once more
// before anybody is told that the coin can't be paid.
func Passing(err error) bool {
	var p interface{ Passing() bool }
	return errors.As(err, &p) && p.Passing()
}

// pollResult is what should follow a poll.
type pollResult int

const (
	caughtUp    pollResult = iota
	behindTip              // the tip is not reached yet
	sourceMoved            // the source changed while it was read: look again
)

// applyNextBatch reads and applies one batch.
func (f *Follower) applyNextBatch(ctx context.Context) (applied bool, _ pollResult, err error) {
	cursor, err := f.Store.Cursor(ctx, f.Network)
	if err != nil {
		return false, caughtUp, fmt.Errorf("%w: read the cursor: %w", errStore, err)
	}
	asked := f.currentTime()
	tip, err := f.Source.Tip(ctx)
	if err != nil {
		return false, caughtUp, err
	}
	f.updateStatus(func(s *Status) { s.Applied, s.Tip = cursor.Block, tip.BlockID })
	if f.Refresh != nil {
		if err := f.Refresh(ctx); err != nil {
			return false, caughtUp, fmt.Errorf("%w: read what to watch: %w", errStore, err)
		}
	}
	batch, err := f.readBlocks(ctx, cursor, tip)
	if err != nil {
		if errors.Is(err, errMoved) {
			return false, sourceMoved, err
		}
		return false, caughtUp, err
	}
	end, result := cursor.Block, caughtUp
	var mempoolErr error // why there is no picture of the mempool: blocks count all the same
	if n := len(batch.Blocks); n > 0 {
		end = batch.Blocks[n-1].BlockID
	}
	if end != tip.BlockID {
		result = behindTip
	} else {
		if result, mempoolErr, err = f.readMempool(ctx, &batch); err != nil {
			return false, caughtUp, err
		}
		if batch.Pending != nil {
			batch.Read = asked
		}
	}
	fingerprint := fingerprintPending(batch.Fence, end, batch.Pending)
	if len(batch.Blocks) == 0 && (batch.Pending == nil || fingerprint == f.appliedFingerprint) {
		if !batch.Read.IsZero() {
			if err := f.Store.Looked(ctx, batch); err != nil {
				return false, caughtUp, fmt.Errorf("%w: note a look: %w", errStore, err)
			}
		}
		return false, result, mempoolErr
	}
	if err := f.Store.Apply(ctx, batch); err != nil {
		f.appliedFingerprint = ""
		return false, caughtUp, fmt.Errorf("%w: apply a batch: %w", errStore, err)
	}
	f.appliedFingerprint = fingerprint
	f.updateStatus(func(s *Status) { s.Applied, s.At = end, f.currentTime() })
	if mempoolErr != nil {
		f.recordedProblem = nil // the store may take an applied batch for health
	}
	return true, result, mempoolErr
}

// readMempool reads the mempool into the batch, but only if the tip stayed where it
// was meanwhile: else a transaction that was just mined would be in neither.
// unread is why there is no picture although the source can be trusted.
func (f *Follower) readMempool(ctx context.Context, batch *Batch) (result pollResult, mempoolErr, err error) {
	pending, mempoolErr := f.Source.Pending(ctx, f.Watch)
	tip, err := f.Source.Tip(ctx)
	switch {
	case err != nil:
		return caughtUp, nil, err
	case tip.BlockID != batch.Tip.BlockID:
		return sourceMoved, nil, nil
	case mempoolErr != nil:
		return caughtUp, fmt.Errorf("the mempool can't be read: %w", mempoolErr), nil
	}
	batch.Pending = &pending
	return caughtUp, nil, nil
}

// readBlocks makes the batch that leads from the cursor towards the tip.
func (f *Follower) readBlocks(ctx context.Context, cursor Cursor, tip Tip) (Batch, error) {
	batch := Batch{Network: f.Network, Fence: f.fence, From: cursor.Block, Tip: tip}
	base, last := cursor.Block, min(tip.Height, cursor.Block.Height+maxBatchBlocks)
	if !cursor.Known {
		base, last = BlockID{Height: max(tip.Height-firstStartDepth, 0) - 1}, tip.Height
	} else {
		ancestor, err := f.findAncestor(ctx, cursor.Block, tip)
		if err != nil {
			return batch, err
		}
		if ancestor != nil {
			batch.Ancestor, base = ancestor, *ancestor
		}
	}
	moves := 0
	for height := base.Height + 1; height <= last; height++ {
		block, err := f.Source.Block(ctx, height, f.Watch)
		if errors.Is(err, ErrNoBlock) {
			return batch, fmt.Errorf("%w: block %d is missing below its tip %d", errMoved, height, tip.Height)
		}
		if err != nil {
			return batch, fmt.Errorf("block %d can't be read: %w", height, err)
		}
		first := !cursor.Known && len(batch.Blocks) == 0
		if block.Height != height || (block.Parent != base.Hash && !first) || block.Hash == "" {
			return batch, fmt.Errorf("%w: block %d doesn't follow block %d", errMoved, height, base.Height)
		}
		batch.Blocks, base = append(batch.Blocks, block), block.BlockID
		// Never in the middle of what a reorganisation replaces: what comes again
		// further up would look gone.
		if moves += len(block.Transfers) + len(block.Spends); moves >= maxBatchMoves && height >= cursor.Block.Height {
			last = height
		}
	}
	if last == tip.Height && base != tip.BlockID {
		return batch, fmt.Errorf("%w: block %d is not the tip it named", errMoved, tip.Height)
	}
	return batch, nil
}

// recordHealth records how a step ended, when that differs from what stands there.
func (f *Follower) recordHealth(ctx context.Context, err error) error {
	sentence := healthSentence(err)
	f.updateStatus(func(s *Status) { s.Problem, s.At = sentence, f.currentTime() })
	if ctx.Err() != nil || errors.Is(err, ErrStale) || (f.recordedProblem != nil && *f.recordedProblem == sentence) {
		return err // a store that refused us is another follower's now
	}
	if failed := f.Store.Health(ctx, f.Network, f.fence, sentence); failed != nil {
		return errors.Join(err, fmt.Errorf("record the health: %w", failed))
	}
	if sentence != "" {
		f.Log.Warn("chain follower stopped", "network", f.Network, "problem", sentence, "error", err)
	} else if f.recordedProblem != nil {
		f.Log.Info("chain follower goes on", "network", f.Network)
	}
	f.recordedProblem = &sentence
	return err
}

func (f *Follower) updateStatus(change func(*Status)) {
	f.statusMu.Lock()
	defer f.statusMu.Unlock()
	change(&f.lastStatus)
}

func (f *Follower) currentTime() time.Time {
	if f.Clock == nil {
		return time.Time{}
	}
	return f.Clock()
}

// fingerprintPending names a picture of the mempool and the place where it was taken,
// whatever the order in which a source lists things.
func fingerprintPending(fence int64, at BlockID, pending *Pending) string {
	if pending == nil {
		return ""
	}
	slices.SortFunc(pending.Transfers, func(a, b Transfer) int {
		return cmp.Or(cmp.Compare(a.TxID, b.TxID), cmp.Compare(a.Index, b.Index))
	})
	slices.SortFunc(pending.Spends, func(a, b Spend) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.TxID, b.TxID))
	})
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %d %s\n", fence, at.Height, at.Hash)
	for _, t := range pending.Transfers {
		tag := ""
		if t.Tag != nil {
			tag = fmt.Sprint(*t.Tag)
		}
		fmt.Fprintf(sum, "%q %d %q %q %q %s %q %v\n", t.TxID, t.Index, t.Asset, t.Address, tag, t.Amount, t.Spends, t.Reverted)
	}
	for _, s := range pending.Spends {
		fmt.Fprintf(sum, "%q %q\n", s.Key, s.TxID)
	}
	return string(sum.Sum(nil))
}
