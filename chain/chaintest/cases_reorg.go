package chaintest

import (
	"slices"

	"cointill/chain"
)

// reorgDepths are the depths that the suite tests, up to the network's limit.
func (b *bench) reorgDepths() []int {
	all := []int{1, 2, 3, 4, 5, 6, 7, 12, 20, 50, 99, 100}
	return slices.DeleteFunc(all, func(d int) bool { return d > b.features.MaxReorg })
}

// checkReorgKeeps reorganises blocks whose transactions are in both branches. None may look
// dropped.
func checkReorgKeeps(b *bench) {
	b.mustStep()
	to := b.newWatched()
	b.Mine(1)
	for _, depth := range b.reorgDepths() {
		txid := b.payWatched(to)
		b.mustStep()
		b.Mine(depth)
		b.mustStep()
		b.Reorg(depth, true)
		b.mustStep()
		b.checkLedger()
		history := b.ledger.History(txid)
		if slices.Contains(history, "gone") || history[len(history)-1] != "confirmed" || len(history) > 2 {
			b.Errorf("depth %d: a transaction of both branches flapped: %v", depth, history)
		}
	}
}

// checkReorgDrops reorganises blocks whose transactions are in no branch afterwards.
func checkReorgDrops(b *bench) {
	b.mustStep()
	b.Mine(1)
	for _, depth := range b.reorgDepths() {
		b.payWatched(b.newWatched())
		b.Mine(1)
		b.payWatched(b.newWatched())
		b.Mine(depth - 1)
		b.mustStep()
		b.checkLedger()
		b.Reorg(depth, false)
		b.mustStep()
		b.checkLedger()
	}
}

// checkReorgAcrossRestart reorganises and mines between two steps with a restart.
func checkReorgAcrossRestart(b *bench) {
	b.mustStep()
	to := b.newWatched()
	b.Mine(1)
	for i, depth := range b.reorgDepths() {
		b.payWatched(to)
		b.Mine(depth)
		b.mustStep()
		b.Reorg(depth, i%2 == 0)
		b.payWatched(to)
		b.Mine(i % 3)
		b.restartAll()
		b.mustStep()
		b.checkLedger()
		b.Mine(1)
		b.mustStep()
		b.checkLedger()
	}
}

// checkReorgAtStart reorganises the blocks that the first step read.
func checkReorgAtStart(b *bench) {
	depth := min(3, b.features.MaxReorg)
	b.Mine(10)
	b.mustStep()
	b.payWatched(b.newWatched())
	b.Reorg(depth, true)
	b.mustStep()
	b.Mine(1)
	b.mustStep()
	b.checkLedger()
}

// checkReorgTooDeep reorganises more blocks than the ledger keeps. No batch may be applied.
func checkReorgTooDeep(b *bench) {
	b.ledger = NewLedger(b.watch, 5)
	b.startFollower(nil)
	b.mustStep()
	b.payWatched(b.newWatched())
	b.Mine(8)
	b.mustStep()
	b.checkLedger()
	at, batches := b.ledger.Tip(), b.ledger.BatchCount()
	b.Reorg(8, true)
	if _, err := b.follower.Step(b.Context()); err == nil {
		b.Fatal("a reorganisation deeper than what is kept was followed")
	}
	if b.ledger.Problem() == "" || b.ledger.Tip() != at || b.ledger.BatchCount() != batches {
		b.Errorf("health %q, tip %v (was %v)", b.ledger.Problem(), b.ledger.Tip(), at)
	}
}

