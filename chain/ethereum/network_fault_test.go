package ethereum

import (
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/node"
	"cointill/core/clock"
	"cointill/core/money"
)

// payInNetworkCoin sends 1.5 USDT, or ether where the network has none.
func (c *fakeChain) payInNetworkCoin(address string) string {
	if !c.params.HasToken() {
		return c.sendEther(outputTo(address, 1_500_000), false)
	}
	smallest := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.params.TokenDecimals-1)), nil)
	return c.sendTokens(outputOf(address, smallest.Mul(smallest, big.NewInt(15))))
}

// TestDeepReorganisation replaces 120 blocks of each main network of the registry. What the replaced blocks paid is
// counted in the blocks that have it now, once, and not at all where none has it.
func TestDeepReorganisation(t *testing.T) {
	t.Parallel()
	const depth = 120
	for _, p := range registryParams(t) {
		options := map[string]string{"awaited": ""}
		if p.Native != money.ETH {
			options["idle"] = "?idle=logs"
		}
		for name, option := range options {
			t.Run(fmt.Sprint(p.Network(), " ", name), func(t *testing.T) {
				t.Parallel()
				c, n := newRegistryNode(t, p)
				c.finalized = 2 * depth
				b := newFixture(t, c, openNetwork(t, p, slog.New(slog.DiscardHandler), n.URL+option))
				if option != "" {
					b.restWhileIdle(testTime)
				}
				b.followToTip()
				to := b.watchNewAddress()
				before := c.payInNetworkCoin(to)
				c.mineBlocks(2 * depth)
				b.followToTip()
				var paid []string
				for range 3 {
					paid = append(paid, c.payInNetworkCoin(to))
					c.mineBlocks(depth / 3)
				}
				b.followToTip()
				b.expectPlaces(append(paid, before), true)
				c.replaceBlocks(depth, true)
				c.mineBlocks(1)
				b.followToTip()
				b.expectPlaces(append(paid, before), true)
				c.replaceBlocks(depth+1, false)
				c.mineBlocks(1)
				b.followToTip()
				b.expectPlaces(paid, false)
				b.expectPlaces([]string{before}, true)
			})
		}
	}
}

// expectPlaces checks that each transaction has one row in the ledger, in the block of the chain that holds it, or in
// none.
func (b *fixture) expectPlaces(transactions []string, inBlock bool) {
	b.Helper()
	all := b.ledger.Transfers()
	for i, id := range transactions {
		place := b.chain.placeOf(id)
		if rows := all[id]; len(rows) != 1 || rows[0].BlockHash != place.Hash || (place.Hash != "") != inBlock {
			b.Errorf("payment %d is %+v, want one row in block %q (in a block: %t)", i, rows, place.Hash, inBlock)
		}
	}
}

// TestNetworkThatStopped stops each main network of the registry for an hour, as one whose sequencer fails. The node is
// refused meanwhile, with the reason, and every payment is found when blocks come again.
func TestNetworkThatStopped(t *testing.T) {
	t.Parallel()
	for _, p := range registryParams(t) {
		t.Run(string(p.Network()), func(t *testing.T) {
			t.Parallel()
			public, ok := params.Find(p.Chain, p.Name)
			if !ok {
				t.Fatalf("the registry lacks %s", p.Network())
			}
			p.Stale = public.Stale
			now := clock.NewFake(testTime())
			c, n := newRegistryNode(t, p)
			c.now = now.Now
			source, err := New(p, []string{n.URL}, node.Access{Clock: now.Now})
			if err != nil {
				t.Fatal(err)
			}
			b := newFixture(t, c, source)
			b.follower = chain.NewFollower(chain.FollowerConfig{Network: source.Network(), Source: source, Store: b.ledger,
				Watch: b.watch, Clock: now.Now})
			b.followToTip()
			to := b.watchNewAddress()
			paid := []string{c.payInNetworkCoin(to)}
			c.mineBlocks(1)
			b.followToTip()
			now.Advance(p.Stale)
			if _, err := source.At(t.Context()); err != nil {
				t.Errorf("after %s without a block: %v, want the node in use", p.Stale, err)
			}
			for range 6 {
				now.Advance(10 * time.Minute)
				if _, err := source.At(t.Context()); err == nil || !strings.Contains(err.Error(),
					"the network makes no blocks: its last block, 1, is ") {
					t.Errorf("%s after the last block: %v, want the node refused for that", now.Now().Sub(testTime()), err)
				}
			}
			paid = append(paid, c.payInNetworkCoin(to)) // the sequencer has it since long
			c.mineBlocks(1)
			paid = append(paid, c.payInNetworkCoin(to))
			c.mineBlocks(2)
			b.followToTip()
			b.expectPlaces(paid, true)
		})
	}
}
