package chain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
)

// fixture is a small network with a ledger.
type fixture struct {
	*testing.T
	net    *chaintest.Memory
	watch  *chain.WatchSet
	ledger *chaintest.Ledger
	config chain.FollowerConfig
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, net: chaintest.NewMemory(), watch: new(chain.WatchSet)}
	w.ledger = chaintest.NewLedger(w.watch, 300)
	w.config = chain.FollowerConfig{Network: "test", Source: w.net, Store: w.ledger, Watch: w.watch,
		Clock: func() time.Time { return time.Unix(1700000000, 0) }}
	return w
}

// payNewAddress sends an amount to a new watched address.
func (w *fixture) payNewAddress() string {
	to := w.net.Destination()
	w.watch.AddAddresses(to.Address)
	return w.net.Pay(chain.Output{Asset: "MEM", Destination: to, Amount: money.Units(5)})
}

func (w *fixture) mustStep(f *chain.Follower) bool {
	w.Helper()
	changed, err := f.Step(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return changed
}

func TestRunWakesAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.config.Interval = time.Hour
		f := chain.NewFollower(w.config)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		synctest.Wait() // the first step comes at once
		txid := w.payNewAddress()
		w.net.Mine(1)
		synctest.Wait()
		if w.ledger.Confirmations(txid) != 0 {
			t.Error("a step came without a wake")
		}
		f.Wake()
		f.Wake() // never blocks
		<-time.After(time.Second)
		synctest.Wait()
		if w.ledger.Confirmations(txid) != 1 {
			t.Error("Wake did not make a step")
		}
		w.net.Mine(1)
		<-time.After(time.Hour + time.Second) // in the bubble's time
		synctest.Wait()
		if w.ledger.Confirmations(txid) != 2 {
			t.Error("the interval did not make a step")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if s := f.Status(); s.Problem != "" || s.Applied != w.ledger.Tip() || s.At.IsZero() {
			t.Errorf("status %+v", s)
		}
	})
}

// countingSource counts how often its network is looked at, and its mempool is read.
type countingSource struct {
	*chaintest.Memory
	looks, mempools atomic.Int64
}

func (s *countingSource) At(ctx context.Context) (chain.View, error) {
	s.looks.Add(1)
	view, err := s.Memory.At(ctx)
	view.Reader = s
	return view, err
}

func (s *countingSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	s.mempools.Add(1)
	return s.Memory.Pending(ctx, watch)
}

// TestRunRestsWhileNothingIsAwaited: Run looks at a healthy network once in RestInterval while nothing is awaited, also
// when it is woken, and reads no mempool then. It looks in each Interval as soon as something is awaited, while that
// can't be known, while the network has a problem, and when the lease is another one.
func TestRunRestsWhileNothingIsAwaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		source := &countingSource{Memory: w.net}
		var awaited atomic.Bool
		var unknown, broken atomic.Bool
		var fence atomic.Int64
		w.config.Source, w.config.Clock = source, time.Now
		w.config.Interval, w.config.RestInterval = time.Second, time.Minute
		w.config.Fence = fence.Load
		w.config.Awaited = func(context.Context) (bool, error) {
			if unknown.Load() {
				return false, errors.New("the database is down")
			}
			return awaited.Load(), nil
		}
		w.config.Refresh = func(context.Context) error {
			if broken.Load() {
				return errors.New("broken")
			}
			return nil
		}
		f := chain.NewFollower(w.config)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Run(ctx) }()
		expect := func(what string, passed time.Duration, least, most int64) {
			t.Helper()
			before := source.looks.Load()
			<-time.After(passed)
			synctest.Wait()
			if got := source.looks.Load() - before; got < least || got > most {
				t.Errorf("%s: %d looks in %s, want %d to %d", what, got, passed, least, most)
			}
		}
		expect("the first look", 10*time.Second, 1, 1)
		w.payNewAddress()
		w.net.Mine(1)
		w.payNewAddress()
		f.Wake()
		expect("nothing is awaited", 10*time.Minute, 9, 11)
		if n := source.mempools.Load(); n != 0 {
			t.Errorf("the mempool was read %d times while nothing was awaited", n)
		}
		if w.ledger.Tip().Height != 1 || w.ledger.ReadUntil() != (time.Time{}) {
			t.Errorf("at block %d, read until %s, want block 1 and no time: the mempool wasn't read", w.ledger.Tip().Height,
				w.ledger.ReadUntil())
		}
		awaited.Store(true)
		expect("something is awaited", 10*time.Second, 18, 22) // twice each: before the mempool and after
		if source.mempools.Load() == 0 || w.ledger.ReadUntil().IsZero() {
			t.Error("the mempool wasn't read while something was awaited")
		}
		awaited.Store(false)
		unknown.Store(true)
		expect("it can't be known", 10*time.Second, 18, 22)
		unknown.Store(false)
		expect("nothing is awaited again", 10*time.Second, 0, 1)
		broken.Store(true)
		expect("until the problem is seen", time.Minute, 1, 20)
		expect("a problem", 10*time.Second, 9, 11)
		broken.Store(false)
		expect("the problem ends", 10*time.Second, 1, 2)
		fence.Store(2)
		expect("another lease", 2*time.Second, 1, 2)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// silentSource never answers.
