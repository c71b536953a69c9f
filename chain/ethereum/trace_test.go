package ethereum

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// flatTracesJSON returns a block's traces as trace_block lists them, made from the same calls as
// in tracesJSON. It leaves out calls of precompiled contracts and calls that do not send their
// value.
func flatTracesJSON(b *fakeBlock) []any {
	all := []any{}
	for _, t := range b.txs {
		top := map[string]any{"type": "CALL", "from": strings.ToLower(t.From.String()),
			"to": strings.ToLower(account{}.String()), "value": t.Value, "calls": t.Calls}
		if t.Reverted {
			top["error"] = "Reverted"
		}
		all = appendFlatTraces(all, top, []int{},
			map[string]any{"transactionHash": t.txID().String(), "blockHash": b.Hash})
	}
	return append(all, map[string]any{"type": "reward", "action": map[string]any{"value": "0x1"},
		"transactionHash": nil, "blockHash": b.Hash, "traceAddress": []int{}})
}

func appendFlatTraces(all []any, call map[string]any, path []int, common map[string]any) []any {
	kind := call["type"].(string)
	action := map[string]any{"callType": strings.ToLower(kind), "from": call["from"], "to": call["to"],
		"value": call["value"]}
	step := map[string]any{"type": "call", "action": action, "traceAddress": path}
	switch kind {
	case "SELFDESTRUCT":
		step["type"], step["action"] = "suicide",
			map[string]any{"address": call["from"], "refundAddress": call["to"], "balance": call["value"]}
	case "CREATE":
		step["type"], step["result"] = "create", map[string]any{"address": call["to"]}
		delete(action, "to")
		delete(action, "callType")
	}
	if said, failed := call["error"]; failed {
		step["error"], step["result"] = said, nil
	}
	for key, value := range common {
		step[key] = value
	}
	all = append(all, step)
	inner, _ := call["calls"].([]any)
	place := 0
	for _, one := range inner {
		if one.(map[string]any)["type"] == "STATICCALL" { // a precompiled contract: not listed
			continue
		}
		all = appendFlatTraces(all, one.(map[string]any), append(slices.Clone(path), place), common)
		place++
	}
	return all
}

// TestInternalTransfersAreFound (ETH-9) checks that internal transfers are found in traces and
// have the same index in both trace formats. Reverted calls, and calls that do not send their
// value, are ignored.
func TestInternalTransfersAreFound(t *testing.T) {
	t.Parallel()
	for name, lacks := range map[string][]string{"call by call": {"trace_block"},
		"as a list": {"debug_traceBlockByHash"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			without := func(methods ...string) {
				n.setBehaviour(func(n *fakeNode) {
					n.lacks = map[string]bool{}
					for _, method := range methods {
						n.lacks[method] = true
					}
				})
			}
			without(lacks...)
			b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
			b.followToTip()
			to, forwarder := b.watchNewAddress(), c.newAddress()
			call := func(kind, value string, more ...any) map[string]any {
				return map[string]any{"type": kind, "from": strings.ToLower(forwarder), "to": strings.ToLower(to),
					"value": value, "calls": more}
			}
			undone := call("CALL", "0x20", call("CALL", "0x40"))
			undone["error"] = "execution reverted"
			elsewhere := call("CALL", "0x3")
			elsewhere["to"] = strings.ToLower(c.newAddress())
			txid := c.sendTx(&fakeTx{To: mustParseAccount(t, forwarder), Value: "0x1", Calls: []any{
				call("DELEGATECALL", "0x1"), call("STATICCALL", "0x2"), call("CALLCODE", "0x4"),
				call("CALL", "0x8", call("SELFDESTRUCT", "0x10")), undone, call("CALL", "0x0"), elsewhere,
				call("CREATE", "0x100"), call("CALL", "0x80")}})
			c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()), Calls: []any{}})
			rows := b.mineAndFind(txid)
			var got []string
			for _, r := range rows {
				got = append(got, fmt.Sprint(r.Index-indexInternal, " ", r.Amount, " ", r.Via))
			}
			slices.Sort(got)
			if want := []string{"1 8 ", "2 16 ", "4 256 ", "5 128 "}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			without("debug_traceBlockByHash", "trace_block")
			c.sendEther(outputTo(c.newAddress(), 1), false)
			c.mineBlocks(1)
			b.expectStopped("remove trace=blocks")
			without(lacks...)
			failed := c.sendTx(&fakeTx{To: mustParseAccount(t, forwarder), Value: "0x1", Reverted: true,
				Calls: []any{call("CALL", "0x8")}})
			if rows := b.mineAndFind(failed); len(rows) != 0 {
				t.Errorf("a transaction that failed: %+v", rows)
			}
		})
	}
}

