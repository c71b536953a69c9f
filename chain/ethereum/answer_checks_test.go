package ethereum

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/rpc"
)

// TestHeaderMustHaveRequestedHash checks that a header with another hash than the requested one is
// rejected.
func TestHeaderMustHaveRequestedHash(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.openSource(t))
	c.mineBlocks(4)
	b.followToTip()
	s := b.source.nodes.Members[0]
	tip := c.blocks[4].Header
	change := func(key, value string) {
		n.setBehaviour(func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				if block, ok := result.(map[string]any); ok && method == "eth_getBlockByHash" {
					block[key] = value
				}
				return result
			}
		})
		s.headers.Clear()
	}
	if _, err := s.ReadParent(t.Context(), tip); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"hash": c.blocks[1].Hash, "number": "0x2"} {
		change(key, value)
		if _, err := s.ReadParent(t.Context(), tip); err == nil {
			t.Errorf("the parent has another %s", key)
		}
		if _, _, err := s.fetchBlockByHash(t.Context(), tip, b.watch); err == nil {
			t.Errorf("the block has another %s", key)
		}
	}
}

// TestFutureBlocksAreRefused checks that blocks from the future are rejected.
func TestFutureBlocksAreRefused(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	s := b.source.nodes.Members[0]
	s.params.Stale = time.Minute
	for ahead, fine := range map[time.Duration]bool{0: true, maxFuture: true, maxFuture + time.Second: false,
		-time.Minute: true, -61 * time.Second: false} {
		if err := s.checkTipAge(chain.Header{Time: testTime().Add(ahead)}); (err == nil) != fine {
			t.Errorf("a last block %s ahead: %v", ahead, err)
		}
	}
}

// TestUnhealthyNodeConfirmsNothing checks that an unhealthy node is not used to confirm.
func TestUnhealthyNodeConfirmsNothing(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.followToTip()
	second.setBehaviour(answerAll(500, ""))
	c.mineBlocks(1)
	b.followToTip()
	if others := b.source.nodes.HealthyOthers(b.source.nodes.Members[0].Node); len(others) != 0 {
		t.Errorf("%d others are asked", len(others))
	}
}

// TestHiddenInternalTransferIsNoticed checks that one of two tracing nodes cannot hide an internal
// transfer, also if the block is read again later.
func TestHiddenInternalTransferIsNoticed(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	for _, n := range []*fakeNode{first, second} {
		n.lacks = map[string]bool{}
	}
	b := newFixture(t, c, openURLs(t, first.URL+"?trace=blocks", second.URL+"?trace=blocks"))
	b.followToTip()
	to := b.watchNewAddress()
	c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()),
		Calls: []any{map[string]any{"type": "CALL", "from": c.newAddress(), "to": to, "value": "0x7"}}})
	c.mineBlocks(1)
	first.setBehaviour(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if all, ok := result.([]any); ok && method == "debug_traceBlockByHash" {
				for _, one := range all {
					delete(one.(map[string]any)["result"].(map[string]any), "calls")
				}
			}
			return result
		}
	})
	if _, err := b.source.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	if block, err := b.source.Inner(t.Context(), 1, b.watch); err == nil {
		t.Errorf("Inner(1) = %+v, want an error", block)
	}
}

// TestTracesMustMatchTransactions checks that there must be one trace for each transaction, in
// order, and no other.
func TestTracesMustMatchTransactions(t *testing.T) {
	t.Parallel()
	another := hash{1}.String()
	for name, f := range map[string]struct {
		lacks  string
		method string
		tamper func([]any) []any
	}{
		"one too many": {"trace_block", "debug_traceBlockByHash", func(all []any) []any {
			return append(all, all[0])
		}},
		"one too few": {"trace_block", "debug_traceBlockByHash", func(all []any) []any { return all[:1] }},
		"another order": {"trace_block", "debug_traceBlockByHash", func(all []any) []any {
			return []any{all[1], all[0]}
		}},
		"of nobody's": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return append(all[:2:2], changedStep(all[1], "transactionHash", another), all[2])
		}},
		"one after all": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return append(all, all[1])
		}},
		"the first again": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return append(all[:2:2], all[0], all[2])
		}},
		"of another block": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return append(all, changedStep(all[2], "blockHash", another))
		}},
		"without a block": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return []any{all[0], changedStep(all[1], "blockHash", nil)}
		}},
		"without its own": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return []any{all[0], changedStep(all[1], "traceAddress", []int{0})}
		}},
		"none of the second": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return append(all[:1:1], all[2])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.lacks = map[string]bool{f.lacks: true}
			b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
			b.followToTip()
			for range 2 {
				c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()), Calls: []any{}})
			}
			c.mineBlocks(1)
			n.setBehaviour(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if all, ok := result.([]any); ok && method == f.method {
						return f.tamper(all)
					}
					return result
				}
			})
			b.expectStopped("don't fit together")
		})
	}
}