type silentSource struct{ chain.Source }

func (silentSource) At(ctx context.Context) (chain.View, error) {
	<-ctx.Done()
	return chain.View{}, ctx.Err()
}

func TestSilentSourceIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.config.Source, w.config.Timeout = silentSource{w.net}, 10*time.Second
		begun := time.Now()
		if _, err := chain.NewFollower(w.config).Step(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if w.ledger.Problem() == "" {
			t.Error("no problem is recorded of a source that never answers")
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("it was waited for %s, want 10s: a silent source is asked once", took)
		}
	})
}

func TestStaleFenceIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	old, young := w.config, w.config
	old.Fence, young.Fence = func() int64 { return 1 }, func() int64 { return 2 }
	first, second := chain.NewFollower(old), chain.NewFollower(young)
	w.mustStep(first)
	w.payNewAddress()
	w.mustStep(second)
	w.net.Mine(1)
	writes := w.ledger.HealthWrites()
	if _, err := first.Step(t.Context()); !errors.Is(err, chain.ErrStale) {
		t.Errorf("the old holder's step: %v", err)
	}
	if w.ledger.HealthWrites() != writes {
		t.Error("a follower that was refused recorded health")
	}
	w.mustStep(second)
}

func TestHealthIsWrittenWhenItChanges(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	w.mustStep(f)
	if n := w.ledger.HealthWrites(); n != 1 {
		t.Errorf("two good steps wrote health %d times", n)
	}
	w.net.Mine(3)
	w.mustStep(f)
	w.net.DropBlocks(2)
	for range 3 {
		if changed, err := f.Step(t.Context()); err == nil || changed {
			t.Fatal("a source below the cursor was followed")
		}
	}
	if n := w.ledger.HealthWrites(); n != 2 || !strings.HasPrefix(w.ledger.Problem(), "The node is behind") {
		t.Errorf("%d writes, health %q", n, w.ledger.Problem())
	}
	if f.Status().Problem != w.ledger.Problem() {
		t.Errorf("status %+v", f.Status())
	}
}

// TestShorterBranchIsFollowed (BTC-9): the follower follows a source onto a branch that is still
// lower than the old one, and up again.
func TestShorterBranchIsFollowed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	w.net.Mine(10)
	txid := w.payNewAddress()
	w.net.Mine(1)
	w.mustStep(f)
	w.net.DropBlocks(3)
	w.net.Mine(1)
	w.mustStep(f)
	if tip := w.ledger.Tip(); tip.Height != 9 {
		t.Errorf("at %d, want 9", tip.Height)
	}
	w.net.Mine(5)
	w.mustStep(f)
	if w.ledger.Confirmations(txid) != 6 || len(w.ledger.ListViolations()) > 0 {
		t.Errorf("%d confirmations, %v", w.ledger.Confirmations(txid), w.ledger.ListViolations())
	}
}

// headerCounter counts the headers that are read.
type headerCounter struct {
	*chaintest.Memory
	headers atomic.Int64
}

