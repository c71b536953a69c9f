package ethereum

import (
	"slices"
	"strings"
	"testing"

	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// confirmMethod describes a second node: the methods that it lacks and the options of its URL.
type confirmMethod struct {
	lacks []string
	asks  string
}

func confirmMethods() map[string]confirmMethod {
	return map[string]confirmMethod{
		"call by call":     {nil, ""},
		"as a list":        {[]string{"debug_traceBlockByHash"}, ""},
		"balances":         {[]string{"debug_traceBlockByHash", "trace_block"}, ""},
		"every block, too": {nil, "?trace=blocks"},
	}
}

// internalFixture is a chain with two nodes. The first node traces every block. In the second
// block a contract sends 8 wei.
type internalFixture struct {
	*fixture
	first, second *fakeNode
	address, txid string
	gains         int64 // of the address in the block
}

// callsSending returns a trace in which a contract sends some wei to an address.
func callsSending(to string, value int64) []any {
	return []any{map[string]any{"type": "CALL", "from": "0x00000000000000000000000000000000000000aa",
		"to": strings.ToLower(to), "value": encodeHeight(value)}}
}

func newInternalFixture(t *testing.T, way string) *internalFixture {
	c := newFakeChain(t)
	f := &internalFixture{first: newFakeNode(t, c), second: newFakeNode(t, c), gains: 8}
	f.first.lacks, f.second.lacks = map[string]bool{}, map[string]bool{}
	for _, method := range confirmMethods()[way].lacks {
		f.second.lacks[method] = true
	}
	f.fixture = newFixture(t, c, openURLs(t, f.first.URL+"?trace=blocks", f.second.URL+confirmMethods()[way].asks))
	f.address = f.watchNewAddress()
	c.mineBlocks(1)
	f.followToTip()
	c.balances = func(a account, height int64) string {
		if a.String() == f.address && height >= 2 {
			return encodeHeight(1000 + f.gains)
		}
		return encodeHeight(1000)
	}
	f.txid = c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()), Calls: callsSending(f.address, 8)})
	return f
}

// setTraces makes the first node show other calls for every transaction.
func (f *internalFixture) setTraces(calls []any) {
	f.first.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if all, ok := result.([]any); ok && method == "debug_traceBlockByHash" {
				for _, one := range all {
					one.(map[string]any)["result"].(map[string]any)["calls"] = calls
				}
			}
			return result
		}
	})
}

// expectCredited checks that the follower reaches the tip and found the given amount in wei.
func (f *internalFixture) expectCredited(units int64) {
	f.Helper()
	f.followToTip()
	var sum money.Amount
	for _, rows := range f.ledger.Transfers() {
		for _, r := range rows {
			if !r.Reverted {
				sum = sum.Add(r.Amount)
			}
		}
	}
	if sum.Cmp(money.Units(units)) != 0 {
		f.Errorf("%s wei came, want %d: %+v", sum, units, f.ledger.Transfers())
	}
}

// TestInternalTransfersCountWhenConfirmed (ETH-9) checks that internal transfers count if a second
// node confirms them by any method. A transfer that only one node shows, or that one node hides
// while both trace every block, stops the block.
func TestInternalTransfersCountWhenConfirmed(t *testing.T) {
	t.Parallel()
	for way := range confirmMethods() {
		for name, shown := range map[string]int64{"more": 9, "none": 0, "less": 7} {
			if name != "more" && way == "balances" || name == "none" && !strings.HasPrefix(way, "every") {
				continue // the node cannot detect it
			}
			t.Run(way+" "+name, func(t *testing.T) {
				t.Parallel()
				f := newInternalFixture(t, way)
				f.setTraces(callsSending(f.address, shown))
				f.chain.mineBlocks(1)
				f.expectStopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
				f.first.setBehaviour(func(n *fakeNode) { n.tamper = nil })
				f.expectCredited(8)
			})
		}
		t.Run(way+" invented", func(t *testing.T) {
			t.Parallel()
			f := newInternalFixture(t, way)
			other := f.watchNewAddress()
			f.setTraces(append(callsSending(f.address, 8), callsSending(other, 5)...))
			f.chain.mineBlocks(1)
			f.expectStopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
			f.first.setBehaviour(func(n *fakeNode) { n.tamper = nil })
			f.expectCredited(8)
		})
	}
}

