package ethereum

import (
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/params"
)

// fakeNet drives a chain for the suite: in ether, or in the token.
type fakeNet struct {
	testing.TB
	*fakeChain
	nodes  []*fakeNode
	source *Source
	tokens bool
}

func newNet(t testing.TB, tokens bool, change ...func(*fakeNode)) *fakeNet {
	c := newFakeChain(t)
	n := &fakeNet{TB: t, fakeChain: c, tokens: tokens}
	for _, one := range change {
		node := newFakeNode(t, c)
		one(node)
		n.nodes = append(n.nodes, node)
	}
	n.Restart()
	return n
}

func (n *fakeNet) Features() chaintest.Features {
	if n.tokens {
		return chaintest.Features{Asset: "USDT", Amount: 1, MultiOutput: true, MaxReorg: 100}
	}
	return chaintest.Features{Asset: "ETH", Amount: 1, Mempool: true, Replace: true, Reverts: true, MaxReorg: 100}
}

func (n *fakeNet) Source() chain.Source { return n.source }
func (n *fakeNet) Restart()             { n.source = n.nodes[0].open(n.TB, n.nodes[1:]...) }
func (n *fakeNet) Mine(times int)       { n.mine(times) }

func (n *fakeNet) Reorg(depth int, keep bool)        { n.reorg(depth, keep) }
func (n *fakeNet) Where(txid string) chaintest.Place { return n.where(txid) }
func (n *fakeNet) Replace(txid string) string        { return n.replace(txid) }
func (n *fakeNet) Revert(o chain.Output) string      { return n.pay(o, true) }
func (n *fakeNet) Destination() chain.Destination    { return chain.Destination{Address: n.address()} }

func (n *fakeNet) Pay(outputs ...chain.Output) string {
	if n.tokens {
		return n.token(outputs...)
	}
	return n.pay(outputs[0], false)
}

func usual(*fakeNode) {}

// frugal is a provider that has little and lets itself be asked one thing at a time.
func frugal(n *fakeNode) {
	n.lacks["eth_getBlockReceipts"], n.most = true, 1
}

// TestConformance runs the suite in ether and in USDT, over nodes that give all
// receipts at once, or one by one, and over two nodes.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string][]func(*fakeNode){"receipts": {usual}, "one by one": {frugal}, "two": {usual, frugal}} {
		for _, tokens := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " in ETH", true: " in USDT"}[tokens], func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net { return newNet(t, tokens, nodes...) })
			})
		}
	}
}

// setBloom sets the bits that stand for something.
func setBloom(bloom, what []byte) {
	sum := params.Keccak(what)
	for i := range 3 {
		bit := (uint(sum[2*i])<<8 | uint(sum[2*i+1])) & 2047
		bloom[255-bit/8] |= 1 << (bit % 8)
	}
}