func (c *headerCounter) At(ctx context.Context) (chain.View, error) {
	view, err := c.Memory.At(ctx)
	view.Reader = c
	return view, err
}

func (c *headerCounter) Header(ctx context.Context, height int64) (chain.Header, error) {
	c.headers.Add(1)
	return c.Memory.Header(ctx, height)
}

func TestDeepReorgAsksFewQuestions(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	source := &headerCounter{Memory: w.net}
	w.config.Source = source
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	w.net.Mine(280)
	w.mustStep(f)
	source.headers.Store(0)
	w.net.Reorg(250, true)
	w.mustStep(f)
	if n := source.headers.Load(); n > 20 {
		t.Errorf("%d headers read for a reorganisation of 250 blocks", n)
	}
	if len(w.ledger.ListViolations()) > 0 {
		t.Errorf("the source broke rules of chain.Batch: %q", w.ledger.ListViolations())
	}
}

// miningSource mines a block while the mempool is read.
type miningSource struct {
	*chaintest.Memory
	blocksLeft int
}

func (r *miningSource) At(ctx context.Context) (chain.View, error) {
	view, err := r.Memory.At(ctx)
	view.Reader = r
	return view, err
}

func (r *miningSource) Pending(ctx context.Context, watch chain.Watch) (chain.Pending, error) {
	if r.blocksLeft > 0 {
		r.blocksLeft--
		r.Mine(1)
	}
	return r.Memory.Pending(ctx, watch)
}

// TestBlockDuringMempoolReadLosesNoTransaction: a transaction that is mined while the mempool is
// read is in neither snapshot, and must not look dropped.
func TestBlockDuringMempoolReadLosesNoTransaction(t *testing.T) {
	t.Parallel()
	for times := range 8 {
		w := newFixture(t)
		source := &miningSource{Memory: w.net}
		w.config.Source = source
		f := chain.NewFollower(w.config)
		w.mustStep(f)
		txid := w.payNewAddress()
		w.mustStep(f)
		source.blocksLeft = times
		w.mustStep(f)
		source.blocksLeft = 0
		w.mustStep(f)
		for _, state := range w.ledger.History(txid) {
			if state == "gone" {
				t.Errorf("%d blocks meanwhile: %v", times, w.ledger.History(txid))
			}
		}
		if tip := w.ledger.Tip().Height; w.ledger.Confirmations(txid) != tip || tip < int64(min(times, 4)) {
			t.Errorf("%d blocks meanwhile: %d confirmations at height %d", times, w.ledger.Confirmations(txid), tip)
		}
	}
}

// TestRefreshComesBeforeBlocks: an address that another process assigned before a block was mined
// is watched before this block is read.
func TestRefreshComesBeforeBlocks(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var elsewhere []string
	w.config.Refresh = func(context.Context) error { w.watch.AddAddresses(elsewhere...); return nil }
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	to := w.net.Destination()
	elsewhere = append(elsewhere, to.Address)
	txid := w.net.Pay(chain.Output{Asset: "MEM", Destination: to, Amount: money.Units(5)})
	w.net.Mine(1)
	w.mustStep(f)
	if w.ledger.Confirmations(txid) != 1 {
		t.Error("the address came too late")
	}
}

// failingTip is a source that isn't ready and returns an error, which may hold a secret.
type failingTip struct {
	chain.Source
	err error
}

func (s failingTip) At(context.Context) (chain.View, error) { return chain.View{}, s.err }

// TestOnlyProblemsAreShown: the sentence of a Problem is shown, and the text of other errors is
// not.
func TestOnlyProblemsAreShown(t *testing.T) {
	t.Parallel()
	long := chain.Problem(strings.Repeat("ö", 500))
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("node: %w", chain.Problem("The node is still syncing.")), "The node is still syncing."},
		{errors.New("dial https://user:secret@node"),
			"The node can't be read now; the log says why. It is asked again."},
		{long, strings.Repeat("ö", 200) + "…"},
	} {
		w := newFixture(t)
		w.config.Source = failingTip{w.net, c.err}
		if _, err := chain.NewFollower(w.config).Step(t.Context()); !errors.Is(err, c.err) {
			t.Errorf("error %v", err)
		}
		if got := w.ledger.Problem(); got != c.want {
			t.Errorf("health %q, want %q", got, c.want)
		}
	}
}