// checkLaggingSource follows a source that is some blocks behind the network.
func checkLaggingSource(b *bench) {
	b.Mine(3)
	b.mustStep()
	txid := b.payWatched(b.newWatched())
	b.Mine(2)
	b.mustStep()
	at := b.ledger.Tip()
	behind := &laggingSource{blocks: 2}
	b.startFollower(behind.wrapSource)
	if changed, err := b.follower.Step(b.Context()); err == nil || changed {
		b.Errorf("behind by 2: changed %v, error %v", changed, err)
	}
	if b.ledger.Tip() != at || b.ledger.Problem() == "" || b.ledger.Confirmations(txid) != 2 {
		b.Errorf("the cursor left %v for %v, health %q", at, b.ledger.Tip(), b.ledger.Problem())
	}
	b.payWatched(b.newWatched())
	b.Mine(3) // the source sees one of them
	b.mustStep()
	if got := b.ledger.Tip().Height; got != at.Height+1 || b.ledger.Problem() != "" {
		b.Errorf("at %d after %d, health %q", got, at.Height, b.ledger.Problem())
	}
	behind.setBlocks(0)
	b.mustStep()
	b.checkLedger()
}

// checkJumpingSource follows a source that falls back between any two questions.
func checkJumpingSource(b *bench) {
	b.Mine(6)
	b.mustStep()
	b.startFollower((&laggingSource{cycle: []int64{0, 3, 1, 0, 5, 0, 0, 2}}).wrapSource)
	height := b.ledger.Tip().Height
	for range 12 {
		b.payWatched(b.newWatched())
		b.Mine(1)
		for range 3 {
			_, _ = b.follower.Step(b.Context()) // it may fail, but must not be wrong
		}
		if got := b.ledger.Tip().Height; got < height {
			b.Fatalf("the cursor fell from %d to %d", height, got)
		} else {
			height = got
		}
	}
	b.startFollower(nil)
	b.mustStep()
	b.checkLedger()
	for _, txid := range b.order {
		if history := b.ledger.History(txid); slices.Contains(history, "gone") {
			b.Errorf("%s flapped: %v", txid, history)
		}
	}
}

// checkFalseAnswers gives single wrong answers, which must be noticed and read again.
func checkFalseAnswers(b *bench) {
	b.Mine(2)
	b.mustStep()
	for _, lie := range []func(*chain.Block){
		func(block *chain.Block) { block.Parent = "0123" },
		func(block *chain.Block) { block.Height++ },
		func(block *chain.Block) { block.Hash = "4567" },
		func(block *chain.Block) { block.Hash = "" },
	} {
		b.payWatched(b.newWatched())
		b.Mine(2)
		once := &falseSource{falsify: lie, times: 1}
		b.startFollower(once.wrapSource)
		b.mustStep()
		b.checkLedger()
		b.Mine(2)
		at := b.ledger.Tip()
		b.startFollower((&falseSource{falsify: lie, times: 1000}).wrapSource)
		if _, err := b.follower.Step(b.Context()); err == nil || b.ledger.Problem() == "" {
			b.Errorf("a source that always lies: error %v, health %q", err, b.ledger.Problem())
		}
		if b.ledger.Tip() != at {
			b.Errorf("a lie was applied: %v after %v", b.ledger.Tip(), at)
		}
		b.startFollower(nil)
		b.mustStep()
	}
	b.checkLedger()
}

// checkFailures fails each call of the source and the ledger in turn. A source that fails once is
// asked again before a problem is recorded; one that fails twice has a problem.
func checkFailures(b *bench) {
	b.mustStep()
	for n := range 24 {
		b.payWatched(b.newWatched())
		b.Mine(1)
		broken := &failingSource{failAt: n / 2, twice: n%2 == 1}
		b.startFollower(broken.wrapSource)
		b.ledger.Fail = broken.failCall
		_, err := b.follower.Step(b.Context())
		told := broken.callCount > broken.failAt && (!broken.sourceFailed || n%2 == 1)
		if problem := b.ledger.Problem(); told != (err != nil) || told != (problem != "") {
			b.Errorf("call %d failed (of the source %v, twice %v): the step said %v, health %q", n/2,
				broken.sourceFailed, n%2 == 1, err, problem)
		}
		b.ledger.Fail, broken.failAt = nil, -1 // the same follower continues
		b.mustStep()
		b.checkLedger()
		if b.ledger.Problem() != "" {
			b.Errorf("all is well again, health says %q", b.ledger.Problem())
		}
	}
}
