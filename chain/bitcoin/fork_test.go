package bitcoin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/money"
)

// partition is two nodes whose chains part at height 5, and what is mined where.
type partition struct {
	*fixture
	nodes  [2]*fakeNode
	chains [2]*fakeChain
	paid   string // a payment that only the second chain holds
}

// newPartition has the node with a number follow the second chain.
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
	if _, err := p.follower.Step(p.Context()); err != nil || p.ledger.Tip() != p.chains[number].tipID() || p.ledger.Problem() != "" {
		p.Fatalf("at %v of %v, health %q, error %v", p.ledger.Tip(), p.chains[number].tipID(), p.ledger.Problem(), err)
	}
}

// TestContradictedBranchIsNotCounted (BTC-8) has two nodes on different branches, the false one in either
// place: nothing is counted that the other contradicts, however long it is.
func TestContradictedBranchIsNotCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mined [2]int // past the fork
		words string // "" lets it pass
		end   int    // the chain that is followed then
	}{
		"1 and 8":       {[2]int{1, 8}, "disagree: they have different blocks at height 6", 0},
		"3 and 8":       {[2]int{3, 8}, "disagree: they have different blocks at height 8", 0},
		"1 and 2":       {[2]int{1, 2}, "disagree: they have different blocks at height 6", 0},
		"2 and 2":       {[2]int{2, 2}, "disagree: they have different blocks at height 7", 0},
		"2 and 1":       {[2]int{2, 1}, "disagree: they have different blocks at height 6", 0},
		"none and 8":    {[2]int{0, 8}, "", 1}, // as if it lagged
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
				if _, err := p.source.Block(t.Context(), 3, p.watch); err == nil {
					t.Error("a block is given while nodes disagree")
				}
			})
		}
	}
}

// TestFalseBranchStopsAtTheNextHonestBlock notices a false branch when the other node's next block
// contradicts it, and goes on when the nodes agree again.
func TestFalseBranchStopsAtTheNextHonestBlock(t *testing.T) {
	t.Parallel()
	for second := 1; second <= 2; second++ {
		p := newPartition(t, second)
		p.chains[1].mineBlocks(2)
		p.expectTip(1) // the other looks late
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

// TestOtherNodeIsCheckedBeforeALongBranchCounts has a branch grow by more than one block since the node that
// contradicts it was last looked at: it is asked before the branch is believed.
func TestOtherNodeIsCheckedBeforeALongBranchCounts(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 1) // node 1 is the one that is asked
	p.source.nodes.Pace = node.UsualPace
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

// TestSilentOtherNodeIsLeftOut has it hang instead: it is waited for once, and left out.
func TestSilentOtherNodeIsLeftOut(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 1)
	p.source.nodes.Pace = node.UsualPace
	p.source.nodes.Pace.Most = 50 * time.Millisecond
	p.expectTip(0)
	p.nodes[0].update(func(n *fakeNode) { n.intercept = hangUntilClosed })
	p.chains[1].mineBlocks(2)
	p.expectTip(1)
	if p.source.servers[1].Seen().Healthy() {
		t.Error("it passes for healthy")
	}
}

// TestHonestRaceResolvesItself has honest nodes that hear of competing blocks one after the other.
func TestHonestRaceResolvesItself(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 2)
	p.chains[0].mineBlocks(1)
	p.chains[1].mineBlocks(1)
	p.expectTip(0) // one block each: the usual race
	p.chains[1].mineBlocks(1)
	p.expectProblem("disagree") // it is decided, and only one knows: for seconds
	p.nodes[0].update(func(n *fakeNode) { n.chain = p.chains[1] })
	p.expectTip(1)
	p.chains[1].mineBlocks(2)
	p.nodes[0].update(func(n *fakeNode) { n.hidden = 2 })
	p.expectTip(1) // it only lags
}

// TestBorrowedBlockHashesHideNoBranch (BTC-9) has a liar that names the other node's blocks when it is asked
// what stands at a height, and hides its branch so.
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

// TestDescentIsProvenOnce has a node that lacks many blocks: they are proved once.
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

// TestRunningCheckDoesNotLiftADispute has a node under way whose last word contradicts the other's
// branch: that is not believed for the moment that the look takes.
func TestRunningCheckDoesNotLiftADispute(t *testing.T) {
	t.Parallel()
	p := newPartition(t, 2)
	p.chains[0].mineBlocks(1)
	p.chains[1].mineBlocks(1)
	p.expectTip(0)
	witness, liar := p.source.servers[0], p.source.servers[1]
	p.source.nodes.Choosing.Lock()
	p.source.nodes.Chosen = liar.Node
	p.source.nodes.Choosing.Unlock()
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
	<-asked // a look at it begins
	p.nodes[0].update(func(n *fakeNode) { n.intercept = nil })
	fresh := map[*node.Node]bool{liar.Node: true}
	if err := liar.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		p.source.nodes.Choosing.Lock()
		defer p.source.nodes.Choosing.Unlock()
		_, err := p.source.nodes.Pick(t.Context(), fresh)
		result <- err
	}()
	close(answer) // and ends
	if err := <-result; err == nil {
		t.Error("the branch is believed while the node that contradicts it is looked at")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
