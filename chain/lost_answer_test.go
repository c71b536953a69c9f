package chain_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
)

// stepLosingAnswer makes a step that loses the store's answer after Apply was done.
func (w *fixture) stepLosingAnswer(f *chain.Follower) {
	w.Helper()
	w.ledger.Fail = func(call string) error {
		if call == "commit" {
			return errors.New("connection lost")
		}
		return nil
	}
	if _, err := f.Step(w.Context()); err == nil {
		w.Fatal("a lost answer was not noticed")
	}
	w.ledger.Fail = nil
}

// TestBlockWithALostAnswerCountsOnce: a block counts once if the store's answer was lost.
func TestBlockWithALostAnswerCountsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	txid := w.payNewAddress()
	w.net.Mine(1)
	w.stepLosingAnswer(f)
	w.mustStep(f)
	if w.ledger.Confirmations(txid) != 1 || len(w.ledger.ListViolations()) > 0 {
		t.Errorf("%d confirmations, %v", w.ledger.Confirmations(txid), w.ledger.ListViolations())
	}
}

// emptyingMempool is a node that loses its mempool.
type emptyingMempool struct {
	*chaintest.Memory
	empty bool
}

func (f *emptyingMempool) At(ctx context.Context) (chain.View, error) {
	view, err := f.Memory.At(ctx)
	view.Reader = f
	return view, err
}

func (f *emptyingMempool) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if f.empty {
		return chain.Pending{}, ctx.Err()
	}
	return f.Memory.Pending(ctx, watch)
}

// TestMempoolIsAppliedAgainAfterALostAnswer: after the store's answer to a mempool snapshot was
// lost, the previous snapshot is applied again when it returns, because the store may have the lost
// one.
func TestMempoolIsAppliedAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	source := &emptyingMempool{Memory: w.net}
	w.config.Source = source
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	txid := w.payNewAddress()
	w.stepLosingAnswer(f)
	source.empty = true
	w.mustStep(f)
	if got := w.ledger.History(txid); !slices.Equal(got, []string{"pending", "gone"}) {
		t.Errorf("history %v", got)
	}
}
