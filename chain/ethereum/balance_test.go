package ethereum

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
)

// paysInstead makes a node show blocks whose transactions pay an address one ether.
func paysInstead(to string) func(*fakeNode) {
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

// disagreeing expects an error that says that nodes disagree about a block.
func disagreeing(t *testing.T, block chain.Block, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "Nodes 1 and 2 of 2 disagree about what block 1 holds") || len(block.Transfers) > 0 {
		t.Errorf("%+v, %v", block.Transfers, err)
	}
}

// TestInnerConfirmed: a block that was run again counts as a second node confirms it,
// whichever of the two can run it.
func TestInnerConfirmed(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	first.lacks = map[string]bool{}
	b := newFixture(t, c, first.open(t, second))
	to := b.to()
	c.pay(out(c.address(), 5), false)
	c.mine(3)
	b.step()
	if block, err := b.source.Inner(t.Context(), 1, b.watch); err != nil || len(block.Transfers) != 0 {
		t.Errorf("%+v, %v", block.Transfers, err)
	}
	first.set(paysInstead(to))
	block, err := b.source.Inner(t.Context(), 1, b.watch)
	disagreeing(t, block, err)
	first.set(func(n *fakeNode) { n.tamper, n.lacks = nil, second.lacks })
	second.set(func(n *fakeNode) { n.lacks = map[string]bool{} })
	second.set(paysInstead(to))
	block, err = b.source.Inner(t.Context(), 1, b.watch)
	disagreeing(t, block, err)
}

// TestBalancesOfTwo: what addresses hold counts as two nodes say, whichever of them is
// wrong; people are told while they differ, and not any more when they agree. One that
// can't tell contradicts nobody, and is stood in for.
func TestBalancesOfTwo(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
	b := newFixture(t, c, nodes[0].open(t, nodes[1]))
	c.balances = func(_ account, height int64) string { return hexNumber(10 * height) }
	c.mine(3)
	b.step()
	addresses := []string{c.address(), c.address()}
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
	const agreed, told = "[20 20] <nil>", "Nodes 1 and 2 of 2 disagree about what addresses held after block 2. "
	for i, n := range nodes {
		n.set(returns("eth_getBalance", "0x15"))
		if got, note := held(), note(); !strings.HasPrefix(got, "[] "+told) || !strings.HasPrefix(note, told) {
			t.Errorf("node %d is wrong: %s, and the note is %q", i+1, got, note)
		}
		n.set(func(n *fakeNode) { n.tamper = nil })
		if got, note := held(), note(); got != agreed || note != "<nil>" {
			t.Errorf("they agree again: %s, and the note is %q", got, note)
		}
		n.set(returns("eth_getBalance", rpcError{-32000, "missing trie node"}))
		if got, note := held(), note(); got != agreed || note != "<nil>" {
			t.Errorf("node %d can't tell: %s, and the note is %q", i+1, got, note)
		}
		n.set(func(n *fakeNode) { n.tamper = nil })
	}
	for _, n := range nodes {
		n.set(returns("eth_getBalance", rpcError{-32000, "missing trie node"}))
	}
	if _, err := b.source.Balances(t.Context(), 2, addresses); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("nobody can tell: %v", err)
	}
}
