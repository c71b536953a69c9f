package ethereum

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
)

// TestForeignHeaders: a header counts by the hash that was asked for only.
func TestForeignHeaders(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.open(t))
	c.mine(4)
	b.step()
	s := b.source.servers[0]
	tip := c.blocks[4].Header
	change := func(key, value string) {
		n.set(func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				if block, ok := result.(map[string]any); ok && method == "eth_getBlockByHash" {
					block[key] = value
				}
				return result
			}
		})
		clear(s.headers)
	}
	if _, err := s.parentOf(t.Context(), tip); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"hash": c.blocks[1].Hash, "number": "0x2"} {
		change(key, value)
		if _, err := s.parentOf(t.Context(), tip); err == nil {
			t.Errorf("the parent has another %s", key)
		}
		if _, _, err := s.named(t.Context(), tip, b.watch); err == nil {
			t.Errorf("the block has another %s", key)
		}
	}
}

// TestTimesOfNodes: no block is final before it is there, and none is of tomorrow.
func TestTimesOfNodes(t *testing.T) {
	t.Parallel()
	b := single(t)
	s := b.source.servers[0]
	b.chain.mine(5)
	body, err := json.Marshal(blockJSON(&b.chain.blocks[5], false))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.readFinalized(reply{Result: jsontext.Value(body)}, b.chain.blocks[4].Header); err == nil {
		t.Error("block 5 is final where 4 is the last")
	}
	s.params.Stale = time.Minute
	for ahead, fine := range map[time.Duration]bool{0: true, future: true, future + time.Second: false, -time.Minute: true, -61 * time.Second: false} {
		if err := s.fresh(chain.Header{Time: noon().Add(ahead)}); (err == nil) != fine {
			t.Errorf("a last block %s ahead: %v", ahead, err)
		}
	}
}

// TestSickSecond: a node that isn't well confirms nothing.
func TestSickSecond(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.open(t, second))
	b.step()
	second.set(answers(500, ""))
	c.mine(1)
	b.step()
	if others := b.source.others(b.source.servers[0]); len(others) != 0 {
		t.Errorf("%d others are asked", len(others))
	}
}

// TestInnerHidden: what a contract sent on isn't hidden by one of two nodes that run
// blocks again, when a block is looked into later either.
func TestInnerHidden(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	for _, n := range []*fakeNode{first, second} {
		n.lacks = map[string]bool{}
	}
	b := newFixture(t, c, openURLs(t, first.URL+"?trace=blocks", second.URL+"?trace=blocks"))
	b.step()
	to := b.to()
	c.send(&fakeTx{To: parse(t, c.address()), Calls: []any{map[string]any{"type": "CALL", "from": c.address(), "to": to, "value": "0x7"}}})
	c.mine(1)
	first.set(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if all, ok := result.([]any); ok && method == "debug_traceBlockByHash" {
				for _, one := range all {
					delete(one.(map[string]any)["result"].(map[string]any), "calls")
				}
			}
			return result
		}
	})
	if _, err := b.source.Tip(t.Context()); err != nil {
		t.Fatal(err)
	}
	if block, err := b.source.Inner(t.Context(), 1, b.watch); err == nil {
		t.Errorf("%+v", block)
	}
}

// TestTracesTogether: traces count when there is one of each transaction, in order, and
// none of another.
func TestTracesTogether(t *testing.T) {
	t.Parallel()
	another := hash{1}.String()
	for name, f := range map[string]struct {
		lacks  string
		method string
		tamper func([]any) []any
	}{
		"one too many":     {"trace_block", "debug_traceBlockByHash", func(all []any) []any { return append(all, all[0]) }},
		"one too few":      {"trace_block", "debug_traceBlockByHash", func(all []any) []any { return all[:1] }},
		"another order":    {"trace_block", "debug_traceBlockByHash", func(all []any) []any { return []any{all[1], all[0]} }},
		"of nobody's":      {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return append(all[:2:2], step2(all[1], "transactionHash", another), all[2]) }},
		"one after all":    {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return append(all, all[1]) }},
		"the first again":  {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return append(all[:2:2], all[0], all[2]) }},
		"of another block": {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return append(all, step2(all[2], "blockHash", another)) }},
		"without a block":  {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return []any{all[0], step2(all[1], "blockHash", nil)} }},
		"without its own": {"debug_traceBlockByHash", "trace_block", func(all []any) []any {
			return []any{all[0], step2(all[1], "traceAddress", []int{0})}
		}},
		"none of the second": {"debug_traceBlockByHash", "trace_block", func(all []any) []any { return append(all[:1:1], all[2]) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.lacks = map[string]bool{f.lacks: true}
			b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
			b.step()
			for range 2 {
				c.send(&fakeTx{To: parse(t, c.address()), Calls: []any{}})
			}
			c.mine(1)
			n.set(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if all, ok := result.([]any); ok && method == f.method {
						return f.tamper(all)
					}
					return result
				}
			})
			b.stopped("don't fit together")
		})
	}
}

