package chaintest

import (
	"context"
	"errors"
	"sync"

	"cointill/chain"
)

// laggingSource is some blocks behind the source that it wraps: always by blocks, or by the next
// number of cycle at each question.
type laggingSource struct {
	chain.Source
	mu     sync.Mutex
	blocks int64
	cycle  []int64
	asked  int
}

func (l *laggingSource) wrapSource(source chain.Source) chain.Source { l.Source = source; return l }

func (l *laggingSource) setBlocks(blocks int64) { l.mu.Lock(); defer l.mu.Unlock(); l.blocks = blocks }

func (l *laggingSource) nextLag() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cycle) == 0 {
		return l.blocks
	}
	l.asked++
	return l.cycle[l.asked%len(l.cycle)]
}

// laggedTip returns the last block that the lagging source knows.
func (l *laggingSource) laggedTip(ctx context.Context) (chain.Tip, error) {
	tip, err := l.Source.Tip(ctx)
	if behind := l.nextLag(); err == nil && behind > 0 {
		tip.Header, err = l.Source.Header(ctx, tip.Height-behind)
		tip.Finalized = min(tip.Finalized, tip.Height)
	}
	return tip, err
}

func (l *laggingSource) Tip(ctx context.Context) (chain.Tip, error) { return l.laggedTip(ctx) }

func (l *laggingSource) Header(ctx context.Context, height int64) (chain.Header, error) {
	if tip, err := l.laggedTip(ctx); err != nil || height > tip.Height {
		return chain.Header{}, errors.Join(err, chain.ErrNoBlock)
	}
	return l.Source.Header(ctx, height)
}

func (l *laggingSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if tip, err := l.laggedTip(ctx); err != nil || height > tip.Height {
		return chain.Block{}, errors.Join(err, chain.ErrNoBlock)
	}
	return l.Source.Block(ctx, height, watch)
}

// Pending returns the transactions that the lagging source has not seen mined: the mempool and the
// transfers of the blocks that it doesn't know.
func (l *laggingSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	end, err := l.laggedTip(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	pending, err := l.Source.Pending(ctx, watch)
	if err != nil {
		return pending, err
	}
	tip, err := l.Source.Tip(ctx)
	for height := end.Height + 1; err == nil && height <= tip.Height; height++ {
		var block chain.Block
		if block, err = l.Source.Block(ctx, height, watch); err == nil {
			for i := range block.Transfers {
				block.Transfers[i].Reverted = false
			}
			pending.Transfers = append(pending.Transfers, block.Transfers...)
			pending.Spends = append(pending.Spends, block.Spends...)
		}
	}
	return pending, err
}

// falseSource changes some answers of Block.
type falseSource struct {
	chain.Source
	falsify func(*chain.Block)
	times   int
}

func (l *falseSource) wrapSource(source chain.Source) chain.Source { l.Source = source; return l }

func (l *falseSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	block, err := l.Source.Block(ctx, height, watch)
	if err == nil && l.times > 0 {
		l.times--
		l.falsify(&block)
	}
	return block, err
}

// errBroken is the error of a failingSource for the ledger.
var errBroken = errors.New("broken on purpose")

// transientError is its error for the source: it may be transient, see chain.IsTransient.
type transientError struct{ error }

func (transientError) Transient() bool { return true }

// failingSource fails one call, counted over source and ledger together.
type failingSource struct {
	chain.Source
	failAt, callCount int
	sourceFailed      bool // the failed call was one of the source
	twice             bool // the first call of the second attempt fails, too
	askedAgain        bool // the second attempt has begun
}

func (b *failingSource) wrapSource(source chain.Source) chain.Source { b.Source = source; return b }

func (b *failingSource) failCall(call string) error {
	if call == "health" {
		return nil
	}
	b.callCount++
	if b.callCount == b.failAt+1 {
		if b.sourceFailed = call == "source"; b.sourceFailed {
			return transientError{errBroken}
		}
		return errBroken
	}
	b.askedAgain = b.askedAgain || (b.sourceFailed && call == "cursor")
	if b.askedAgain && b.twice && call == "source" {
		b.twice = false
		return transientError{errBroken}
	}
	return nil
}

func (b *failingSource) Tip(ctx context.Context) (chain.Tip, error) {
	if err := b.failCall("source"); err != nil {
		return chain.Tip{}, err
	}
	return b.Source.Tip(ctx)
}

func (b *failingSource) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := b.failCall("source"); err != nil {
		return chain.Header{}, err
	}
	return b.Source.Header(ctx, height)
}

func (b *failingSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := b.failCall("source"); err != nil {
		return chain.Block{}, err
	}
	return b.Source.Block(ctx, height, watch)
}

func (b *failingSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if err := b.failCall("source"); err != nil {
		return chain.Pending{}, err
	}
	return b.Source.Pending(ctx, watch)
}
