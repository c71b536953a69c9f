package e2e

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// selectNetworks returns some of the registry's networks.
func selectNetworks(codes ...string) []*evmNetwork {
	return slices.DeleteFunc(listEVMNetworks(), func(n *evmNetwork) bool { return !slices.Contains(codes, n.code) })
}

// findCoin returns a coin on a network.
func (x *networksTill) findCoin(method, code string) takenCoin {
	return x.coins[slices.IndexFunc(x.coins, func(c takenCoin) bool { return c.method == method && c.code == code })]
}

// TestDeepReorganisation: 120 blocks of Polygon are replaced, nearly twice as many as make a payment final. A payment
// below them stays as it was. One that was final in them stays Successful and is marked as reversed; one that wasn't
// waits again. Both count once more when the same transactions are final on the new branch.
func TestDeepReorganisation(t *testing.T) {
	t.Parallel()
	const depth = 120
	x := newNetworksTill(t, selectNetworks("ethereum", "polygon"))
	polygon := x.findCoin(inUSDT, "polygon")
	order := func(kind string) *networkPayment { return x.order(polygon, kind, polygon.evmNetwork) }
	below, final, recent := order("below"), order("final"), order("recent")

	below.pay(below.due)
	polygon.node.Mine(1)
	final.pay(final.due)
	polygon.node.Mine(depth - 40)
	x.awaitPayments([]*networkPayment{below, final}, "successful", "")
	recent.pay(recent.due)
	polygon.node.Mine(40)
	x.awaitPayments([]*networkPayment{recent}, "processing", "")

	polygon.node.Reorg(depth)
	x.awaitPayments([]*networkPayment{recent}, "initiated", "reorged")
	x.awaitPayments([]*networkPayment{final}, "successful", "reversed")
	if got := x.readRow(below.Reference); got != below.row() {
		t.Errorf("the payment below the replaced blocks is %s\nwant %s", got, below.row())
	}
	for _, p := range []*networkPayment{final, recent} {
		x.sendAgain(p)
	}
	polygon.node.Mine(polygon.depth)
	x.awaitPayments(x.payments, "successful", "")
	x.compareTotals()
}

// TestNetworksOfAnyPace: a network that has a block every quarter of a second is followed beside one that has one every
// twelve. A payment on each is Successful.
func TestNetworksOfAnyPace(t *testing.T) {
	t.Parallel()
	paces := map[string]time.Duration{"ethereum": 12 * time.Second, "arbitrum": 250 * time.Millisecond}
	x := newNetworksTill(t, selectNetworks("ethereum", "arbitrum"))
	ended := make(chan struct{})
	var mining sync.WaitGroup
	stop := sync.OnceFunc(func() { close(ended); mining.Wait() })
	t.Cleanup(stop) // before the nodes end
	for _, n := range x.networks {
		mining.Go(func() {
			ticker := time.NewTicker(paces[n.code])
			defer ticker.Stop()
			for {
				select {
				case <-ended:
					return
				case <-ticker.C:
					if err := n.node.TryCall("evm_mine", nil); err != nil {
						t.Errorf("%s: %v", n.code, err)
						return
					}
				}
			}
		})
	}
	fast, slow := x.findCoin(inUSDT, "arbitrum"), x.findCoin(inUSDT, "ethereum")
	fastPayment := x.order(fast, "fast", fast.evmNetwork)
	slowPayment := x.order(slow, "slow", slow.evmNetwork)
	fastPayment.pay(fastPayment.due)
	slowPayment.pay(slowPayment.due)
	x.awaitPayments([]*networkPayment{fastPayment}, "successful", "")
	x.awaitPayments([]*networkPayment{slowPayment}, "processing", "")
	stop()
	slow.node.Mine(slow.depth)
	x.awaitPayments(x.payments, "successful", "")
	x.compareTotals()
}
