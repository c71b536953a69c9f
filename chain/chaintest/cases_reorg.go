package chaintest

import (
	"slices"

	"cointill/chain"
)

// depths are those of the suite up to what a network can do.
func (b *bench) depths() []int {
	all := []int{1, 2, 3, 4, 5, 6, 7, 12, 20, 50, 99, 100}
	return slices.DeleteFunc(all, func(d int) bool { return d > b.features.MaxReorg })
}

// reorgKeeps reorganises blocks whose transactions are in both branches: none may
// be seen to leave.
func reorgKeeps(b *bench) {
	b.step()
	to := b.watched()
	b.Mine(1)
	for _, depth := range b.depths() {
		txid := b.pay(to)
		b.step()
		b.Mine(depth)
		b.step()
		b.Reorg(depth, true)
		b.step()
		b.check()
		history := b.ledger.History(txid)
		if slices.Contains(history, "gone") || history[len(history)-1] != "confirmed" || len(history) > 2 {
			b.Errorf("depth %d: a transaction of both branches flapped: %v", depth, history)
		}
	}
}

// reorgDrops reorganises blocks whose transactions then are nowhere.
func reorgDrops(b *bench) {
	b.step()
	b.Mine(1)
	for _, depth := range b.depths() {
		b.pay(b.watched())
		b.Mine(1)
		b.pay(b.watched())
		b.Mine(depth - 1)
		b.step()
		b.check()
		b.Reorg(depth, false)
		b.step()
		b.check()
	}
}

// reorgRestart reorganises while nobody looks, and mines on before anybody does.
func reorgRestart(b *bench) {
	b.step()
	to := b.watched()
	b.Mine(1)
	for i, depth := range b.depths() {
		b.pay(to)
		b.Mine(depth)
		b.step()
		b.Reorg(depth, i%2 == 0)
		b.pay(to)
		b.Mine(i % 3)
		b.restart()
		b.step()
		b.check()
		b.Mine(1)
		b.step()
		b.check()
	}
}

// reorgAtStart reorganises what the first start saw.
func reorgAtStart(b *bench) {
	depth := min(3, b.features.MaxReorg)
	b.Mine(10)
	b.step()
	b.pay(b.watched())
	b.Reorg(depth, true)
	b.step()
	b.Mine(1)
	b.step()
	b.check()
}

// reorgTooDeep reorganises more than the ledger keeps: nothing may be applied.
func reorgTooDeep(b *bench) {
	b.ledger = NewLedger(b.watch, 5)
	b.follow(nil)
	b.step()
	b.pay(b.watched())
	b.Mine(8)
	b.step()
	b.check()
	at, batches := b.ledger.Tip(), b.ledger.Batches()
	b.Reorg(8, true)
	if _, err := b.follower.Step(b.Context()); err == nil {
		b.Fatal("a reorganisation deeper than what is kept was followed")
	}
	if b.ledger.Problem() == "" || b.ledger.Tip() != at || b.ledger.Batches() != batches {
		b.Errorf("health %q, tip %v (was %v)", b.ledger.Problem(), b.ledger.Tip(), at)
	}
}

// lagging puts a source in front that is some blocks behind the network.
func lagging(b *bench) {
	b.Mine(3)
	b.step()
	txid := b.pay(b.watched())
	b.Mine(2)
	b.step()
	at := b.ledger.Tip()
	behind := &lag{blocks: 2}
	b.follow(behind.over)
	if changed, err := b.follower.Step(b.Context()); err == nil || changed {
		b.Errorf("behind by 2: changed %v, error %v", changed, err)
	}
	if b.ledger.Tip() != at || b.ledger.Problem() == "" || b.ledger.Confirmations(txid) != 2 {
		b.Errorf("the cursor left %v for %v, health %q", at, b.ledger.Tip(), b.ledger.Problem())
	}
	b.pay(b.watched())
	b.Mine(3) // the source sees one of them
	b.step()
	if got := b.ledger.Tip().Height; got != at.Height+1 || b.ledger.Problem() != "" {
		b.Errorf("at %d after %d, health %q", got, at.Height, b.ledger.Problem())
	}
	behind.set(0)
	b.step()
	b.check()
}

// jumping lets the source fall back between any two questions.
func jumping(b *bench) {
	b.Mine(6)
	b.step()
	b.follow((&lag{cycle: []int64{0, 3, 1, 0, 5, 0, 0, 2}}).over)
	height := b.ledger.Tip().Height
	for range 12 {
		b.pay(b.watched())
		b.Mine(1)
		for range 3 {
			_, _ = b.follower.Step(b.Context()) // may fail; must not be wrong
		}
		if got := b.ledger.Tip().Height; got < height {
			b.Fatalf("the cursor fell from %d to %d", height, got)
		} else {
			height = got
		}
	}
	b.follow(nil)
	b.step()
	b.check()
	for _, txid := range b.order {
		if history := b.ledger.History(txid); slices.Contains(history, "gone") {
			b.Errorf("%s flapped: %v", txid, history)
		}
	}
}

// lying gives single wrong answers, each of which must be noticed and read again.
func lying(b *bench) {
	b.Mine(2)
	b.step()
	for _, lie := range []func(*chain.Block){
		func(block *chain.Block) { block.Parent = "0123" },
		func(block *chain.Block) { block.Height++ },
		func(block *chain.Block) { block.Hash = "4567" },
		func(block *chain.Block) { block.Hash = "" },
	} {
		b.pay(b.watched())
		b.Mine(2)
		once := &liar{lie: lie, times: 1}
		b.follow(once.over)
		b.step()
		b.check()
		b.Mine(2)
		at := b.ledger.Tip()
		b.follow((&liar{lie: lie, times: 1000}).over)
		if _, err := b.follower.Step(b.Context()); err == nil || b.ledger.Problem() == "" {
			b.Errorf("a source that always lies: error %v, health %q", err, b.ledger.Problem())
		}
		if b.ledger.Tip() != at {
			b.Errorf("a lie was applied: %v after %v", b.ledger.Tip(), at)
		}
		b.follow(nil)
		b.step()
	}
	b.check()
}

// failing breaks the source and the ledger at every call in turn. A source that fails
// once is asked again before anybody hears of it; one that fails twice has a problem.
func failing(b *bench) {
	b.step()
	for n := range 24 {
		b.pay(b.watched())
		b.Mine(1)
		broken := &breaker{at: n / 2, twice: n%2 == 1}
		b.follow(broken.over)
		b.ledger.Fail = broken.fail
		_, err := b.follower.Step(b.Context())
		told := broken.calls > broken.at && (!broken.source || n%2 == 1)
		if problem := b.ledger.Problem(); told != (err != nil) || told != (problem != "") {
			b.Errorf("call %d failed (of the source %v, twice %v): the step said %v, health %q", n/2, broken.source, n%2 == 1, err, problem)
		}
		b.ledger.Fail, broken.at = nil, -1 // the same follower goes on
		b.step()
		b.check()
		if b.ledger.Problem() != "" {
			b.Errorf("all is well again, health says %q", b.ledger.Problem())
		}
	}
}
