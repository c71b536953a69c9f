package ethereum

import (
	"testing"
	"time"
)

// TestLateSecondNodeStillConfirms checks that a second node that receives the block a moment later
// still confirms it.
func TestLateSecondNodeStillConfirms(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.source.confirmTimeout = time.Minute
	b.followToTip()
	to := b.watchNewAddress()
	c.sendEther(outputTo(c.newAddress(), 5), false)
	c.mineBlocks(1)
	first.setBehaviour(redirectPayments(to))
	second.setBehaviour(func(n *fakeNode) {
		n.hidden = 1
		n.tamper = func(method string, result any) any {
			if method == "eth_getBlockByHash" {
				n.setBehaviour(func(n *fakeNode) { n.hidden = 0 }) // from the next request on
			}
			return result
		}
	})
	b.expectStopped("Nodes 1 and 2 of 2 disagree about what block 1 holds")
	if asked := second.countRequests("eth_getBlockByHash"); asked < 2 {
		t.Errorf("the second node was asked %d times", asked)
	}
}
