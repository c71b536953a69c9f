package bitcoin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain/chaintest"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// newTwoNodeFixture returns a follower over two nodes that serve one chain. adjust changes the
// source before its first question.
func newTwoNodeFixture(t *testing.T, adjust ...func(*Source)) (b *fixture, first, second *fakeNode) {
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	c.mineBlocks(5)
	first, second = newFakeNode(t, c, "core"), newFakeNode(t, c, "btcd")
	s := first.openSource(t, second)
	for _, change := range adjust {
		change(s)
	}
	b = newFixture(t, c, s)
	b.mustStep()
	return b, first, second
}

// chosenNode returns the number of the node in use.
func chosenNode(b *fixture) int {
	nodes := b.source.nodes
	nodes.ChoiceMu.Lock()
	defer nodes.ChoiceMu.Unlock()
	if nodes.Chosen == nil {
		return 0
	}
	return nodes.Chosen.Number
}

// TestSecondNodeTakesOver: the second node is used when the first one fails in any way, and stays
// in use while it is as good.
func TestSecondNodeTakesOver(t *testing.T) {
	t.Parallel()
	for _, f := range nodeFaults() {
		if f.name == "another height" {
			continue // only the follower, which knows the previous block, can detect it
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			b, first, second := newTwoNodeFixture(t, f.adjustments()...)
			if chosenNode(b) != 1 {
				t.Fatalf("node %d is asked first", chosenNode(b))
			}
			b.chain.mineBlocks(2)
			b.payNewAddress()
			first.update(f.apply)
			_, _ = b.follower.Step(b.Context()) // a fault that only a question shows fails one step
			b.mustStep()
			if chosenNode(b) != 2 {
				t.Errorf("node %d is asked", chosenNode(b))
			}
			first.update(func(n *fakeNode) {
				n.intercept, n.tamper, n.network, n.hidden, n.headers = nil, nil,
					"regtest", 0, 0
			})
			b.chain.mineBlocks(1)
			b.mustStep()
			b.mustStep()
			if chosenNode(b) != 2 {
				t.Errorf("node %d is asked, without need", chosenNode(b))
			}
			second.update(func(n *fakeNode) { n.intercept = cutOff })
			b.mustStep()
			if chosenNode(b) != 1 {
				t.Errorf("node %d is asked though it is down", chosenNode(b))
			}
		})
	}
}

// TestNoNodeIsUsedWhileTwoDisagree (BTC-8): while two nodes have different chains none is used.
func TestNoNodeIsUsedWhileTwoDisagree(t *testing.T) {
	t.Parallel()
	b, first, second := newTwoNodeFixture(t, shortenSilence)
	other := b.chain.forkChain()
	second.update(func(n *fakeNode) { n.chain = other })
	b.chain.mineBlocks(1)
	other.mineBlocks(1) // two blocks compete for the end, as it happens
	b.mustStep()
	b.chain.mineBlocks(1)
	b.expectProblem("Nodes 1 and 2 of 2 disagree: they have different blocks at height 6")
	other.mineBlocks(1)
	b.expectProblem("disagree")
	other.mineBlocks(10) // neither node lags
	b.expectProblem("disagree")
	for _, st := range b.source.Nodes(t.Context()) {
		if !strings.Contains(st.Problem, "disagree") || st.InUse {
			t.Errorf("%+v", st)
		}
	}
	if _, err := chaintest.ReadBlock(t.Context(), b.source, 3, b.watch); err == nil {
		t.Error("a block is given while nodes disagree")
	}
	second.update(func(n *fakeNode) { n.intercept = hangUntilClosed }) // the other node is stopped
	b.mustStep()
	second.update(func(n *fakeNode) { n.intercept, n.chain = nil, b.chain })
	b.mustStep()
	first.update(func(n *fakeNode) { n.intercept = hangUntilClosed })
	b.mustStep()
}