// changedStep returns a copy of a trace of trace_block with one field changed.
func changedStep(like any, name string, other any) map[string]any {
	step := map[string]any{}
	for key, value := range like.(map[string]any) {
		step[key] = value
	}
	step[name] = other
	return step
}

// TestEveryBatchedRequestNeedsAnAnswer checks that each call of a batch must be answered.
func TestEveryBatchedRequestNeedsAnAnswer(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	s := n.openSource(t)
	n.setBehaviour(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
			var many []rpc.Request
			if err := json.NewDecoder(r.Body).Decode(&many); err != nil {
				t.Error(err)
			}
			_ = json.NewEncoder(w).Encode([]any{n.answerRequest(many[0])})
			return true
		}
	})
	if replies, err := s.nodes.Members[0].CallAll(t.Context(), maxSmallResponse, rpc.NewRequest("eth_chainId"),
		rpc.NewRequest("eth_syncing")); err == nil {
		t.Errorf("responses %+v, want an error for the missing one", replies)
	}
}

// TestLogsMustBelongToBlock checks that logs must be of the block and of one of its transactions.
func TestLogsMustBelongToBlock(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"blockHash", "transactionHash"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.lacks["eth_getBlockReceipts"] = true
			b := newFixture(t, c, n.openSource(t))
			b.followToTip()
			c.sendTokens(outputTo(b.watchNewAddress(), 5))
			c.mineBlocks(1)
			n.setBehaviour(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if logs, ok := result.([]any); ok && method == "eth_getLogs" {
						for _, one := range logs {
							one.(map[string]any)[key] = hash{9}.String()
						}
					}
					return result
				}
			})
			b.expectStopped("don't fit together")
		})
	}
}

// TestTransfersToOneselfAreNoIncome checks that transfers from an account to itself and empty
// withdrawals are ignored.
func TestTransfersToOneselfAreNoIncome(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	to := b.watchNewAddress()
	self := *mustParseAccount(t, to)
	if rows := b.mineAndFind(b.chain.sendTx(&fakeTx{From: self, To: &self, Value: "0x5"})); len(rows) != 0 {
		t.Errorf("ether: %+v", rows)
	}
	data := make([]byte, 32)
	data[31] = 5
	token := account(b.chain.params.Token)
	if rows := b.mineAndFind(b.chain.sendTx(&fakeTx{To: &token,
		Logs: []fakeLog{tokenLog(token, self, self, data)}})); len(rows) != 0 {
		t.Errorf("USDT: %+v", rows)
	}
	b.chain.withdrawn = []map[string]string{{"index": "0x12", "validatorIndex": "0x1", "address": strings.ToLower(to),
		"amount": "0x0"}}
	if rows := b.mineAndFind("withdrawal-18"); len(rows) != 0 {
		t.Errorf("a withdrawal: %+v", rows)
	}
}

// TestMinedTransactionIsNotPending checks that a transaction is no longer pending when a block
// contains it, also before that block is read.
func TestMinedTransactionIsNotPending(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).openSource(t))
	b.followToTip()
	id := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
	for _, waits := range []int{1, 0} {
		if _, err := b.source.At(t.Context()); err != nil {
			t.Fatal(err)
		}
		pending, err := chaintest.ReadPending(t.Context(), b.source, b.watch)
		if err != nil || len(pending.Transfers) != waits || waits > 0 && pending.Transfers[0].TxID != id {
			t.Errorf("%+v waits, %v; want %d", pending.Transfers, err, waits)
		}
		c.mineBlocks(1)
	}
}

// TestPendingAnswerMustHaveRequestedHash checks that an answer with another transaction than the
// requested one is ignored.
func TestPendingAnswerMustHaveRequestedHash(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	own := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
	answerMethod("eth_getTransactionByHash", txJSON(c.pending[0]))(n)
	c.pending = nil
	for name, waits := range map[string]int{own: 1, hash{1}.String(): 0} {
		b.source.pending.txs = map[string]bool{name: true}
		if _, err := b.source.At(t.Context()); err != nil {
			t.Fatal(err)
		}
		pending, err := chaintest.ReadPending(t.Context(), b.source, b.watch)
		if err != nil || len(pending.Transfers) != waits {
			t.Errorf("%+v waits, %v; want %d", pending.Transfers, err, waits)
		}
	}
}
