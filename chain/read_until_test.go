package chain_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/clock"
)

// faultySource is a network whose node fails certain questions.
type faultySource struct {
	*chaintest.Memory
	tipErr, mempoolErr error
	onTip              func() // runs when the tip is read
}

func (f *faultySource) At(ctx context.Context) (chain.View, error) {
	f.onTip()
	if f.tipErr != nil {
		return chain.View{}, f.tipErr
	}
	view, err := f.Memory.At(ctx)
	view.Reader = f
	return view, err
}

func (f *faultySource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if f.mempoolErr != nil {
		return chain.Pending{}, f.mempoolErr
	}
	return f.Memory.Pending(ctx, watch)
}

// TestReadUntilIsTheTimeOfTheReachedTip (T-2): a network was read until the moment when the reached
// tip was asked for, whether the tip is new or not. A step that failed, couldn't read the mempool
// or didn't reach the tip doesn't change it.
func TestReadUntilIsTheTimeOfTheReachedTip(t *testing.T) {
	t.Parallel()
	w, now := newFixture(t), clock.NewFake(time.Unix(1_700_000_000, 0))
	broken := errors.New("broken")
	source := &faultySource{Memory: w.net, onTip: func() { now.Advance(time.Second) }} // the answer takes a second
	w.config.Source, w.config.Clock = source, now.Now
	f := chain.NewFollower(w.config)
	expectRead := func(what string, want bool) {
		t.Helper()
		now.Advance(time.Minute)
		began, before := now.Now(), w.ledger.ReadUntil()
		_, _ = f.Step(t.Context())
		if got := w.ledger.ReadUntil(); want && !got.Equal(began) || !want && !got.Equal(before) {
			t.Errorf("%s: read until %s in a step of %s; before it until %s", what, got, began, before)
		}
	}
	expectRead("the first step", true)
	expectRead("nothing new", true)
	w.net.Mine(1)
	expectRead("a block", true)
	source.tipErr = broken
	expectRead("no tip", false)
	source.tipErr, source.mempoolErr = nil, broken
	expectRead("no mempool", false)
	w.net.Mine(1)
	expectRead("a block, and no mempool", false)
	source.mempoolErr = nil
	expectRead("both again", true)
	w.net.Reorg(1, true)
	expectRead("another branch", true)
	w.net.Mine(90)
	w.ledger.Fail = func(call string) error {
		if call == "apply" || call == "looked" {
			return broken
		}
		return nil
	}
	expectRead("a store that fails", false)
	w.ledger.Fail = nil
	expectRead("a store that is back", true)
	w.net.DropBlocks(3)
	expectRead("a node that went back", false)
	if v := w.ledger.ListViolations(); len(v) > 0 {
		t.Errorf("the source broke rules of chain.Batch: %q", v)
	}
}

// TestReadUntilStaysWhileCatchingUp (T-2): blocks that don't reach the tip say nothing about later
// ones.
func TestReadUntilStaysWhileCatchingUp(t *testing.T) {
	t.Parallel()
	w, now := newFixture(t), clock.NewFake(time.Unix(1_700_000_000, 0))
	w.config.Clock = now.Now
	w.mustStep(chain.NewFollower(w.config))
	began := w.ledger.ReadUntil()
	w.net.Mine(250)
	now.Advance(time.Hour)
	batches := 0
	w.ledger.Fail = func(call string) error {
		if call == "apply" {
			if batches++; batches == 3 {
				return errors.New("broken")
			}
		}
		return nil
	}
	if _, err := chain.NewFollower(w.config).Step(t.Context()); err == nil || w.ledger.Tip().Height < 200 {
		t.Fatalf("at %d: %v", w.ledger.Tip().Height, err)
	}
	if got := w.ledger.ReadUntil(); !got.Equal(began) {
		t.Errorf("read until %s while it caught up", got)
	}
}
