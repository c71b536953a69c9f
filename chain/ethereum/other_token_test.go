package ethereum

import (
	"slices"
	"strings"
	"testing"

	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// TestOtherTokensAreReported checks that a transfer of a known token beside USDT is reported with its
// amount and name, whichever way the node gives receipts, and that USDT hidden beside it is
// noticed.
func TestOtherTokensAreReported(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*fakeNode){"receipts of blocks": func(*fakeNode) {},
		"single receipts": limitMethods} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			limit(n)
			b := newFixture(t, c, n.openSource(t))
			b.followToTip()
			to := b.watchNewAddress()
			other, usdt := c.sendOtherToken(to, 250), c.sendTokens(outputTo(to, 5))
			c.sendOtherToken(c.newAddress(), 7) // to someone else
			c.mineBlocks(1)
			b.followToTip()
			all := b.ledger.Transfers()
			if rows := all[other]; len(rows) != 1 || rows[0].Asset != "0.00025 USDC" || rows[0].Amount.Sign() != 0 ||
				rows[0].Address != to {
				t.Errorf("the transfer of another token = %+v, want 0.00025 USDC to %s", rows, to)
			}
			if rows := all[usdt]; len(rows) != 1 || rows[0].Asset != string(money.USDT) {
				t.Errorf("the transfer of USDT beside it = %+v, want one", rows)
			}
			if len(all) != 2 {
				t.Errorf("%d transactions are recorded, want 2", len(all))
			}
		})
	}
}

// TestOtherTokensOfRefusedLogsAreReported checks that a node that refuses to search logs hides no
// transfer of a token beside USDT.
func TestOtherTokensOfRefusedLogsAreReported(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	limitMethods(n)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	n.setBehaviour(answerMethod("eth_getLogs", rpc.Error{Code: -32000, Message: "query returned more than 10000 results"}))
	other := c.sendOtherToken(b.watchNewAddress(), 250)
	c.mineBlocks(1)
	b.followToTip()
	if rows := b.ledger.Transfers()[other]; len(rows) != 1 {
		t.Errorf("the transfer of another token is %+v, want one", rows)
	}
}

// TestOtherTokensHoldUpNoBlock checks that a block counts when two nodes differ in a token that pays
// nothing.
func TestOtherTokensHoldUpNoBlock(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
	b := newFixture(t, c, nodes[0].openSource(t, nodes[1]))
	b.followToTip()
	nodes[1].setBehaviour(changeLogs(func(logs []map[string]any) []map[string]any {
		return slices.DeleteFunc(logs, func(l map[string]any) bool {
			return strings.EqualFold(l["address"].(string),
				otherToken)
		})
	}))
	to := b.watchNewAddress()
	other, usdt := c.sendOtherToken(to, 250), c.sendTokens(outputTo(to, 5))
	c.mineBlocks(1)
	b.followToTip()
	if all := b.ledger.Transfers(); len(all[usdt]) != 1 || len(all[other]) != 1 {
		t.Errorf("the block has %+v, want the transfers of both tokens", all)
	}
}
