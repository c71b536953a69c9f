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
	// maxBatchBlocks bounds the new blocks of one batch, and with them memory and the length of a
	// transaction. A reorganisation adds the blocks that it replaces.
	maxBatchBlocks = 100
	// maxBatchMoves is the number of transfers and spends that ends a batch with the block that
	// reaches it. The payments of a busy hour are so applied in steps that are short for a database
	// and that survive the end of the program.
	maxBatchMoves = 20
	// firstStartDepth is how many blocks below the tip a first start reads, so that a
	// reorganisation soon afterwards finds a common ancestor.
	firstStartDepth = 24
	// minStepDelay is the pause after a step of Run. Wakes during the pause share the next step, so
	// that a burst of them reads the mempool once.
	minStepDelay = 50 * time.Millisecond
	// maxRereads is how often one step starts over because the source changed while it was read.
	maxRereads = 3
)

// FollowerConfig holds the source, the store and the settings of a Follower.
type FollowerConfig struct {
	Network Network
	Source  Source
	Store   Store
	Watch   Watch
	// Refresh brings Watch up to date with the additions of other processes. It runs after the tip
	// was read and before any block is read. An address is stored before it is shown, so every
	// block is read with the addresses that it may pay. Nil if one process does everything.
	Refresh func(ctx context.Context) error
	// Fence returns the number of the lease that is held now; nil if no lease is needed.
	Fence    func() int64
	Clock    func() time.Time
	Interval time.Duration // between two steps of Run; 0 means 1 s
	// RestInterval is the time between two steps of Run while the network is healthy and nothing is awaited on it. Such a
	// step reads no mempool. 0 means that Run doesn't rest.
	RestInterval time.Duration
	// Awaited reports whether a payment or a send may soon change by what the network shows. It is asked
	// before each step if there is a RestInterval.
	Awaited func(ctx context.Context) (bool, error)
	Timeout time.Duration // of one question to the source; 0 means 30 s
	Log     *slog.Logger  // logs changes of health; nil logs nothing
}

// Follower walks the best chain of one network and applies it to a Store without a gap. It copes
// with a source that fails, lags, jumps back, contradicts itself or reorganises, and with the
// process ending at any moment. Everything that must survive is in the store.
type Follower struct {
	FollowerConfig
	wake chan struct{}

	stepMu             sync.Mutex // held during a step; guards the fields below
	appliedFingerprint string     // fingerprint of the last applied Pending and its block
	recordedProblem    *string    // the last recorded health; nil if none was recorded under this fence
	fence              int64

	statusMu   sync.Mutex
	lastStatus Status
}

// Status is the progress of a follower, for readiness and metrics.
type Status struct {
	Applied BlockID   // the last applied block that this process knows
	Tip     BlockID   // the source's tip when it was last read
	Problem string    // "" when healthy
	At      time.Time // end of the last step, or of a batch within one; at first, the follower's creation
}

// NewFollower makes a follower. Run or Step starts it.
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
	f := &Follower{FollowerConfig: config, wake: make(chan struct{}, 1)}
	f.lastStatus.At = f.currentTime()
	return f
}

// Run follows until the context ends, and then returns nil. Problems are recorded by Store.Health;
// the next step, after an Interval or a Wake, tries again.
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
		if !f.isResting(ctx) {
			_, _ = f.Step(ctx) // the error is recorded by Health, or it is the end of the context
		}
		timer.Reset(delay)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(f.Interval - delay)
	}
}

// isResting reports whether Run leaves out a step: nothing is awaited, and the last step is younger than RestInterval.
func (f *Follower) isResting(ctx context.Context) bool {
	f.stepMu.Lock()
	defer f.stepMu.Unlock()
	if f.RestInterval == 0 || f.Fence() != f.fence || f.recordedProblem == nil || *f.recordedProblem != "" {
		return false
	}
	age := f.currentTime().Sub(f.Status().At)
	return age >= 0 && age < f.RestInterval && !f.isAwaited(ctx)
}

// isAwaited asks whether something is awaited on the network. What can't be known counts as awaited.
func (f *Follower) isAwaited(ctx context.Context) bool {
	if f.RestInterval == 0 {
		return true
	}
	awaited, err := f.Awaited(ctx)
	return awaited || err != nil
}

// Wake starts the next step of Run now, for sources that push. It never blocks.
func (f *Follower) Wake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Status returns the progress of the follower.
func (f *Follower) Status() Status {
	f.statusMu.Lock()
	defer f.statusMu.Unlock()
	return f.lastStatus
}

