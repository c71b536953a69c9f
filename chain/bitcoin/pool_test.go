package bitcoin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain/node"
	"cointill/core/money"
)

// twoNodes is a follower over two nodes that show one chain; adjust changes the
// source before it asks anything.
func twoNodes(t *testing.T, adjust ...func(*Source)) (b *fixture, first, second *fakeNode) {
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	c.mine(5)
	first, second = newFakeNode(t, c, "core"), newFakeNode(t, c, "btcd")
	s := first.open(t, second)
	for _, change := range adjust {
		change(s)
	}
	b = newFixture(t, c, s)
	b.step()
	return b, first, second
}

// inUse is the number of the node that is asked.
func inUse(b *fixture) int {
	nodes := b.source.nodes
	nodes.Choosing.Lock()
	defer nodes.Choosing.Unlock()
	if nodes.Chosen == nil {
		return 0
	}
	return nodes.Chosen.Number
}

// TestFailover goes on with the second node when the first fails in whatever
// way, and stays there while it is as good.
func TestFailover(t *testing.T) {
	t.Parallel()
	for _, f := range nodeFaults() {
		if f.name == "another height" {
			continue // only the follower, which knows the block before, can notice
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			b, first, second := twoNodes(t, f.patience()...)
			if inUse(b) != 1 {
				t.Fatalf("node %d is asked first", inUse(b))
			}
			b.chain.mine(2)
			b.pay()
			first.set(f.set)
			_, _ = b.follower.Step(b.Context()) // what fails only when it is asked, fails once
			b.step()
			if inUse(b) != 2 {
				t.Errorf("node %d is asked", inUse(b))
			}
			first.set(func(n *fakeNode) { n.hijack, n.tamper, n.network, n.hidden, n.headers = nil, nil, "regtest", 0, 0 })
			b.chain.mine(1)
			b.step()
			b.step()
			if inUse(b) != 2 {
				t.Errorf("node %d is asked, without need", inUse(b))
			}
			second.set(func(n *fakeNode) { n.hijack = cutOff })
			b.step()
			if inUse(b) != 1 {
				t.Errorf("node %d is asked though it is down", inUse(b))
			}
		})
	}
}

// TestFork (BTC-8) has two nodes with different chains: nobody is believed.
func TestFork(t *testing.T) {
	t.Parallel()
	b, first, second := twoNodes(t, impatient)
	other := b.chain.fork()
	second.set(func(n *fakeNode) { n.chain = other })
	b.chain.mine(1)
	other.mine(1) // two blocks compete for the end: that happens
	b.step()
	b.chain.mine(1)
	b.stopped("Nodes 1 and 2 of 2 disagree: they have different blocks at height 6")
	other.mine(1)
	b.stopped("disagree")
	other.mine(10) // neither is behind
	b.stopped("disagree")
	for _, st := range b.source.Nodes(t.Context()) {
		if !strings.Contains(st.Problem, "disagree") || st.InUse {
			t.Errorf("%+v", st)
		}
	}
	if _, err := b.source.Block(t.Context(), 3, b.watch); err == nil {
		t.Error("a block is given while nodes disagree")
	}
	second.set(func(n *fakeNode) { n.hijack = hang }) // the other is stopped
	b.step()
	second.set(func(n *fakeNode) { n.hijack, n.chain = nil, b.chain })
	b.step()
	first.set(func(n *fakeNode) { n.hijack = hang })
	b.step()
}

// TestBehind leaves a node out that lacks blocks, and asks it again when it has them.
func TestBehind(t *testing.T) {
	t.Parallel()
	b, first, second := twoNodes(t)
	first.set(func(n *fakeNode) { n.hidden = 1 })
	b.chain.mine(1)
	if _, err := b.follower.Step(t.Context()); err != nil || inUse(b) != 1 {
		t.Errorf("a node one block behind is left: node %d, %v", inUse(b), err)
	}
	first.set(func(n *fakeNode) { n.hidden = 4 })
	b.chain.mine(3)
	b.step()
	if inUse(b) != 2 {
		t.Errorf("node %d is asked", inUse(b))
	}
	all := b.source.Nodes(t.Context())
	if all[0].Problem != "Node 1 of 2 is 4 blocks behind the others, and is left out. Check its connections to other nodes." || all[1].Problem != "" {
		t.Errorf("%+v", all)
	}
	if all[0].Dialect != "core" || all[0].Version != "Satoshi:29.0.0" || all[1].Dialect != "btcd" || all[1].Height != 9 || !all[1].InUse {
		t.Errorf("%+v", all)
	}
	second.set(func(n *fakeNode) { n.hijack = cutOff })
	b.stopped("is behind") // nothing is undone on its word
	first.set(func(n *fakeNode) { n.hidden = 0 })
	b.step()
}

// TestSlowNode has a second node that says nothing: it holds nothing up.
func TestSlowNode(t *testing.T) {
	t.Parallel()
	b, _, second := twoNodes(t)
	b.source.nodes.Pace.Grace, b.source.nodes.Pace.Most = time.Millisecond, 100*time.Millisecond
	asked := make(chan struct{}, 100)
	second.set(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
			asked <- struct{}{}
			return hang(w, r)
		}
	})
	for range 5 {
		b.chain.mine(1)
		b.step()
	}
	if inUse(b) != 1 {
		t.Errorf("node %d is asked", inUse(b))
	}
	for len(asked) < 2 { // the first look is given up, and another begun
		b.step()
	}
	if v := b.source.servers[1].Seen(); v.Healthy() {
		t.Error("it passes for healthy")
	}
}

// TestNobody tells what is wrong with each node.
func TestNobody(t *testing.T) {
	t.Parallel()
	b, first, second := twoNodes(t)
	first.set(func(n *fakeNode) { n.password = "x" })
	second.set(func(n *fakeNode) { n.network = "mainnet" })
	b.stopped("No node can be used. Node 1 of 2 refuses the user name and password. Check those in its URL against the node's " +
		"configuration. Node 2 of 2 follows another network than bitcoin-regtest.")
	for i, st := range b.source.Nodes(t.Context()) {
		if st.Problem == "" || st.InUse || !strings.HasPrefix(st.Host, "127.0.0.1:") {
			t.Errorf("%d: %+v", i, st)
		}
	}
	second.set(func(n *fakeNode) { n.network = "regtest" })
	b.step()
}

// TestFewQuestions counts what an idle second costs.
func TestFewQuestions(t *testing.T) {
	t.Parallel()
	b, first, second := twoNodes(t)
	b.source.pace, b.source.nodes.Pace = usualPace, node.UsualPace
	b.step()
	before, others := first.total(), second.total()
	b.step()
	if n := first.total() - before; n > 3 { // two tips and the mempool
		t.Errorf("%d questions to the node that is asked", n)
	}
	if n := second.total() - others; n > 0 {
		t.Errorf("%d questions to the other", n)
	}
}

// total is how much the node was asked.
func (n *fakeNode) total() (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, count := range n.asked {
		sum += count
	}
	return sum
}
