package chaintest

import (
	"context"
	"errors"
	"sync"

	"cointill/chain"
)

// lag is a source some blocks behind the one below it: always by blocks, or by
// the next number of cycle at each question.
type lag struct {
	chain.Source
	mu     sync.Mutex
	blocks int64
	cycle  []int64
	asked  int
}

func (l *lag) over(source chain.Source) chain.Source { l.Source = source; return l }

func (l *lag) set(blocks int64) { l.mu.Lock(); defer l.mu.Unlock(); l.blocks = blocks }

func (l *lag) behind() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.cycle) == 0 {
		return l.blocks
	}
	l.asked++
	return l.cycle[l.asked%len(l.cycle)]
}

// end is the last block that the lagging source knows.
func (l *lag) end(ctx context.Context) (chain.Tip, error) {
	tip, err := l.Source.Tip(ctx)
	if behind := l.behind(); err == nil && behind > 0 {
		tip.Header, err = l.Source.Header(ctx, tip.Height-behind)
		tip.Finalized = min(tip.Finalized, tip.Height)
	}
	return tip, err
}

func (l *lag) Tip(ctx context.Context) (chain.Tip, error) { return l.end(ctx) }

func (l *lag) Header(ctx context.Context, height int64) (chain.Header, error) {
	if tip, err := l.end(ctx); err != nil || height > tip.Height {
		return chain.Header{}, errors.Join(err, chain.ErrNoBlock)
	}
	return l.Source.Header(ctx, height)
}

func (l *lag) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if tip, err := l.end(ctx); err != nil || height > tip.Height {
		return chain.Block{}, errors.Join(err, chain.ErrNoBlock)
	}
	return l.Source.Block(ctx, height, watch)
}

// Pending is what the lagging source has not seen mined: the real mempool and the
// transfers of the blocks that it doesn't know.
func (l *lag) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	end, err := l.end(ctx)
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

// liar changes some answers of Block.
type liar struct {
	chain.Source
	lie   func(*chain.Block)
	times int
}

func (l *liar) over(source chain.Source) chain.Source { l.Source = source; return l }

func (l *liar) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	block, err := l.Source.Block(ctx, height, watch)
	if err == nil && l.times > 0 {
		l.times--
		l.lie(&block)
	}
	return block, err
}

// errBroken is what a breaker answers for the ledger.
var errBroken = errors.New("broken on purpose")

// missing is what it answers for the source: an error that may pass, see chain.Follower.
type missing struct{ error }

func (missing) Passing() bool { return true }

// breaker fails one call, counted over source and ledger together.
type breaker struct {
	chain.Source
	at, calls int
	source    bool // the call that failed was the source's
	twice     bool // and the first one when it is asked again, too
	again     bool // it is asked again
}

func (b *breaker) over(source chain.Source) chain.Source { b.Source = source; return b }

func (b *breaker) fail(call string) error {
	if call == "health" {
		return nil
	}
	b.calls++
	if b.calls == b.at+1 {
		if b.source = call == "source"; b.source {
			return missing{errBroken}
		}
		return errBroken
	}
	b.again = b.again || (b.source && call == "cursor")
	if b.again && b.twice && call == "source" {
		b.twice = false
		return missing{errBroken}
	}
	return nil
}

func (b *breaker) Tip(ctx context.Context) (chain.Tip, error) {
	if err := b.fail("source"); err != nil {
		return chain.Tip{}, err
	}
	return b.Source.Tip(ctx)
}

func (b *breaker) Header(ctx context.Context, height int64) (chain.Header, error) {
	if err := b.fail("source"); err != nil {
		return chain.Header{}, err
	}
	return b.Source.Header(ctx, height)
}

func (b *breaker) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if err := b.fail("source"); err != nil {
		return chain.Block{}, err
	}
	return b.Source.Block(ctx, height, watch)
}

func (b *breaker) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if err := b.fail("source"); err != nil {
		return chain.Pending{}, err
	}
	return b.Source.Pending(ctx, watch)
}