// Step catches up with the source's tip and reads its mempool once. It reports whether a batch was
// applied. The error is the reason why it stopped. It is recorded by Health already, unless the
// store itself failed or refused the batch with ErrStale.
func (f *Follower) Step(ctx context.Context) (changed bool, err error) {
	f.stepMu.Lock()
	defer f.stepMu.Unlock()
	if fence := f.Fence(); fence != f.fence {
		f.fence, f.appliedFingerprint, f.recordedProblem = fence, "", nil
	}
	askedTwice, awaited := false, f.isAwaited(ctx)
	for rereads := 0; ; {
		applied, next, err := f.applyNextBatch(ctx, awaited)
		changed = changed || applied
		switch {
		case next == sourceMoved && rereads < maxRereads:
			rereads++
		case !askedTwice && f.isHealthy() && IsTransient(err):
			askedTwice = true
		case err != nil:
			return changed, f.recordHealth(ctx, err)
		case next == behindTip:
			s := f.Status()
			f.Log.Info("chain follower catches up", "network", f.Network, "applied", s.Applied.Height, "tip",
				s.Tip.Height)
		default:
			return changed, f.recordHealth(ctx, nil)
		}
	}
}

// askWithin asks a source one question, within a time limit.
func askWithin[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return ask(ctx)
}

// isHealthy reports whether no problem of the network is recorded.
func (f *Follower) isHealthy() bool { return f.recordedProblem == nil || *f.recordedProblem == "" }

// IsTransient reports whether an error is transient: it has a method Transient that returns true. A
// healthy node may fail to answer once. The source is asked a second time before the problem is
// recorded and the coin can't be paid.
func IsTransient(err error) bool {
	var t interface{ Transient() bool }
	return errors.As(err, &t) && t.Transient()
}

// pollResult is the result of applyNextBatch.
type pollResult int

const (
	caughtUp    pollResult = iota
	behindTip              // the tip is not reached yet
	sourceMoved            // the source changed while it was read; read it again
)

