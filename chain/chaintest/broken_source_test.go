package chaintest_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
)

// TestSuiteCatchesBrokenSources breaks the source of the smallest network in many ways. The case
// that checks the broken rule must fail.
func TestSuiteCatchesBrokenSources(t *testing.T) {
	t.Parallel()
	for _, fault := range sourceFaults() {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			var caught []string
			for _, c := range chaintest.Cases() {
				net := &brokenNet{Memory: chaintest.NewMemory(), breaks: fault.breaks}
				if doesFail(t, func(t testing.TB) { c.Try(t, net) }) {
					caught = append(caught, c.Name)
				}
			}
			if !slices.Contains(caught, fault.caughtBy) {
				t.Errorf("not caught by %s, only by %v", fault.caughtBy, caught)
			}
		})
	}
}

type sourceFault struct {
	name     string
	caughtBy string // the case that must fail
	breaks   func(*brokenSource)
}

func sourceFaults() []sourceFault {
	block := func(change func(*chain.Block)) func(*brokenSource) { return func(b *brokenSource) { b.block = change } }
	pending := func(change func(*chain.Pending)) func(*brokenSource) {
		return func(b *brokenSource) { b.pending = change }
	}
	return []sourceFault{
		{"loses transfers in blocks", "confirmations_count_up", block(func(b *chain.Block) { b.Transfers = nil })},
		{"loses the second transfer of a block", "one_transaction_to_several_addresses",
			block(func(b *chain.Block) { b.Transfers = firstOnly(b.Transfers) })},
		{"loses the mempool", "pending_before_confirmed", pending(func(p *chain.Pending) { p.Transfers = nil })},
		{"numbers every output 0", "one_transaction_to_several_addresses",
			block(func(b *chain.Block) { changeEach(b.Transfers, func(t *chain.Transfer) { t.Index = 0 }) })},
		{"numbers outputs otherwise while pending", "pending_before_confirmed",
			pending(func(p *chain.Pending) { changeEach(p.Transfers, func(t *chain.Transfer) { t.Index += 7 }) })},
		{"is a unit off", "several_transfers_to_one_address", block(func(b *chain.Block) {
			changeEach(b.Transfers, func(t *chain.Transfer) { t.Amount = t.Amount.Add(money.Units(1)) })
		})},
		{"forgets the asset", "confirmations_count_up",
			block(func(b *chain.Block) { changeEach(b.Transfers, func(t *chain.Transfer) { t.Asset = "" }) })},
		{"reports transfers twice", "confirmations_count_up",
			block(func(b *chain.Block) { b.Transfers = append(b.Transfers, b.Transfers...) })},
		{"takes reverted for paid", "reverted_transactions_are_marked",
			block(func(b *chain.Block) { changeEach(b.Transfers, func(t *chain.Transfer) { t.Reverted = false }) })},
		{"drops reverted transactions", "reverted_transactions_are_marked", block(func(b *chain.Block) {
			b.Transfers = slices.DeleteFunc(b.Transfers, func(t chain.Transfer) bool { return t.Reverted })
		})},
		{"says nothing of spends in blocks", "double_spend_wins_in_a_block",
			block(func(b *chain.Block) { b.Spends = nil })},
		{"says nothing of spends in the mempool", "replaced_while_pending",
			pending(func(p *chain.Pending) { p.Spends = nil })},
		{"ignores the watch", "empty_watch_sees_nothing", func(b *brokenSource) { b.ignoresWatch = true }},
		{"has no time", "confirmations_count_up", block(func(b *chain.Block) { b.Time = time.Time{} })},
		{"answers above its tip", "headers_link_and_end", func(b *brokenSource) { b.answersAboveTip = true }},
		{"has a tip of another height", "headers_link_and_end", func(b *brokenSource) { b.tip = 1 }},
		{"keeps a block in a cache", "reorg_keeps_transactions",
			func(b *brokenSource) { b.cache = map[int64]chain.Block{} }},
		{"ignores its context", "cancelled_context_returns", func(b *brokenSource) { b.ignoresContext = true }},
	}
}

func changeEach(transfers []chain.Transfer, change func(*chain.Transfer)) {
	for i := range transfers {
		change(&transfers[i])
	}
}

func firstOnly(transfers []chain.Transfer) []chain.Transfer {
	return transfers[:min(1, len(transfers))]
}

// doesFail reports whether a test fails.
func doesFail(t *testing.T, test func(testing.TB)) bool {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r.bad
}

// recorder is a testing.TB that records failures instead of failing.
type recorder struct {
	testing.TB
	bad bool
}

func (r *recorder) Error(...any)          { r.bad = true }
func (r *recorder) Errorf(string, ...any) { r.bad = true }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Failed() bool          { return r.bad }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) FailNow() {
	r.bad = true
	runtime.Goexit()
}

// brokenNet is the smallest network behind a broken source.
type brokenNet struct {
	*chaintest.Memory
	breaks func(*brokenSource)
}

func (n *brokenNet) Source() chain.Source {
	b := &brokenSource{Memory: n.Memory}
	n.breaks(b)
	return b
}

// brokenSource is a source with a fault.
type brokenSource struct {
	*chaintest.Memory
	block           func(*chain.Block)
	pending         func(*chain.Pending)
	ignoresWatch    bool // reports unwatched transfers
	answersAboveTip bool // returns the last block for heights above it
	tip             int64
	cache           map[int64]chain.Block
	ignoresContext  bool
}

func (b *brokenSource) At(ctx context.Context) (chain.View, error) {
	if b.ignoresContext {
		ctx = context.WithoutCancel(ctx)
	}
	view, err := b.Memory.At(ctx)
	view.Tip.Height -= b.tip
	view.Reader = b
	return view, err
}

func (b *brokenSource) Header(ctx context.Context, height int64) (chain.Header, error) {
	block, err := b.Block(ctx, height, new(chain.WatchSet))
	return block.Header, err
}

func (b *brokenSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if b.ignoresContext {
		ctx = context.WithoutCancel(ctx)
	}
	if b.ignoresWatch {
		watch = watchEverything{}
	}
	if view, err := b.Memory.At(ctx); err == nil && b.answersAboveTip {
		height = min(height, view.Tip.Height)
	}
	if block, ok := b.cache[height]; ok {
		return block, nil
	}
	block, err := b.Memory.Block(ctx, height, watch)
	if b.block != nil {
		b.block(&block)
	}
	if b.cache != nil && err == nil {
		b.cache[height] = block
	}
	return block, err
}

func (b *brokenSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if b.ignoresWatch {
		watch = watchEverything{}
	}
	pending, err := b.Memory.Pending(ctx, watch)
	if b.pending != nil {
		b.pending(&pending)
	}
	return pending, err
}

// watchEverything is a Watch that watches everything.
type watchEverything struct{}

func (watchEverything) Address(string) bool { return true }
func (watchEverything) Spend(string) bool   { return true }
func (watchEverything) Raw([]byte) bool     { return true }
