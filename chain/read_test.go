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

// faulty is a network whose node fails when it is asked for something.
type faulty struct {
	*chaintest.Memory
	tip, pool error
	asked     func() // runs when the tip is asked for
}

func (f *faulty) Tip(ctx context.Context) (chain.Tip, error) {
	f.asked()
	if f.tip != nil {
		return chain.Tip{}, f.tip
	}
	return f.Memory.Tip(ctx)
}

func (f *faulty) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if f.pool != nil {
		return chain.Pending{}, f.pool
	}
	return f.Memory.Pending(ctx, watch)
}

// TestReadUntil (T-2): a network was read until the moment at which the tip was asked for
// that was reached, whether it is new or not; not by a step that failed, couldn't read
// the mempool, or didn't come to the tip.
func TestReadUntil(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), clock.NewFake(time.Unix(1_700_000_000, 0))
	broken := errors.New("broken")
	source := &faulty{Memory: w.net, asked: func() { now.Advance(time.Second) }} // it takes its time to answer
	w.config.Source, w.config.Clock = source, now.Now
	f := chain.NewFollower(w.config)
	looks := func(what string, want bool) {
		t.Helper()
		now.Advance(time.Minute)
		began, before := now.Now(), w.ledger.Read()
		_, _ = f.Step(t.Context())
		if got := w.ledger.Read(); want && !got.Equal(began) || !want && !got.Equal(before) {
			t.Errorf("%s: read until %s in a step of %s; before it until %s", what, got, began, before)
		}
	}
	looks("the first step", true)
	looks("nothing new", true)
	w.net.Mine(1)
	looks("a block", true)
	source.tip = broken
	looks("no tip", false)
	source.tip, source.pool = nil, broken
	looks("no mempool", false)
	w.net.Mine(1)
	looks("a block, and no mempool", false)
	source.pool = nil
	looks("both again", true)
	w.net.Reorg(1, true)
	looks("another branch", true)
	w.net.Mine(90)
	w.ledger.Fail = func(call string) error {
		if call == "apply" || call == "looked" {
			return broken
		}
		return nil
	}
	looks("a store that fails", false)
	w.ledger.Fail = nil
	looks("a store that is back", true)
	w.net.Retreat(3)
	looks("a node that went back", false)
	if v := w.ledger.Violations(); len(v) > 0 {
		t.Error(v)
	}
}

// TestReadUntilWhileCatchingUp (T-2): blocks that don't reach the tip say nothing of what
// came since.
func TestReadUntilWhileCatchingUp(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), clock.NewFake(time.Unix(1_700_000_000, 0))
	w.config.Clock = now.Now
	w.step(chain.NewFollower(w.config))
	began := w.ledger.Read()
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
	if got := w.ledger.Read(); !got.Equal(began) {
		t.Errorf("read until %s while it caught up", got)
	}
}
