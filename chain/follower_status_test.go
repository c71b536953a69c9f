package chain_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
)

// slowSource needs an hour for each block from a height on.
type slowSource struct {
	*chaintest.Memory
	from int64
}

func (s slowSource) At(ctx context.Context) (chain.View, error) {
	view, err := s.Memory.At(ctx)
	view.Reader = s
	return view, err
}

func (s slowSource) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if height >= s.from {
		<-time.After(time.Hour)
	}
	return s.Memory.Block(ctx, height, watch)
}

// TestStatusAdvancesDuringALongStep: during a step that catches up, the status shows the tip and
// when the last batch was applied.
func TestStatusAdvancesDuringALongStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.config.Clock, w.config.Timeout = time.Now, 2*time.Hour
		begun := time.Now()
		w.config.Source = slowSource{w.net, 150}
		f := chain.NewFollower(w.config)
		if s := f.Status(); !s.At.Equal(begun) {
			t.Errorf("before the first look %+v", s)
		}
		w.net.Mine(1)
		w.mustStep(f)
		first := f.Status().Applied.Height
		w.net.Mine(199)
		<-time.After(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { _, err := f.Step(ctx); ended <- err }()
		<-time.After(time.Hour / 2)
		if s := f.Status(); s.Tip.Height != first+199 || s.Applied.Height != first+100 ||
			!s.At.Equal(begun.Add(time.Minute)) {
			t.Errorf("in the second batch %+v", s)
		}
		cancel()
		<-ended
	})
}
