package tron

import (
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
)

// fakeNet drives a chain for the suite.
type fakeNet struct {
	testing.TB
	*fakeChain
	nodes  []*fakeNode
	source *Source
}

func newFakeNet(t testing.TB, change ...func(*fakeNode)) *fakeNet {
	c := newFakeChain(t)
	n := &fakeNet{TB: t, fakeChain: c}
	for _, one := range change {
		node := newFakeNode(t, c)
		one(node)
		n.nodes = append(n.nodes, node)
	}
	n.Restart()
	return n
}

func (n *fakeNet) Features() chaintest.Features {
	return chaintest.Features{Asset: "USDT", Amount: 1, MultiOutput: true, Payers: true, MaxReorg: 100}
}

func (n *fakeNet) Source() chain.Source { return n.source }
func (n *fakeNet) Restart()             { n.source = n.nodes[0].openSource(n.TB, n.nodes[1:]...) }
func (n *fakeNet) Mine(times int)       { n.mineBlocks(times) }

func (n *fakeNet) Reorg(depth int, keep bool)         { n.replaceBlocks(depth, keep) }
func (n *fakeNet) Where(txid string) chaintest.Place  { return n.placeOf(txid) }
func (n *fakeNet) Destination() chain.Destination     { return chain.Destination{Address: n.newAddress()} }
func (n *fakeNet) Pay(outputs ...chain.Output) string { return n.sendTokens(outputs...) }

func (n *fakeNet) Replace(string) string {
	n.Fatal("Tron replaces no transaction")
	return ""
}

func (n *fakeNet) Revert(chain.Output) string {
	n.Fatal("a failed transaction shows no transfer")
	return ""
}

func (n *fakeNet) PayFrom(from string, o chain.Output) string {
	return n.sendTx(n.tokenTxFrom(mustParseAccount(n, from), testToken, o))
}

func keepDefaults(*fakeNode) {}

// lackGetBlock makes the node one that has the older methods only.
func lackGetBlock(n *fakeNode) {
	n.lacks["/wallet/getblock"], n.lacks["/walletsolidity/getblock"] = true, true
}

// TestConformance runs the suite with nodes of both ages, and with two nodes.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string][]func(*fakeNode){"new": {keepDefaults}, "old": {lackGetBlock},
		"two": {keepDefaults, lackGetBlock}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, func(t *testing.T) chaintest.Net { return newFakeNet(t, nodes...) })
		})
	}
}
