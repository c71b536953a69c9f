package bitcoin

import (
	"flag"
	"math/rand/v2"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/internal/testing/speed"
)

var byzantine = flag.Int("bitcoin.steps", speed.Pick(100, 600),
	"how often the dishonest node of TestByzantineNodeGainsAtMostFourConfirmations lies")

// TestByzantineNodeGainsAtMostFourConfirmations (BTC-9): a follower reads an honest node and a
// dishonest one, in either order. The dishonest one serves branches of its own that pay us, returns
// to older tips, damages its answers, and is honest for a while. Its branches are up to four blocks
// longer than the honest one, as blocks cost nothing on a private network. They count at most until
// the honest node's next block, so its payments have at most four confirmations, and in the end all
// of them are undone. On real networks blocks cost work: see TestBlocksWithoutWorkConfirmNothing.
func TestByzantineNodeGainsAtMostFourConfirmations(t *testing.T) {
	t.Parallel()
	const beyond = 5
	for second := 1; second <= 2; second++ {
		random := rand.New(rand.NewPCG(9, uint64(second))) //nolint:gosec // lies, not secrets
		p := newPartition(t, second)
		liar, lies, most, stops, steps := p.nodes[1], []string{p.paid}, int64(0), 0, *byzantine/2
		var faults []nodeFault
		for _, f := range nodeFaults() {
			if len(f.adjustments()) == 0 {
				faults = append(faults, f)
			}
		}
		honest := func(n *fakeNode) {
			n.intercept, n.tamper, n.network, n.hidden, n.headers, n.syncing, n.loading, n.chain = nil, nil,
				"regtest", 0, 0, false, false, p.chains[0]
		}
		p.chains[0].mineBlocks(1)
		for range steps {
			if random.IntN(12) == 0 {
				p.chains[0].mineBlocks(1)
			}
			if random.IntN(25) == 0 {
				p.chains[1] = p.chains[0].forkChain()
				to := chain.Destination{Address: p.chains[1].newAddress()}
				p.watch.AddAddresses(to.Address)
				lies = append(lies, p.chains[1].sendTx(nil, chain.Output{Destination: to, Amount: money.Units(1000)}))
			}
			if p.chains[1].tipID().Height < p.chains[0].tipID().Height+4 && random.IntN(2) == 0 {
				p.chains[1].mineBlocks(1)
			}
			liar.update(honest)
			liar.update(func(n *fakeNode) {
				n.chain, n.hidden = p.chains[min(1, random.IntN(4))],
					max(0, random.IntN(6)-3)
			})
			if random.IntN(3) == 0 {
				liar.update(faults[random.IntN(len(faults))].apply)
			}
			if _, err := p.follower.Step(t.Context()); err != nil {
				stops++
			}
			for _, id := range lies {
				if n := int64(p.ledger.Confirmations(id)); n >= beyond {
					t.Fatalf("%d confirmations of what only a liar has", n)
				} else {
					most = max(most, n)
				}
			}
		}
		liar.update(honest)
		p.chains[0].mineBlocks(3)
		p.mustStep()
		for _, id := range lies {
			if n := p.ledger.Confirmations(id); n != 0 {
				t.Errorf("%d confirmations are left", n)
			}
		}
		t.Logf("%d steps, of which %d stopped; %d false payments with at most %d confirmations", steps, stops,
			len(lies), most)
		if stops < steps/10 || most == 0 {
			t.Error("it lied too little")
		}
	}
}