// step2 is a step of trace_block that is like another but for one thing.
func step2(like any, name string, other any) map[string]any {
	step := map[string]any{}
	for key, value := range like.(map[string]any) {
		step[key] = value
	}
	step[name] = other
	return step
}

// TestBatchWhole: of several questions asked at once each must be answered.
func TestBatchWhole(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	s := n.open(t)
	n.set(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
			var many []question
			if err := json.NewDecoder(r.Body).Decode(&many); err != nil {
				t.Error(err)
			}
			_ = json.NewEncoder(w).Encode([]any{n.answer(many[0])})
			return true
		}
	})
	if replies, err := s.servers[0].all(t.Context(), smallAnswer, ask("eth_chainId"), ask("eth_syncing")); err == nil {
		t.Errorf("%+v", replies)
	}
}

// TestLogsOfAnother: logs count that are of the block, and of a transaction in it.
func TestLogsOfAnother(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"blockHash", "transactionHash"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.lacks["eth_getBlockReceipts"] = true
			b := newFixture(t, c, n.open(t))
			b.step()
			c.token(out(b.to(), 5))
			c.mine(1)
			n.set(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if logs, ok := result.([]any); ok && method == "eth_getLogs" {
						for _, one := range logs {
							one.(map[string]any)[key] = hash{9}.String()
						}
					}
					return result
				}
			})
			b.stopped("don't fit together")
		})
	}
}

// TestToOneself: what an account sends itself, and a withdrawal of nothing, is no income.
func TestToOneself(t *testing.T) {
	t.Parallel()
	b := single(t)
	to := b.to()
	self := *parse(t, to)
	if rows := b.mined(b.chain.send(&fakeTx{From: self, To: &self, Value: "0x5"})); len(rows) != 0 {
		t.Errorf("ether: %+v", rows)
	}
	data := make([]byte, 32)
	data[31] = 5
	token := account(b.chain.params.Token)
	if rows := b.mined(b.chain.send(&fakeTx{To: &token, Logs: []fakeLog{tokenLog(token, self, self, data)}})); len(rows) != 0 {
		t.Errorf("USDT: %+v", rows)
	}
	b.chain.withdrawn = []map[string]string{{"index": "0x12", "validatorIndex": "0x1", "address": strings.ToLower(to), "amount": "0x0"}}
	if rows := b.mined("withdrawal-18"); len(rows) != 0 {
		t.Errorf("a withdrawal: %+v", rows)
	}
}

// TestMinedMeanwhile: what was shown to wait doesn't any more once a block has it, also
// before that block is read.
func TestMinedMeanwhile(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).open(t))
	b.step()
	id := c.pay(out(b.to(), 5), false)
	for _, waits := range []int{1, 0} {
		if _, err := b.source.Tip(t.Context()); err != nil {
			t.Fatal(err)
		}
		pending, err := b.source.Pending(t.Context(), b.watch)
		if err != nil || len(pending.Transfers) != waits || waits > 0 && pending.Transfers[0].TxID != id {
			t.Errorf("%+v waits, %v; want %d", pending.Transfers, err, waits)
		}
		c.mine(1)
	}
}

// TestAnotherWaits: a transaction that comes for the name of another doesn't wait by that.
func TestAnotherWaits(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.open(t))
	b.step()
	own := c.pay(out(b.to(), 5), false)
	returns("eth_getTransactionByHash", txJSON(c.pending[0]))(n)
	c.pending = nil
	for name, waits := range map[string]int{own: 1, hash{1}.String(): 0} {
		b.source.waiting.txs = map[string]bool{name: true}
		if _, err := b.source.Tip(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pending, err := b.source.Pending(t.Context(), b.watch); err != nil || len(pending.Transfers) != waits {
			t.Errorf("%+v waits, %v; want %d", pending.Transfers, err, waits)
		}
	}
}