// TestTraceMethodIsRemembered checks that the trace method of a node is detected once, not for
// each block.
func TestTraceMethodIsRemembered(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	n.lacks = map[string]bool{"debug_traceBlockByHash": true}
	b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
	b.followToTip()
	for range 5 {
		c.sendEther(outputTo(c.newAddress(), 1), false)
		c.mineBlocks(1)
	}
	b.followToTip()
	if tried, listed := n.countRequests("debug_traceBlockByHash"), n.countRequests("trace_block"); tried != 1 ||
		listed != 5 {
		t.Errorf("debug_traceBlockByHash was asked for %d times, trace_block %d times", tried, listed)
	}
}

// TestOverlongTraceStopsNothing (ETH-9) checks that a block filled with calls until its trace
// exceeds the limit stops nothing, with one node or two. It counts without internal transfers,
// which balances then show, and the next block is traced as usual.
func TestOverlongTraceStopsNothing(t *testing.T) {
	t.Parallel()
	for nodes := 1; nodes <= 2; nodes++ {
		c := newFakeChain(t)
		var all []*fakeNode
		var urls []string
		for range nodes {
			n := newFakeNode(t, c)
			n.lacks = map[string]bool{}
			all, urls = append(all, n), append(urls, n.URL+"?trace=blocks")
		}
		b := newFixture(t, c, openURLs(t, urls...))
		b.followToTip()
		to := b.watchNewAddress()
		sent := func() string {
			return c.sendTx(&fakeTx{To: mustParseAccount(t, c.newAddress()), Calls: []any{
				map[string]any{"type": "CALL", "from": strings.ToLower(c.newAddress()), "to": strings.ToLower(to),
					"value": "0x8"}}})
		}
		all[0].setBehaviour(func(n *fakeNode) {
			n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if !bytes.Contains(body, []byte("debug_traceBlockByHash")) {
					return false
				}
				w.Header().Set("Content-Length", fmt.Sprint(maxTraceResponse+1))
				_, _ = w.Write([]byte("["))
				return true
			}
		})
		paid := c.sendTokens(outputTo(to, 5))
		if lost := b.mineAndFind(sent()); len(lost) != 0 || len(b.ledger.Transfers()[paid]) != 1 {
			t.Errorf("%d nodes: %v, %v", nodes, lost, b.ledger.Transfers())
		}
		all[0].setBehaviour(func(n *fakeNode) { n.hijack = nil })
		if rows := b.mineAndFind(sent()); len(rows) != 1 {
			t.Errorf("%d nodes: what is sent on isn't seen any more: %v", nodes, rows)
		}
	}
}

// TestTracesMustBeOfTheBlock checks that traces of another block, or traces that miss a
// transaction, are rejected.
func TestTracesMustBeOfTheBlock(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]any) []any{
		"another block": func(all []any) []any {
			all[1].(map[string]any)["blockHash"] = hash{7}.String()
			return all
		},
		"another transaction": func(all []any) []any {
			all[1].(map[string]any)["transactionHash"] = hash{7}.String()
			return all
		},
		"one is missing":      func(all []any) []any { return all[1:] },
		"none":                func([]any) []any { return []any{} },
		"only what it called": func(all []any) []any { all[0].(map[string]any)["traceAddress"] = []int{0}; return all },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			n.lacks = map[string]bool{"debug_traceBlockByHash": true}
			b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
			b.followToTip()
			txid := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
			c.sendEther(outputTo(c.newAddress(), 1), false)
			c.mineBlocks(1)
			n.setBehaviour(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if all, ok := result.([]any); ok && method == "trace_block" {
						return spoil(all)
					}
					return result
				}
			})
			b.expectStopped("don't fit together")
			n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
			b.followToTip()
			if len(b.ledger.Transfers()[txid]) != 1 {
				t.Error("a transfer was skipped")
			}
		})
	}
}
