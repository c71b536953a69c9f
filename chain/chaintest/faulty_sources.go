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

// laggedView returns the source's view with the last block that the lagging source knows as its tip.
func (l *laggingSource) laggedView(ctx context.Context) (chain.View, error) {
	view, err := l.Source.At(ctx)
	if behind := l.nextLag(); err == nil && behind > 0 {
		view.Tip.Header, err = view.Header(ctx, view.Tip.Height-behind)
		view.Tip.Finalized = min(view.Tip.Finalized, view.Tip.Height)
	}
	return view, err
}

func (l *laggingSource) At(ctx context.Context) (chain.View, error) {
	view, err := l.laggedView(ctx)
	return chain.View{Tip: view.Tip, Reader: l}, err
}

func (l *laggingSource) Header(ctx context.Context, height int64) (chain.Header, error) {
	view, err := l.laggedView(ctx)
	if err != nil || height > view.Tip.Height {
		return chain.Header{}, errors.Join(err, chain.ErrNoBlock)
	}
	return view.Header(ctx, height)
}

func (l *laggingSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	view, err := l.laggedView(ctx)
	if err != nil || height > view.Tip.Height {
		return chain.Block{}, errors.Join(err, chain.ErrNoBlock)
	}
	return view.Block(ctx, height, watch)
}

// Pending returns the transactions that the lagging source has not seen mined: the mempool and the
// transfers of the blocks that it doesn't know.
func (l *laggingSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	lagged, err := l.laggedView(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	pending, err := lagged.Pending(ctx, watch)
	if err != nil {
		return pending, err
	}
	view, err := l.Source.At(ctx)
	for height := lagged.Tip.Height + 1; err == nil && height <= view.Tip.Height; height++ {
		var block chain.Block
		if block, err = view.Block(ctx, height, watch); err == nil {
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

func (l *falseSource) At(ctx context.Context) (chain.View, error) {
	view, err := l.Source.At(ctx)
	view.Reader = falseReader{view.Reader, l}
	return view, err
}

type falseReader struct {
	chain.Reader
	source *falseSource
}

func (r falseReader) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	block, err := r.Reader.Block(ctx, height, watch)
	if err == nil && r.source.times > 0 {
		r.source.times--
		r.source.falsify(&block)
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

func (b *failingSource) At(ctx context.Context) (chain.View, error) {
	if err := b.failCall("source"); err != nil {
		return chain.View{}, err
	}
	view, err := b.Source.At(ctx)
	view.Reader = failingReader{view.Reader, b}
	return view, err
}

type failingReader struct {
	reader chain.Reader
	source *failingSource
}

func (r failingReader) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := r.source.failCall("source"); err != nil {
		return chain.Header{}, err
	}
	return r.reader.Header(ctx, height)
}

func (r failingReader) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := r.source.failCall("source"); err != nil {
		return chain.Block{}, err
	}
	return r.reader.Block(ctx, height, watch)
}

func (r failingReader) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if err := r.source.failCall("source"); err != nil {
		return chain.Pending{}, err
	}
	return r.reader.Pending(ctx, watch)
}
