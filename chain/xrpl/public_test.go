package xrpl

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
	"cointill/core/clock"
)

var (
	publicServer  = flag.String("xrpl.server", "", "URL of a server to read from, instead of a ledger in this process")
	publicNetwork = flag.String("xrpl.network", "testnet", "the network of that server")
)

// watchAll watches every address, so that every transaction is read completely.
type watchAll struct{}

func (watchAll) Address(string) bool { return true }
func (watchAll) Spend(string) bool   { return true }
func (watchAll) Raw([]byte) bool     { return true }

// TestPublicServer reads the last ledgers of the server that -xrpl.server names (make
// test-xrpl-public), or of one in this process. It checks that the ledgers form a chain, that each
// is complete and its transfers are read, and that accounts are found.
func TestPublicServer(t *testing.T) {
	p, urls, now := testParams(), []string{*publicServer}, clock.Real()
	if *publicServer == "" {
		l := makeFullLedger(t, ledgertest.Address("the till"))
		urls, now = []string{"ws://" + ledgertest.NewServer(l, 2).Serve(t)}, l.Now
	} else {
		p, _ = params.Lookup(*publicNetwork)
	}
	source, err := New(p, urls, node.Access{Clock: now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := source.At(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tip := view.Tip
	t.Logf("%+v", source.Nodes(t.Context()))
	parent, looked, kinds := "", 0, map[string]int{}
	for index := tip.Height - 10; index <= tip.Height; index++ {
		began := time.Now()
		block, err := view.Block(t.Context(), index, watchAll{})
		if err != nil {
			t.Fatalf("ledger %d: %v", index, err)
		}
		if parent != "" && block.Parent != parent {
			t.Errorf("ledger %d doesn't follow the one before", index)
		}
		parent = block.Hash
		for _, one := range block.Transfers {
			kinds[fmt.Sprintf("%.20s %.40s", one.Via,
				map[bool]string{true: "XRP", false: "another asset"}[one.Asset == "XRP"])]++
			account, err := params.ParseAccount(one.Address)
			if err != nil || one.Amount.Sign() < 0 {
				t.Errorf("transfer %+v, want a valid address and an amount", one)
			}
			if looked++; looked <= 5 {
				found, err := source.Account(t.Context(), account)
				t.Logf("%s: %+v, %v", one.Address, found, err)
				if err != nil {
					t.Error(err)
				}
			}
		}
		t.Logf("ledger %d: %d transfers in %s", index, len(block.Transfers), time.Since(began).Round(time.Millisecond))
	}
	t.Log(kinds)
	if _, err := view.Block(t.Context(), tip.Height+1000, watchAll{}); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("beyond the tip: %v", err)
	}
}