// TestSourceBelowTheKeptBlocksIsRefused (BTC-9): a source whose tip is lower than every kept block
// is not followed.
func TestSourceBelowTheKeptBlocksIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.ledger = chaintest.NewLedger(w.watch, 5)
	w.config.Store = w.ledger
	f := chain.NewFollower(w.config)
	w.net.Mine(50)
	w.mustStep(f)
	at := w.ledger.Tip()
	w.net.DropBlocks(20)
	if _, err := f.Step(t.Context()); err == nil || w.ledger.Tip() != at ||
		!strings.Contains(w.ledger.Problem(), "far behind") {
		t.Errorf("error %v, at %v, health %q", err, w.ledger.Tip(), w.ledger.Problem())
	}
	w.ledger.Fail = func(call string) error {
		if call == "health" {
			return errors.New("disk full")
		}
		return nil
	}
	w.net.Mine(40)
	if _, err := f.Step(t.Context()); err == nil {
		t.Error("health that can't be recorded was passed over")
	}
}

// sourceWithoutMempool can't read its mempool.
type sourceWithoutMempool struct{ *chaintest.Memory }

func (s sourceWithoutMempool) At(ctx context.Context) (chain.View, error) {
	view, err := s.Memory.At(ctx)
	view.Reader = s
	return view, err
}

func (sourceWithoutMempool) Pending(context.Context, chain.Watch) (chain.Pending, error) {
	return chain.Pending{}, chain.Problem("The mempool is being read.")
}

// TestBlocksCountWithoutMempool: blocks are applied although the mempool can't be read.
func TestBlocksCountWithoutMempool(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.config.Source = sourceWithoutMempool{w.net}
	txid := w.payNewAddress()
	w.net.Mine(2)
	f := chain.NewFollower(w.config)
	for range 2 {
		if _, err := f.Step(t.Context()); err == nil {
			t.Fatal("a mempool that can't be read is no error")
		}
	}
	if w.ledger.Confirmations(txid) != 2 || w.ledger.Problem() == "" {
		t.Errorf("%d confirmations, problem %q", w.ledger.Confirmations(txid), w.ledger.Problem())
	}
}

// recordingStore records the applied batches.
type recordingStore struct {
	*chaintest.Ledger
	batches []chain.Batch
}

func (n *recordingStore) Apply(ctx context.Context, batch chain.Batch) error {
	n.batches = append(n.batches, batch)
	return n.Ledger.Apply(ctx, batch)
}

// TestBusyBlocksComeInSeveralBatches: many payments are applied in several batches, but the blocks
// that a reorganisation replaces come in one.
func TestBusyBlocksComeInSeveralBatches(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	store := &recordingStore{Ledger: w.ledger}
	w.config.Store = store
	f := chain.NewFollower(w.config)
	w.mustStep(f)
	var txids []string
	for range 9 {
		for range 8 {
			txids = append(txids, w.payNewAddress())
		}
		w.net.Mine(1)
	}
	store.batches = nil
	w.mustStep(f)
	var blocks []int
	for _, batch := range store.batches {
		blocks = append(blocks, len(batch.Blocks))
	}
	if !slices.Equal(blocks, []int{3, 3, 3}) {
		t.Errorf("blocks in each batch: %v", blocks)
	}
	store.batches = nil
	w.net.Reorg(8, true)
	w.mustStep(f)
	if first := store.batches[0]; first.Ancestor == nil || len(first.Blocks) < 8 {
		t.Errorf("the first batch of a reorganisation of 8 blocks has %d", len(first.Blocks))
	}
	for _, txid := range txids {
		if w.ledger.Confirmations(txid) == 0 {
			t.Fatal("a payment isn't in the chain")
		}
	}
	if len(w.ledger.ListViolations()) > 0 {
		t.Errorf("the source broke rules of chain.Batch: %q", w.ledger.ListViolations())
	}
}
