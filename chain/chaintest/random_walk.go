package chaintest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"cointill/chain"
)

// walkSeeds are the seeds of the suite's random walks. A failure names its seed.
var walkSeeds = []uint64{1, 2, 3}

// randomWalk takes some seeded walks on one network.
func randomWalk(b *bench) {
	steps := b.features.Walk
	if steps == 0 {
		steps = 60
	}
	for _, seed := range walkSeeds {
		b.walkRandomly(rand.New(rand.NewPCG(seed, 0)).IntN, steps)
		if b.Failed() {
			b.Fatalf("the random walk with seed %d failed", seed)
		}
	}
}

// WalkRandomly drives a network at random, with and without steps, restarts and lags in between. It
// compares the ledger after every step without lag and at the end. pick(n) chooses among 0 … n-1:
// the IntN of a seeded generator, or of a property test.
func WalkRandomly(t testing.TB, net Net, pick func(n int) int, steps int) {
	newBench(t, net).walkRandomly(pick, steps)
}

func (b *bench) walkRandomly(pick func(n int) int, steps int) {
	b.Mine(3)
	b.mustStep()
	w := &walker{bench: b, pick: pick, to: []chain.Destination{b.newWatched(), b.newWatched()}}
	for range steps {
		w.randomAction()
	}
	b.startFollower(nil)
	b.mustStep()
	b.checkLedger()
	if b.Failed() {
		b.Logf("the last actions were %v", w.log)
	}
}

type walker struct {
	*bench
	pick func(n int) int
	to   []chain.Destination
	log  []string
}

// pickWatched returns one of the watched destinations.
func (w *walker) pickWatched() chain.Destination { return w.to[w.pick(len(w.to))] }

// randomAction does one random action.
func (w *walker) randomAction() {
	f := w.features
	switch n := w.pick(100); {
	case n < 25:
		w.logAction("pay")
		w.payWatched(w.pickWatched())
	case n < 29 && f.MultiOutput:
		w.logAction("pay two")
		w.payWatched(w.pickWatched(), w.pickWatched())
	case n < 33:
		w.logAction("watch more")
		w.to = append(w.to, w.newWatched())
	case n < 50:
		w.logAction("mine")
		w.Mine(1 + w.pick(3))
	case n < 58 && f.MaxReorg > 0:
		w.logAction("reorg")
		w.reorgBlocks(1 + w.pick(min(f.MaxReorg, 8)))
	case n < 63 && f.Replace:
		w.logAction("replace")
		w.replacePending()
	case n < 66 && f.Reverts:
		w.logAction("revert")
		o := w.newOutput(w.pickWatched())
		w.recordPayment(w.Revert(o), payment{outputs: []chain.Output{o}, reverted: true})
	case n < 70:
		w.logAction("restart")
		w.restartAll()
	case n < 76:
		w.logAction("lag")
		w.startFollower((&laggingSource{cycle: []int64{int64(w.pick(3)), int64(w.pick(3)), 0}}).wrapSource)
		_, _ = w.follower.Step(w.Context())
	default:
		w.logAction("step")
		if w.wrapSource != nil {
			w.startFollower(nil)
		}
		w.mustStep()
		w.checkLastPayments(10)
	}
}

// reorgBlocks replaces blocks, but never below the first block that exists on every network.
func (w *walker) reorgBlocks(depth int) {
	view, err := w.Source().At(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if int64(depth) < view.Tip.Height {
		w.Reorg(depth, w.pick(2) == 0)
	}
}

// replacePending replaces one of the last payments that is pending, if there is one.
func (w *walker) replacePending() {
	var pending []string
	for _, txid := range w.order[max(0, len(w.order)-10):] {
		if w.Where(txid).Pending {
			pending = append(pending, txid)
		}
	}
	if len(pending) > 0 {
		w.Replace(pending[w.pick(len(pending))])
	}
}

func (w *walker) logAction(action string) {
	w.log = append(w.log, action)
	if len(w.log) > 40 {
		w.log = slices.Delete(w.log, 0, 1)
	}
}
