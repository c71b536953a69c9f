package ethereum

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
)

// TestHoldings: what addresses hold is read in their order, with the fee of sending
// the token, and whether its contract has barred one.
func TestHoldings(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	first, second := c.address(), c.address()
	c.balances = func(a account, height int64) string {
		if a.String() == second {
			return hexNumber(height + 5)
		}
		return "0x0"
	}
	n.views[balanceCall], n.views[barredCall] = fmt.Sprintf("0x%064x", 25), fmt.Sprintf("0x%064x", 1)
	s := n.open(t)
	c.mine(3)
	held, fee, err := s.Holdings(t.Context(), []string{first, second})
	if err != nil || len(held) != 2 || held[0].Ether.Sign() != 0 || held[1].Ether.String() != "8" || held[0].Token.String() != "25" || !held[1].Barred {
		t.Errorf("%+v, %v", held, err)
	}
	if fee.String() != "97500000000000" {
		t.Errorf("the fee is %s", fee)
	}
	delete(n.views, barredCall)
	if held, _, err = s.Holdings(t.Context(), []string{first}); err != nil || held[0].Barred {
		t.Errorf("a contract that bars nobody: %+v, %v", held, err)
	}
	delete(n.views, balanceCall)
	if _, _, err = s.Holdings(t.Context(), []string{first}); err == nil {
		t.Error("a contract that doesn't say what is held is believed")
	}
}

// TestBarred (ETH-7): of each address it is told whether it is barred; a contract that
// bars nobody has barred none.
func TestBarred(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	barred := c.address()
	s := n.open(t)
	n.set(func(n *fakeNode) { n.barred = map[string]bool{argument(barred): true} })
	all := []string{c.address(), barred, c.address()}
	if got, err := s.Barred(t.Context(), all); err != nil || !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("%v, %v", got, err)
	}
	n.set(func(n *fakeNode) { n.barred = nil })
	if got, err := s.Barred(t.Context(), all); err != nil || !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestBalances: what addresses held after a block, and within it what contracts sent
// on, is read as far as the node keeps it.
func TestBalances(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	n.lacks = map[string]bool{}
	b := newFixture(t, c, n.open(t))
	to := b.to()
	c.balances = func(_ account, height int64) string { return hexNumber(10 * height) }
	inner := map[string]any{"type": "CALL", "from": c.address(), "to": to, "value": "0x7"}
	txid := c.send(&fakeTx{To: parse(t, c.address()), Calls: []any{inner}})
	c.mine(3)
	b.step()
	held, err := b.source.Balances(t.Context(), 2, []string{to, c.address()})
	if err != nil || held[0].String() != "20" || held[1].String() != "20" {
		t.Errorf("%v, %v", held, err)
	}
	block, err := b.source.Inner(t.Context(), 1, b.watch)
	if err != nil || len(block.Transfers) != 1 || block.Transfers[0].TxID != txid || block.Transfers[0].Amount.String() != "7" {
		t.Errorf("%+v, %v", block, err)
	}
	n.set(returns("eth_getBalance", rpcError{-32000, "missing trie node"}))
	if _, err := b.source.Balances(t.Context(), 1, []string{to}); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("a state that isn't kept: %v", err)
	}
	n.set(func(n *fakeNode) { n.lacks["debug_traceBlockByHash"], n.lacks["trace_block"] = true, true })
	if _, err := b.source.Inner(t.Context(), 1, b.watch); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("no node runs blocks again: %v", err)
	}
	if _, err := b.source.Balances(t.Context(), 99, []string{to}); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("above the tip: %v", err)
	}
	n.set(func(n *fakeNode) { n.lacks["debug_traceBlockByHash"] = false })
	n.set(returns("debug_traceBlockByHash", rpcError{-32005, "too many requests"}))
	if _, err := b.source.Inner(t.Context(), 1, b.watch); err == nil || errors.Is(err, chain.ErrForgotten) {
		t.Errorf("a node that can, and has no time: %v", err)
	}
}

// TestBatchesRecover: what made a node take fewer questions at once, or be let alone
// longer and longer, is forgotten when it does well again.
func TestBatchesRecover(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first := newFakeNode(t, c)
	b := newFixture(t, c, first.open(t))
	c.mine(3)
	b.step()
	n := b.source.servers[0]
	n.most.Store(1)
	n.Forget()
	if _, err := b.source.Tip(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n.most.Load() != 0 {
		t.Error("one question at a time for ever")
	}
	_ = n.backOff(errors.New("too often"))
	n.until = time.Time{}
	if _, err := b.source.Balances(t.Context(), 1, []string{c.address(), c.address()}); err != nil || n.rest != 0 {
		t.Errorf("%v, it is let alone for %s next", err, n.rest)
	}
}

// TestTimeOfABlock: a node that tells another time of a block contradicts the second.
func TestTimeOfABlock(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.open(t, second))
	c.mine(3)
	b.step()
	first.set(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if block, ok := result.(map[string]any); ok && strings.HasPrefix(method, "eth_getBlockBy") && block["number"] == "0x2" {
				block["timestamp"] = hexNumber(1)
			}
			return result
		}
	})
	if _, err := b.source.Block(t.Context(), 2, b.watch); err == nil || !strings.Contains(err.Error(), "disagree") {
		t.Errorf("a block an hour earlier: %v", err)
	}
}
