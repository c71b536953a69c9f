package ethereum

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
)

// redirectPayments makes a node show blocks whose transactions pay one ether to an address.
func redirectPayments(to string) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			block, ok := result.(map[string]any)
			if !ok || !strings.HasPrefix(method, "eth_getBlockBy") {
				return result
			}
			for _, tx := range block["transactions"].([]any) {
				if tx, ok := tx.(map[string]any); ok {
					tx["to"], tx["value"] = strings.ToLower(to), "0xde0b6b3a7640000"
				}
			}
			return block
		}
	}
}

// expectDisagreement checks that the error says that nodes disagree about a block.
func expectDisagreement(t *testing.T, block chain.Block, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "Nodes 1 and 2 of 2 disagree about what block 1 holds") ||
		len(block.Transfers) > 0 {
		t.Errorf("transfers %+v and error %v, want none and a disagreement about block 1", block.Transfers, err)
	}
}

// TestInternalTransfersNeedConfirmation checks that the internal transfers of a block count if a
// second node confirms them, whichever of the two can trace.
func TestInternalTransfersNeedConfirmation(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	first.lacks = map[string]bool{}
	b := newFixture(t, c, first.openSource(t, second))
	to := b.watchNewAddress()
	c.sendEther(outputTo(c.newAddress(), 5), false)
	c.mineBlocks(3)
	b.followToTip()
	if block, err := b.source.Inner(t.Context(), 1, b.watch); err != nil || len(block.Transfers) != 0 {
		t.Errorf("Inner(1) = %+v, %v, want no transfers", block.Transfers, err)
	}
	first.setBehaviour(redirectPayments(to))
	block, err := b.source.Inner(t.Context(), 1, b.watch)
	expectDisagreement(t, block, err)
	first.setBehaviour(func(n *fakeNode) { n.tamper, n.lacks = nil, second.lacks })
	second.setBehaviour(func(n *fakeNode) { n.lacks = map[string]bool{} })
	second.setBehaviour(redirectPayments(to))
	block, err = b.source.Inner(t.Context(), 1, b.watch)
	expectDisagreement(t, block, err)
}

// TestBalancesNeedTwoAgreeingNodes checks that balances count if two nodes agree, whichever node
// is wrong. A note is shown while they differ. A node that cannot answer is replaced by another
// one.
func TestBalancesNeedTwoAgreeingNodes(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
	b := newFixture(t, c, nodes[0].openSource(t, nodes[1]))
	c.balances = func(_ account, height int64) string { return encodeHeight(10 * height) }
	c.mineBlocks(3)
	b.followToTip()
	addresses := []string{c.newAddress(), c.newAddress()}
	held := func() string {
		held, err := b.source.Balances(t.Context(), 2, addresses)
		return fmt.Sprint(held, " ", err)
	}
	note := func() string {
		note, _, err := b.source.Notes(t.Context())
		for _, n := range b.source.Nodes(t.Context()) {
			if n.Note != note {
				t.Errorf("a node's note is %q", n.Note)
			}
		}
		return fmt.Sprint(note, err)
	}
	const agreed, told = "[20 20] <nil>", "Nodes 1 and 2 of 2 disagree about the balances after block 2. "
	for i, n := range nodes {
		n.setBehaviour(answerMethod("eth_getBalance", "0x15"))
		if got, note := held(), note(); !strings.HasPrefix(got, "[] "+told) || !strings.HasPrefix(note, told) {
			t.Errorf("node %d is wrong: %s, and the note is %q", i+1, got, note)
		}
		n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
		if got, note := held(), note(); got != agreed || note != "<nil>" {
			t.Errorf("they agree again: %s, and the note is %q", got, note)
		}
		n.setBehaviour(answerMethod("eth_getBalance", rpc.Error{Code: -32000, Message: "missing trie node"}))
		if got, note := held(), note(); got != agreed || note != "<nil>" {
			t.Errorf("node %d can't tell: %s, and the note is %q", i+1, got, note)
		}
		n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
	}
	for _, n := range nodes {
		n.setBehaviour(answerMethod("eth_getBalance", rpc.Error{Code: -32000, Message: "missing trie node"}))
	}
	if _, err := b.source.Balances(t.Context(), 2, addresses); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("nobody can tell: %v", err)
	}
}