// TestBalanceGainsConfirmInternalTransfers checks a second node that has only balances. Other
// income in the same block confirms nothing, and the balance of an account that may have spent
// ether is not compared. A node that does not know the balances either stops nothing, and a note
// is shown.
func TestBalanceGainsConfirmInternalTransfers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   func(*internalFixture)
		stops bool
		units int64 // expected in the end
		note  string
	}{
		"with a payment": {func(f *internalFixture) {
			f.gains = 20
			f.chain.sendEther(outputTo(f.address, 12), false)
		}, false, 20, ""},
		"only a payment": {func(f *internalFixture) {
			f.gains = 12
			f.chain.sendEther(outputTo(f.address, 12), false)
		}, true, 20, ""},
		"a failed payment": {func(f *internalFixture) {
			f.chain.sendEther(outputTo(f.address, 12), true)
		}, false, 8, ""},
		"it spends": {func(f *internalFixture) {
			f.gains = -50
			f.chain.sendTx(&fakeTx{From: *mustParseAccount(f, f.address), To: mustParseAccount(f, f.chain.newAddress()),
				Value: "0x3a"})
		}, false, 8, ""},
		"it has code": {func(f *internalFixture) { f.gains = 0; f.chain.code = "ef0100" }, false, 8, ""},
		"no state": {func(f *internalFixture) {
			f.second.setBehaviour(answerMethod("eth_getBalance", rpc.Error{Code: -32000, Message: "missing trie node"}))
		}, false, 8, "can neither trace block 2 nor give the balances"},
		"null": {func(f *internalFixture) { f.second.setBehaviour(answerMethod("eth_getBalance", nil)) },
			false, 8, "can neither trace block 2 nor give the balances"},
		"another block": {func(f *internalFixture) {
			f.second.setBehaviour(nameRivalBlock)
		}, false, 8, "doesn't have block 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newInternalFixture(t, "balances")
			c.set(f)
			f.chain.mineBlocks(1)
			if c.stops {
				f.expectStopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
				f.gains = c.units
			}
			f.expectCredited(c.units)
			if note := f.source.Nodes(t.Context())[1].Note; !strings.Contains(note, c.note) ||
				(note == "") != (c.note == "") {
				t.Errorf("the note is %q, want one with %q", note, c.note)
			}
		})
	}
}

// nameRivalBlock makes a node name another block at height 2, like a node that received a
// competing block first.
func nameRivalBlock(n *fakeNode) {
	n.tamper = func(method string, result any) any {
		if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" && block["number"] == "0x2" &&
			len(block["transactions"].([]any)) > 0 {
			block["hash"] = hash{7}.String()
		}
		return result
	}
}

// TestTraceRequestsPerBlock checks that a second node is asked for traces once per block if it
// traces every block, and otherwise only for blocks with watched internal transfers.
func TestTraceRequestsPerBlock(t *testing.T) {
	t.Parallel()
	for way, want := range map[string][]int{"every block, too": {1, 1, 1}, "call by call": {0, 0, 1},
		"balances": {0, 0, 3}} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			f := newInternalFixture(t, way)
			f.chain.pending = nil
			f.chain.balances = func(_ account, height int64) string { return encodeHeight(8 * height) }
			asked := func() (n int) {
				for _, method := range []string{"debug_traceBlockByHash", "eth_getBalance"} {
					n += f.second.countRequests(method)
				}
				return n
			}
			var got []int
			for _, to := range []string{f.chain.newAddress(), f.chain.newAddress(), f.address} {
				for range 30 {
					f.chain.sendTx(&fakeTx{To: mustParseAccount(t, f.chain.newAddress()),
						Calls: callsSending(f.chain.newAddress(), 8)})
				}
				f.chain.sendTx(&fakeTx{To: mustParseAccount(t, f.chain.newAddress()), Calls: callsSending(to, 8)})
				f.chain.mineBlocks(1)
				before := asked()
				f.followToTip()
				got = append(got, asked()-before)
			}
			if !slices.Equal(got, want) {
				t.Errorf("trace requests per block %v, want %v", got, want)
			}
		})
	}
}
