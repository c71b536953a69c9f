package tron

import (
	"errors"
	"flag"
	"log/slog"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/tron/params"
	"cointill/core/clock"
)

var (
	publicServer  = flag.String("tron.server", "", "URL of a node to read from, instead of a chain in this process")
	publicNetwork = flag.String("tron.network", "nile", "the network of that node")
)

// watchAll watches every address.
type watchAll struct{}

func (watchAll) Address(string) bool { return true }
func (watchAll) Spend(string) bool   { return true }
func (watchAll) Raw([]byte) bool     { return true }

// TestPublicServer reads the last blocks of the node that -tron.server names (make test-tron-public), or of one in
// this process. It checks that they form a chain, that each is complete, that transfers are read and found again,
// and that the solidified block follows the tip.
func TestPublicServer(t *testing.T) {
	p, url, now := testParams(), *publicServer, clock.Real()
	if url == "" {
		c := newFakeChain(t)
		c.mineBlocks(30)
		for range 3 {
			c.sendTokens(outputTo(c.newAddress(), 5))
			c.mineBlocks(1)
		}
		url, now = newFakeNode(t, c).URL, testTime
	} else {
		var err error
		if p, err = params.Lookup(*publicNetwork, ""); err != nil {
			t.Fatal(err)
		}
	}
	source, err := New(p, []string{url}, node.Access{Clock: now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := source.At(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tip := view.Tip
	t.Logf("%+v, %d blocks are not solidified", source.Nodes(t.Context()), tip.Height-tip.Finalized)
	if behind := tip.Height - tip.Finalized; behind < 0 || behind > 200 {
		t.Errorf("block %d is solidified, and %d is the last one", tip.Finalized, tip.Height)
	}
	parent, found := "", 0
	for height := tip.Height - 10; height <= tip.Height; height++ {
		began := time.Now()
		block, err := view.Block(t.Context(), height, watchAll{})
		if err != nil {
			t.Fatalf("block %d: %v", height, err)
		}
		if parent != "" && block.Parent != parent {
			t.Errorf("block %d doesn't follow the one before", height)
		}
		parent = block.Hash
		for _, one := range block.Transfers {
			if _, err := params.ParseAddress(one.Address); err != nil || one.Asset == "USDT" && one.Amount.Sign() <= 0 {
				t.Errorf("transfer %+v, want a valid address and an amount", one)
			}
			if found++; found == 1 {
				again, err := source.FindTransaction(t.Context(), one.TxID, watchAll{})
				if err != nil || again.BlockID != block.BlockID || len(again.Transfers) == 0 {
					t.Errorf("FindTransaction(%s) = %+v, %v, want block %d", one.TxID, again, err, height)
				}
			}
		}
		t.Logf("block %d: %d transfers in %s", height, len(block.Transfers), time.Since(began).Round(time.Millisecond))
	}
	if found == 0 && *publicServer == "" {
		t.Error("no transfer was read, want three")
	}
	if _, err := view.Block(t.Context(), tip.Height+1000, watchAll{}); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("beyond the tip: %v", err)
	}
}
