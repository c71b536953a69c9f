package ethereum

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/core/clock"
)

// TestHoldingsAreReadInOrder checks that balances are returned in the order of the addresses, with
// the fee of a token transfer and the state of the blacklist.
func TestHoldingsAreReadInOrder(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	first, second := c.newAddress(), c.newAddress()
	c.balances = func(a account, height int64) string {
		if a.String() == second {
			return encodeHeight(height + 5)
		}
		return "0x0"
	}
	n.views[balanceCall], n.views[blacklistedCall] = fmt.Sprintf("0x%064x", 25), fmt.Sprintf("0x%064x", 1)
	s := n.openSource(t)
	c.mineBlocks(3)
	held, fee, err := s.Holdings(t.Context(), []string{first, second})
	if err != nil || len(held) != 2 || held[0].Native.Sign() != 0 || held[1].Native.String() != "8" ||
		held[0].Token.String() != "25" || !held[1].Barred {
		t.Errorf("holdings %+v, error %v, want 0 and 8 wei, 25 tokens, the second blacklisted", held, err)
	}
	if fee.String() != "97500000000000" {
		t.Errorf("the fee is %s", fee)
	}
	delete(n.views, blacklistedCall)
	if held, _, err = s.Holdings(t.Context(), []string{first}); err != nil || held[0].Barred {
		t.Errorf("a contract that bars nobody: %+v, %v", held, err)
	}
	delete(n.views, balanceCall)
	if _, _, err = s.Holdings(t.Context(), []string{first}); err == nil {
		t.Error("a contract that doesn't say what is held is believed")
	}
}

// TestBlacklistedAddressesAreFound (ETH-7) checks that each address is reported as blacklisted or
// not. A contract without a blacklist has blacklisted none.
func TestBlacklistedAddressesAreFound(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	barred := c.newAddress()
	s := n.openSource(t)
	n.setBehaviour(func(n *fakeNode) { n.barred = map[string]bool{encodeArgument(barred): true} })
	all := []string{c.newAddress(), barred, c.newAddress()}
	if got, err := s.Barred(t.Context(), all); err != nil || !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("Barred = %v, %v, want only the second address", got, err)
	}
	n.setBehaviour(func(n *fakeNode) { n.barred = nil })
	if got, err := s.Barred(t.Context(), all); err != nil || !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("Barred without a blacklist = %v, %v, want none", got, err)
	}
}

// TestBalancesAfterBlockAreRead checks that balances after a block, and internal transfers in it,
// are read as far as the node keeps its state.
func TestBalancesAfterBlockAreRead(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	n.lacks = map[string]bool{}
	b := newFixture(t, c, n.openSource(t))
	to := b.watchNewAddress()
	c.balances = func(_ account, height int64) string { return encodeHeight(10 * height) }
	inner := map[string]any{"type": "CALL", "from": c.newAddress(), "to": to, "value": "0x7"}
	txid := c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()), Calls: []any{inner}})
	c.mineBlocks(3)
	b.followToTip()
	held, err := b.source.Balances(t.Context(), 2, []string{to, c.newAddress()})
	if err != nil || held[0].String() != "20" || held[1].String() != "20" {
		t.Errorf("balances %v, error %v, want 20 and 20", held, err)
	}
	block, err := b.source.Inner(t.Context(), 1, b.watch)
	if err != nil || len(block.Transfers) != 1 || block.Transfers[0].TxID != txid ||
		block.Transfers[0].Amount.String() != "7" {
		t.Errorf("Inner(1) = %+v, %v, want the transfer of 7 wei", block, err)
	}
	n.setBehaviour(answerMethod("eth_getBalance", rpc.Error{Code: -32000, Message: "missing trie node"}))
	if _, err := b.source.Balances(t.Context(), 1, []string{to}); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("a state that isn't kept: %v", err)
	}
	n.setBehaviour(func(n *fakeNode) { n.lacks["debug_traceBlockByHash"], n.lacks["trace_block"] = true, true })
	if _, err := b.source.Inner(t.Context(), 1, b.watch); !errors.Is(err, chain.ErrForgotten) {
		t.Errorf("no node runs blocks again: %v", err)
	}
	if _, err := b.source.Balances(t.Context(), 99, []string{to}); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("above the tip: %v", err)
	}
	n.setBehaviour(func(n *fakeNode) { n.lacks["debug_traceBlockByHash"] = false })
	n.setBehaviour(answerMethod("debug_traceBlockByHash", rpc.Error{Code: -32005, Message: "too many requests"}))
	if _, err := b.source.Inner(t.Context(), 1, b.watch); err == nil || errors.Is(err, chain.ErrForgotten) {
		t.Errorf("a node that can, and has no time: %v", err)
	}
}

// TestBatchSizeAndBackoffRecover checks that the smaller batch size and the longer pause are reset
// after the node works again.
func TestBatchSizeAndBackoffRecover(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first := newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t))
	c.mineBlocks(3)
	b.followToTip()
	n := b.source.nodes.Members[0]
	n.MaxBatch.Store(1)
	n.Forget()
	if _, err := b.source.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n.MaxBatch.Load() != 0 {
		t.Error("one question at a time for ever")
	}
	now := clock.NewFake(testTime())
	n.clock, n.Pause = now.Now, node.NewPause(now.Now)
	n.Pause.Begin(0)
	now.Advance(time.Second)
	_, err := b.source.Balances(t.Context(), 1, []string{c.newAddress(), c.newAddress()})
	if n.Pause.Begin(0); err != nil || n.Pause.Left() != time.Second {
		t.Errorf("%v, it is let alone for %s next, want 1s", err, n.Pause.Left())
	}
}

// TestBlockTimeMustBeConfirmed checks that a node that reports another time of a block contradicts
// the second node.
func TestBlockTimeMustBeConfirmed(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	c.mineBlocks(3)
	b.followToTip()
	first.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if block, ok := result.(map[string]any); ok && strings.HasPrefix(method, "eth_getBlockBy") &&
				block["number"] == "0x2" {
				block["timestamp"] = encodeHeight(1)
			}
			return result
		}
	})
	_, err := chaintest.ReadBlock(t.Context(), b.source, 2, b.watch)
	if err == nil || !strings.Contains(err.Error(), "disagree") {
		t.Errorf("a block an hour earlier: %v", err)
	}
}
