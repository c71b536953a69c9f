package bitcoin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// partition is two nodes whose chains differ above height 5.
type partition struct {
	*fixture
	nodes  [2]*fakeNode
	chains [2]*fakeChain
	paid   string // a payment that only the second chain contains
}

// newPartition makes the node with number second follow the second chain.
func newPartition(t *testing.T, second int) *partition {
	b, one, two := newTwoNodeFixture(t)
	p := &partition{fixture: b, nodes: [2]*fakeNode{one, two}}
	if second == 1 {
		p.nodes = [2]*fakeNode{two, one}
	}
	p.chains = [2]*fakeChain{b.chain, b.chain.forkChain()}
	to := chain.Destination{Address: b.chain.newAddress()}
	b.watch.AddAddresses(to.Address)
	p.paid = p.chains[1].sendTx(nil, chain.Output{Destination: to, Amount: money.Units(1000)})
	p.nodes[1].update(func(n *fakeNode) { n.chain = p.chains[1] })
	return p
}

// expectTip expects a step to end at the tip of one of the chains.
func (p *partition) expectTip(number int) {
	p.Helper()
	if _, err := p.follower.Step(p.Context()); err != nil || p.ledger.Tip() != p.chains[number].tipID() ||
		p.ledger.Problem() != "" {
		p.Fatalf("at %v of %v, health %q, error %v", p.ledger.Tip(), p.chains[number].tipID(), p.ledger.Problem(), err)
	}
}

// TestContradictedBranchIsNotCounted (BTC-8): two nodes are on different branches, with the false
// one in either position. No block counts that the other node contradicts, however long its branch
// is.
func TestContradictedBranchIsNotCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mined [2]int // blocks past the fork
		words string // "" expects success
		end   int    // the followed chain after success
	}{
		"1 and 8":       {[2]int{1, 8}, "disagree: they have different blocks at height 6", 0},
		"3 and 8":       {[2]int{3, 8}, "disagree: they have different blocks at height 8", 0},
		"1 and 2":       {[2]int{1, 2}, "disagree: they have different blocks at height 6", 0},
		"2 and 2":       {[2]int{2, 2}, "disagree: they have different blocks at height 7", 0},
		"2 and 1":       {[2]int{2, 1}, "disagree: they have different blocks at height 6", 0},
		"none and 8":    {[2]int{0, 8}, "", 1}, // it looks as if it lagged
		"none and none": {[2]int{0, 0}, "", 0},
	} {
		for second := 1; second <= 2; second++ {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPartition(t, second)
				p.chains[0].mineBlocks(c.mined[0])
				p.chains[1].mineBlocks(c.mined[1])
				if c.words == "" {
					p.expectTip(c.end)
					return
				}
				for range 3 {
					p.expectProblem(c.words)
				}
				if n := p.ledger.Confirmations(p.paid); n != 0 {
					t.Errorf("%d confirmations on a branch that a healthy node contradicts", n)
				}
				if _, err := chaintest.ReadBlock(t.Context(), p.source, 3, p.watch); err == nil {
					t.Error("a block is given while nodes disagree")
				}
			})
		}
	}
}

// TestFalseBranchStopsAtTheNextHonestBlock: a false branch is detected when the other node's next
// block contradicts it, and the follower continues when the nodes agree again.
func TestFalseBranchStopsAtTheNextHonestBlock(t *testing.T) {
	t.Parallel()
	for second := 1; second <= 2; second++ {
		p := newPartition(t, second)
		p.chains[1].mineBlocks(2)
		p.expectTip(1) // the other node seems to lag
		p.chains[0].mineBlocks(1)
		p.chains[1].mineBlocks(8)
		p.expectProblem("disagree")
		if n := p.ledger.Confirmations(p.paid); n != 2 {
			t.Errorf("%d confirmations", n)
		}
		for _, st := range p.source.Nodes(t.Context()) {
			if !strings.Contains(st.Problem, "disagree") || st.InUse {
				t.Errorf("%+v", st)
			}
		}
		p.nodes[1].update(func(n *fakeNode) { n.chain = p.chains[0] })
		p.chains[0].mineBlocks(4)
		p.mustStep()
		if n := p.ledger.Confirmations(p.paid); n != 0 {
			t.Errorf("%d confirmations after the false branch ended", n)
		}
	}
}

// TestOtherNodeIsCheckedBeforeALongBranchCounts: a branch grew by more than one block since the
// last check of the contradicting node. This node is checked before the branch counts.
func TestOtherNodeIsCheckedBeforeALongBranchCounts(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 1) // node 1 is the node in use
	p.source.nodes.Timing = quorum.DefaultTiming
	p.expectTip(0)
	witness := p.nodes[0]
	before := witness.totalCalls()
	p.chains[0].mineBlocks(2)
	p.chains[1].mineBlocks(2)
	p.expectProblem("disagree: they have different blocks at height 7")
	if n := p.ledger.Confirmations(p.paid); n != 0 {
		t.Errorf("%d confirmations on the word of one node", n)
	}
	if witness.totalCalls() == before {
		t.Error("the other node wasn't asked")
	}
}

