package bitcoin

import (
	"testing"
	"time"

	"cointill/chain/bitcoin/params"
	"cointill/chain/chaintest"
	"cointill/core/money"
)

// publicParams returns a network that is checked like a public one but needs little work.
func publicParams(t testing.TB) params.Params {
	p := paramsOf(t, money.Bitcoin, "regtest")
	p.Private, p.Stale = false, 3*time.Hour
	return p
}

// TestConformance runs the suite over every dialect.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		dialect string
		chain   money.Chain
	}{{"core", money.Bitcoin}, {"btcd", money.Bitcoin}, {"esplora", money.Bitcoin}, {"old", money.Dogecoin}} {
		t.Run(kind.dialect, func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, func(t *testing.T) chaintest.Net {
				c := newFakeChain(t, paramsOf(t, kind.chain, "regtest"))
				n := &fakeNet{fakeChain: c, node: newFakeNode(t, c, kind.dialect)}
				n.Restart()
				return n
			})
		})
	}
}

// TestConformanceWithTwoNodes runs the suite over two nodes that serve the same chain.
func TestConformanceWithTwoNodes(t *testing.T) {
	t.Parallel()
	chaintest.Run(t, func(t *testing.T) chaintest.Net {
		c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
		n := &twoNet{fakeNet{fakeChain: c, node: newFakeNode(t, c, "core")}, newFakeNode(t, c, "btcd")}
		n.Restart()
		return n
	})
}

type twoNet struct {
	fakeNet
	second *fakeNode
}

func (n *twoNet) Restart() { n.source = n.node.openSource(n.TB, n.second) }
