package bitcoin

import (
	"testing"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// TestTargetGrowsOnlyByTheRules (BTC-9): the targets of real blocks may follow each other, and the
// targets that an attacker needs may not.
func TestTargetGrowsOnlyByTheRules(t *testing.T) {
	t.Parallel()
	btc := paramsOf(t, money.Bitcoin, "mainnet").Retarget
	doge := paramsOf(t, money.Dogecoin, "mainnet").Retarget
	for _, c := range []struct {
		name         string
		rule         params.Retarget
		height       int64
		before, bits uint32
		ok           bool
	}{
		{"bitcoin 2016", btc, 2016, 0x1d00ffff, 0x1d00ffff, true},
		{"bitcoin 32256", btc, 32256, 0x1d00ffff, 0x1d00d86a, true},
		{"41 % easier", btc, 2016 * 342, 0x17111111, 0x17181818, true},
		{"four times", btc, 2016 * 400, 0x17034219, 0x170d0864, true},
		{"more than four times", btc, 2016 * 400, 0x17034219, 0x170d0865, false},
		{"within a period", btc, 2016*400 + 1, 0x17034219, 0x1703421a, false},
		{"harder within a period", btc, 2016*400 - 1, 0x17034219, 0x17034218, false},
		{"the easiest of all", btc, 2016*400 + 5, 0x17034219, 0x1d00ffff, false},
		{"at the end of a period, too", btc, 2016 * 400, 0x17034219, 0x1d00ffff, false},
		{"no target before", btc, 2016 * 400, 0x17800000, 0x17034219, false},
		{"no target", btc, 2016 * 400, 0x17034219, 0x17800000, false},
		{"dogecoin, by a half", doge, 5_000_000, 0x1a010000, 0x1a018000, true},
		{"dogecoin, by more", doge, 5_000_000, 0x1a010000, 0x1a018001, false},
		{"dogecoin, harder", doge, 5_000_001, 0x1a018000, 0x1a010000, true},
		{"dogecoin, the easiest of all", doge, 5_000_000, 0x1a010000, 0x1e0fffff, false},
		{"a test network", paramsOf(t, money.Bitcoin, "testnet4").Retarget, 5, 0x1a010000, 0x1d00ffff, true},
	} {
		if err := c.rule.CheckTarget(c.height, c.before, c.bits); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestBlocksWithoutWorkConfirmNothing (BTC-9): blocks without work confirm nothing, also while no
// honest node has a contradicting block: beside a node that seems to lag, and with one node alone.
// Once the dishonest node is honest, the follower recovers.
func TestBlocksWithoutWorkConfirmNothing(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	p.Retarget = params.Retarget{Every: 5, Times: 4, Over: 1}
	for blocks := 1; blocks <= 6; blocks++ {
		c := newFakeChain(t, p)
		c.mineBlocks(4)
		c.bits = 0x1d00ffff
		c.mineBlocks(2)
		easy := c.forkChain()
		easy.bits = 0x207fffff
		honest, liar := newFakeNode(t, c, "core"), newFakeNode(t, c, "core")
		alone, both := newFixture(t, c, liar.openSource(t)), newFixture(t, c, liar.openSource(t, honest))
		alone.mustStep()
		both.mustStep()
		to := chain.Destination{Address: easy.newAddress()}
		alone.watch.AddAddresses(to.Address)
		both.watch.AddAddresses(to.Address)
		lie := easy.sendTx(nil, chain.Output{Destination: to, Amount: money.Units(1000)})
		easy.mineBlocks(blocks)
		liar.update(func(n *fakeNode) { n.chain = easy })
		alone.expectProblem("damaged, or not the one asked for")
		paid := both.payNewAddress()
		for range 3 {
			_, _ = both.follower.Step(t.Context()) // may ask either node, or stop
			if both.ledger.Confirmations(lie) != 0 {
				t.Fatalf("%d blocks that cost nothing: %d confirmations", blocks, both.ledger.Confirmations(lie))
			}
			c.mineBlocks(1)
		}
		alone.expectProblem("damaged, or not the one asked for")
		liar.update(func(n *fakeNode) { n.chain = c })
		for _, b := range []*fixture{alone, both} {
			if b.mustStep(); b.ledger.Confirmations(lie) != 0 {
				t.Error("the lie counts")
			}
		}
		if n := both.ledger.Confirmations(paid); n != 3 {
			t.Errorf("%d confirmations of a payment in an honest block", n)
		}
	}
}