// TestSilentOtherNodeIsLeftOut: if the other node is silent, it is waited for once and left out.
func TestSilentOtherNodeIsLeftOut(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 1)
	p.source.nodes.Timing = quorum.DefaultTiming
	p.source.nodes.Timing.CheckTimeout = 50 * time.Millisecond
	p.expectTip(0)
	p.nodes[0].update(func(n *fakeNode) { n.intercept = hangUntilClosed })
	p.chains[1].mineBlocks(2)
	p.expectTip(1)
	if p.source.nodes.Members[1].LastView().Healthy() {
		t.Error("it passes for healthy")
	}
}

// TestHonestRaceResolvesItself: honest nodes receive competing blocks one after the other.
func TestHonestRaceResolvesItself(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 2)
	p.chains[0].mineBlocks(1)
	p.chains[1].mineBlocks(1)
	p.expectTip(0) // one block each: the usual race
	p.chains[1].mineBlocks(1)
	p.expectProblem("disagree") // the race is decided, but only one node knows it for some seconds
	p.nodes[0].update(func(n *fakeNode) { n.chain = p.chains[1] })
	p.expectTip(1)
	p.chains[1].mineBlocks(2)
	p.nodes[0].update(func(n *fakeNode) { n.hidden = 2 })
	p.expectTip(1) // it only lags
}

// TestBorrowedBlockHashesHideNoBranch (BTC-9): a dishonest node reports the other node's hash at a
// height to hide its own branch.
func TestBorrowedBlockHashesHideNoBranch(t *testing.T) {
	t.Parallel()
	for second := 1; second <= 2; second++ {
		p := newPartition(t, second)
		p.chains[0].mineBlocks(1)
		p.chains[1].mineBlocks(8)
		honest, mask := p.chains[0].blocks[6].hash, p.chains[1].blocks[6].hash
		p.nodes[1].update(tamperWith("getblockhash", func(hash string) any {
			if hash == mask {
				return honest
			}
			return hash
		}))
		p.expectProblem("disagree")
		if n := p.ledger.Confirmations(p.paid); n != 0 {
			t.Errorf("%d confirmations", n)
		}
	}
}

// TestDescentIsProvenOnce: the proof for a node that lacks many blocks is read once.
func TestDescentIsProvenOnce(t *testing.T) {
	t.Parallel()
	b, first, second := newTwoNodeFixture(t)
	first.update(func(n *fakeNode) { n.hidden = 150 })
	b.chain.mineBlocks(150)
	b.mustStep()
	if chosenNode(b) != 2 {
		t.Errorf("node %d is asked", chosenNode(b))
	}
	before := second.countCalls("getblockheader")
	first.update(func(n *fakeNode) { n.hidden = 151 })
	b.chain.mineBlocks(1)
	b.mustStep()
	if n := second.countCalls("getblockheader") - before; n > 2 {
		t.Errorf("%d headers were read for one new block", n)
	}
}

// TestRunningCheckDoesNotLiftADispute: while a node is being checked, its last view still
// contradicts the other node's branch.
func TestRunningCheckDoesNotLiftADispute(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 2)
	p.chains[0].mineBlocks(1)
	p.chains[1].mineBlocks(1)
	p.expectTip(0)
	witness, liar := p.source.nodes.Members[0], p.source.nodes.Members[1]
	p.source.nodes.ChoiceMu.Lock()
	p.source.nodes.Chosen = liar.Node
	p.source.nodes.ChoiceMu.Unlock()
	p.chains[1].mineBlocks(8)
	asked, answer, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	p.nodes[0].update(func(n *fakeNode) {
		n.intercept = func(http.ResponseWriter, *http.Request) bool {
			asked <- struct{}{}
			<-answer
			return false
		}
	})
	go func() { ended <- witness.Check(t.Context()) }()
	<-asked // its check begins
	p.nodes[0].update(func(n *fakeNode) { n.intercept = nil })
	fresh := map[*quorum.Node]bool{liar.Node: true}
	if err := liar.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		p.source.nodes.ChoiceMu.Lock()
		defer p.source.nodes.ChoiceMu.Unlock()
		_, _, err := p.source.nodes.PickBest(t.Context(), fresh)
		result <- err
	}()
	close(answer) // its check ends
	if err := <-result; err == nil {
		t.Error("the branch is believed while the node that contradicts it is looked at")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