// TestNodeThatLagsIsLeftOut: a node that lacks blocks is left out, and used again when it has them.
func TestNodeThatLagsIsLeftOut(t *testing.T) {
	t.Parallel()
	b, first, second := newTwoNodeFixture(t)
	first.update(func(n *fakeNode) { n.hidden = 1 })
	b.chain.mineBlocks(1)
	if _, err := b.follower.Step(t.Context()); err != nil || chosenNode(b) != 1 {
		t.Errorf("a node one block behind is left: node %d, %v", chosenNode(b), err)
	}
	first.update(func(n *fakeNode) { n.hidden = 4 })
	b.chain.mineBlocks(3)
	b.mustStep()
	if chosenNode(b) != 2 {
		t.Errorf("node %d is asked", chosenNode(b))
	}
	all := b.source.Nodes(t.Context())
	if all[0].Problem != "Node 1 of 2 is 4 blocks behind the others, and is left out. Check its connections to "+
		"other nodes." || all[1].Problem != "" {
		t.Errorf("%+v", all)
	}
	if all[0].Dialect != "core" || all[0].Version != "Satoshi:29.0.0" || all[1].Dialect != "btcd" ||
		all[1].Height != 9 || !all[1].InUse {
		t.Errorf("%+v", all)
	}
	second.update(func(n *fakeNode) { n.intercept = cutOff })
	b.expectProblem("is behind") // no block is undone because of a node that lags
	first.update(func(n *fakeNode) { n.hidden = 0 })
	b.mustStep()
}

// TestSilentSecondNodeDelaysNothing: a silent second node delays no step.
func TestSilentSecondNodeDelaysNothing(t *testing.T) {
	t.Parallel()
	b, _, second := newTwoNodeFixture(t)
	b.source.nodes.Timing.Grace, b.source.nodes.Timing.CheckTimeout = time.Millisecond, 100*time.Millisecond
	asked := make(chan struct{}, 100)
	second.update(func(n *fakeNode) {
		n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			asked <- struct{}{}
			return hangUntilClosed(w, r)
		}
	})
	for range 5 {
		b.chain.mineBlocks(1)
		b.mustStep()
	}
	if chosenNode(b) != 1 {
		t.Errorf("node %d is asked", chosenNode(b))
	}
	for len(asked) < 2 { // the first check is given up, and another one begins
		b.mustStep()
	}
	if v := b.source.nodes.Members[1].LastView(); v.Healthy() {
		t.Error("it passes for healthy")
	}
}

// TestEveryNodeProblemIsListed: if no node can be used, the problem of each is shown.
func TestEveryNodeProblemIsListed(t *testing.T) {
	t.Parallel()
	b, first, second := newTwoNodeFixture(t)
	first.update(func(n *fakeNode) { n.password = "x" })
	second.update(func(n *fakeNode) { n.network = "mainnet" })
	b.expectProblem("No node can be used. Node 1 of 2 refuses the user name and password. Check those in its URL " +
		"against the node's configuration. Node 2 of 2 follows another network than bitcoin-regtest.")
	for i, st := range b.source.Nodes(t.Context()) {
		if st.Problem == "" || st.InUse || !strings.HasPrefix(st.Host, "127.0.0.1:") {
			t.Errorf("%d: %+v", i, st)
		}
	}
	second.update(func(n *fakeNode) { n.network = "regtest" })
	b.mustStep()
}

// TestIdleStepAsksFewQuestions: the questions of an idle step are counted.
func TestIdleStepAsksFewQuestions(t *testing.T) {
	t.Parallel()
	b, first, second := newTwoNodeFixture(t)
	b.source.timing, b.source.nodes.Timing = defaultTiming, quorum.DefaultTiming
	b.mustStep()
	before, others := first.totalCalls(), second.totalCalls()
	b.mustStep()
	if n := first.totalCalls() - before; n > 3 { // two tips and the mempool
		t.Errorf("%d questions to the node that is asked", n)
	}
	if n := second.totalCalls() - others; n > 0 {
		t.Errorf("%d questions to the other", n)
	}
}

// totalCalls returns the number of all calls of the node.
func (n *fakeNode) totalCalls() (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, count := range n.callCounts {
		sum += count
	}
	return sum
}