// applyNextBatch reads and applies one batch, without the mempool if nothing is awaited.
func (f *Follower) applyNextBatch(ctx context.Context, awaited bool) (applied bool, _ pollResult, err error) {
	cursor, err := f.Store.Cursor(ctx, f.Network)
	if err != nil {
		return false, caughtUp, fmt.Errorf("%w: read the cursor: %w", errStore, err)
	}
	asked := f.currentTime()
	view, err := askWithin(ctx, f.Timeout, f.Source.At)
	if err != nil {
		return false, caughtUp, err
	}
	tip := view.Tip
	f.updateStatus(func(s *Status) { s.Applied, s.Tip = cursor.Block, tip.BlockID })
	if f.Refresh != nil {
		if err := f.Refresh(ctx); err != nil {
			return false, caughtUp, fmt.Errorf("%w: read what to watch: %w", errStore, err)
		}
	}
	batch, err := f.readBlocks(ctx, cursor, view, awaited)
	if err != nil {
		if errors.Is(err, errMoved) {
			return false, sourceMoved, err
		}
		return false, caughtUp, err
	}
	end, result := cursor.Block, caughtUp
	var mempoolErr error // why the mempool is missing; blocks count all the same
	if n := len(batch.Blocks); n > 0 {
		end = batch.Blocks[n-1].BlockID
	}
	if end != tip.BlockID {
		result = behindTip
	} else if awaited || view.NoMempool {
		if result, mempoolErr, err = f.readMempool(ctx, view, &batch); err != nil {
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

// readMempool reads the mempool into the batch, but only if the tip did not change meanwhile: a
// transaction that was mined during the read could be in neither the blocks nor the mempool.
// mempoolErr is the reason if the mempool can't be read although the source can be trusted.
func (f *Follower) readMempool(ctx context.Context, view View, batch *Batch) (result pollResult, mempoolErr,
	err error) {
	if view.NoMempool {
		batch.Pending = new(Pending)
		return caughtUp, nil, ctx.Err()
	}
	pending, mempoolErr := askWithin(ctx, f.Timeout, func(ctx context.Context) (Pending, error) {
		return view.Pending(ctx, f.Watch)
	})
	after, err := askWithin(ctx, f.Timeout, f.Source.At)
	switch {
	case err != nil:
		return caughtUp, nil, err
	case after.Tip.BlockID != view.Tip.BlockID:
		return sourceMoved, nil, nil
	case mempoolErr != nil:
		return caughtUp, fmt.Errorf("the mempool can't be read: %w", mempoolErr), nil
	}
	batch.Pending = &pending
	return caughtUp, nil, nil
}

// readBlocks reads the batch that leads from the cursor towards the tip.
func (f *Follower) readBlocks(ctx context.Context, cursor Cursor, view View, awaited bool) (Batch, error) {
	tip := view.Tip
	batch := Batch{Network: f.Network, Fence: f.fence, From: cursor.Block, Tip: tip}
	base, last := cursor.Block, min(tip.Height, cursor.Block.Height+maxBatchBlocks)
	var some []Block // that were read and aren't in the batch yet
	if !cursor.Known {
		base, last = BlockID{Height: max(tip.Height-firstStartDepth, 0) - 1}, tip.Height
	} else {
		var err error
		if some, batch.Ancestor, err = f.continueFrom(ctx, cursor.Block, last, view, awaited); err != nil {
			return batch, err
		}
		if batch.Ancestor != nil {
			base = *batch.Ancestor
		}
	}
	moves := 0
	for height := base.Height + 1; height <= last; height++ {
		if len(some) == 0 {
			var err error
			if some, err = f.readSome(ctx, view, height, last, awaited); err != nil {
				return batch, err
			}
		}
		block := some[0]
		some = some[1:]
		first := !cursor.Known && len(batch.Blocks) == 0
		if block.Height != height || (block.Parent != base.Hash && !first) || block.Hash == "" {
			return batch, fmt.Errorf("%w: block %d doesn't follow block %d", errMoved, height, base.Height)
		}
		batch.Blocks, base = append(batch.Blocks, block), block.BlockID
		// A batch doesn't end within the blocks that a reorganisation replaces: a transaction that
		// is mined again further up would look dropped.
		if moves += len(block.Transfers) + len(block.Spends); moves >= maxBatchMoves && height >= cursor.Block.Height {
			last = height
		}
	}
	if last == tip.Height && base != tip.BlockID {
		return batch, fmt.Errorf("%w: block %d is not the tip it named", errMoved, tip.Height)
	}
	return batch, nil
}

// continueFrom finds where the node's chain continues: usually with the block after the cursor, whose parent shows it.
// It returns the blocks that it read, or the last block of the old branch that stays: nil for the cursor itself.
func (f *Follower) continueFrom(ctx context.Context, cursor BlockID, last int64, view View, awaited bool) (some []Block,
	ancestor *BlockID, err error) {
	if last > cursor.Height {
		if some, err = f.readSome(ctx, view, cursor.Height+1, last, awaited); err != nil {
			return nil, nil, err
		}
		if some[0].Parent == cursor.Hash {
			return some, nil, nil
		}
	}
	ancestor, err = f.findAncestor(ctx, cursor, view)
	return nil, ancestor, err
}

// readSome reads the block at a height, and further ones up to the last if nothing is awaited and the reader can.
func (f *Follower) readSome(ctx context.Context, view View, height, last int64, awaited bool) (some []Block, err error) {
	some, err = askWithin(ctx, f.Timeout, func(ctx context.Context) ([]Block, error) {
		if ranges, ok := view.Reader.(RangeReader); ok && !awaited && height < last {
			return ranges.Blocks(ctx, height, last, f.Watch)
		}
		block, err := view.Block(ctx, height, f.Watch)
		return []Block{block}, err
	})
	switch {
	case errors.Is(err, ErrNoBlock):
		return nil, fmt.Errorf("%w: block %d is missing below its tip %d", errMoved, height, view.Tip.Height)
	case err != nil:
		return nil, fmt.Errorf("block %d can't be read: %w", height, err)
	}
	return some, nil
}

// recordHealth records the result of a step if it differs from the recorded health.
func (f *Follower) recordHealth(ctx context.Context, err error) error {
	sentence := healthSentence(err)
	f.updateStatus(func(s *Status) { s.Problem, s.At = sentence, f.currentTime() })
	if ctx.Err() != nil || errors.Is(err, ErrStale) || (f.recordedProblem != nil && *f.recordedProblem == sentence) {
		return err // the store refused this follower because another one holds the lease
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

// fingerprintPending hashes a mempool snapshot and the block at which it was read, independent of
// the order in which the source lists it.
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
		fmt.Fprintf(sum, "%q %d %q %q %q %s %q %v\n", t.TxID, t.Index, t.Asset, t.Address, tag, t.Amount, t.Spends,
			t.Reverted)
	}
	for _, s := range pending.Spends {
		fmt.Fprintf(sum, "%q %q\n", s.Key, s.TxID)
	}
	return string(sum.Sum(nil))
}
