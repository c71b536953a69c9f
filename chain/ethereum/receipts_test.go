package ethereum

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// TestRevertedReceiptPaysNothing (ETH-1) checks that the logs of a failed transaction credit
// nothing, whichever way its receipt is read.
func TestRevertedReceiptPaysNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fakeNode){"receipts": keepDefaults, "one by one": limitMethods} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			change(n)
			b := newFixture(t, c, n.openSource(t))
			b.followToTip()
			to := b.watchNewAddress()
			failed, fine := c.sendTokens(outputTo(to, 7)), c.sendTokens(outputTo(to, 8))
			n.setBehaviour(changeReceipts(func(r map[string]any) any {
				if r["transactionHash"] == failed {
					r["status"] = "0x0" // its logs stay
				}
				return r
			}))
			if rows := b.mineAndFind(failed); len(rows) != 0 {
				t.Errorf("the failed transaction pays %+v, want nothing", rows)
			}
			if rows := b.ledger.Transfers()[fine]; len(rows) != 1 {
				t.Errorf("the other transaction of the block pays %+v, want one transfer", rows)
			}
		})
	}
}

// changeReceipts makes a node change each receipt that it returns.
func changeReceipts(change func(map[string]any) any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			switch answer := result.(type) {
			case []map[string]any:
				for _, r := range answer {
					change(r)
				}
			case map[string]any:
				if method == "eth_getTransactionReceipt" {
					return change(answer)
				}
			}
			return result
		}
	}
}

// TestWrongSingleReceiptStopsBlock (ETH-13) checks that a block is not counted if a receipt that is
// fetched alone is missing, unreadable or of another transaction, and is read again later.
func TestWrongSingleReceiptStopsBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(map[string]any) any
		words  string
	}{
		"null":       {func(map[string]any) any { return nil }, "doesn't have block"},
		"an error":   {func(map[string]any) any { return rpc.Error{Code: -32000, Message: "internal error"} }, "refuses a request"},
		"unreadable": {func(map[string]any) any { return []int{1} }, "not as a node's JSON-RPC does"},
		"logs that are no list": {func(r map[string]any) any {
			return json.RawMessage(fmt.Sprintf(`{"transactionHash":%q,"blockHash":%q,"status":"0x1","logs":7}`,
				r["transactionHash"], r["blockHash"]))
		}, "not as a node's JSON-RPC does"},
		"another block": {func(r map[string]any) any {
			r["blockHash"] = hash{9}.String()
			return r
		}, "don't fit together"},
		"another transaction": {func(r map[string]any) any {
			r["transactionHash"] = hash{9}.String()
			return r
		}, "don't fit together"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := newFakeChain(t)
			n := newFakeNode(t, chain)
			limitMethods(n)
			b := newFixture(t, chain, n.openSource(t))
			b.followToTip()
			txid := chain.sendTokens(outputTo(b.watchNewAddress(), 5))
			chain.mineBlocks(1)
			n.setBehaviour(changeReceipts(c.change))
			b.expectStopped(c.words)
			n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
			b.followToTip()
			if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
				t.Errorf("the transfer afterwards = %+v, want one", rows)
			}
		})
	}
}

// TestUnreadableLogsStopBlock checks that an answer to eth_getLogs that is no list stops the block,
// and that a node which refuses to search logs is asked for every receipt instead.
func TestUnreadableLogsStopBlock(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	limitMethods(n)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	txid := c.sendTokens(outputTo(b.watchNewAddress(), 5))
	c.mineBlocks(1)
	n.setBehaviour(answerMethod("eth_getLogs", 7))
	b.expectStopped("not as a node's JSON-RPC does")
	n.setBehaviour(answerMethod("eth_getLogs", rpc.Error{Code: -32000, Message: "query returned more than 10000 results"}))
	b.followToTip()
	if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
		t.Errorf("the transfer without eth_getLogs = %+v, want one", rows)
	}
}

// TestOnlyPayingTransactionsNeedReceipts checks that a node that gives receipts one by one is asked
// only for those that can pay a watched address, or take from one.
func TestOnlyPayingTransactionsNeedReceipts(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	limitMethods(n)
	b := newFixture(t, c, n.openSource(t))
	b.followToTip()
	token, to := account(c.params.Token), *mustParseAccount(t, b.watchNewAddress())
	amount := make([]byte, 32)
	amount[31] = 5
	pays, short, dirty := tokenLog(token, account{1}, to, amount), tokenLog(token, account{1}, to, amount),
		tokenLog(token, account{1}, to, amount)
	short.Topics, dirty.Topics[2][0] = short.Topics[:2], 1
	for _, one := range []struct {
		name string
		tx   fakeTx
		want int
	}{
		{"no log", fakeTx{To: &token}, 0},
		{"a contract creation", fakeTx{Value: "0x1"}, 0},
		{"ether to another address", fakeTx{To: &account{9}, Value: "0x1"}, 0},
		{"a log of two topics", fakeTx{To: &token, Logs: []fakeLog{short}}, 0},
		{"a log with bytes before the account", fakeTx{To: &token, Logs: []fakeLog{dirty}}, 0},
		{"a log of other addresses", fakeTx{To: &token, Logs: []fakeLog{tokenLog(token, account{1}, account{9}, amount)}}, 0},
		{"a log of what leaves the address", fakeTx{To: &token, Logs: []fakeLog{tokenLog(token, to, account{9}, amount)}}, 1},
		{"a transaction of the address", fakeTx{From: to, To: &account{9}}, 1},
		{"a log that pays", fakeTx{To: &token, Logs: []fakeLog{pays}}, 1},
		{"ether to the address", fakeTx{To: &to, Value: "0x1"}, 1},
	} {
		before := n.countRequests("eth_getTransactionReceipt")
		c.sendTx(&one.tx)
		c.mineBlocks(1)
		b.followToTip()
		if got := n.countRequests("eth_getTransactionReceipt") - before; got != one.want {
			t.Errorf("%s: %d receipts were requested, want %d", one.name, got, one.want)
		}
	}
}

// readWays are the ways in which a block is read, with the methods that the node lacks.
var readWays = map[string]struct {
	lacks []string
	trace bool
}{
	"receipts of the block":  {nil, false},
	"receipts one by one":    {[]string{"eth_getBlockReceipts"}, false},
	"traces by callTracer":   {nil, true},
	"traces as a flat list":  {[]string{"debug_traceBlockByHash"}, true},
	"one by one with traces": {[]string{"eth_getBlockReceipts", "trace_block"}, true},
}

// failRequest makes the node answer its request of the given number with HTTP 500. The returned
// function reports whether there was such a request.
func failRequest(n *fakeNode, number int) func() bool {
	var requests atomic.Int64
	n.setBehaviour(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, _ *http.Request) bool {
			fails := requests.Add(1) == int64(number)
			if fails {
				http.Error(w, "", http.StatusInternalServerError)
			}
			return fails
		}
	})
	return func() bool { return requests.Load() >= int64(number) }
}

// TestFailedRequestCountsNothing checks that a block is an error, and not a block without some of
// its transfers, if any one of the requests for it fails.
func TestFailedRequestCountsNothing(t *testing.T) {
	t.Parallel()
	for name, way := range readWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			watch := &chain.WatchSet{Codec: Codec()}
			to := c.newAddress()
			watch.AddAddresses(to)
			c.sendEther(outputTo(to, 5), false)
			c.sendTokens(outputTo(to, 6))
			c.sendTx(&fakeTx{To: &account{1}, Calls: callsSending(to, 7)})
			c.withdrawn = []map[string]string{{"index": "0x1", "address": strings.ToLower(to), "amount": "0x5"}}
			c.mineBlocks(1)
			want := 3
			if way.trace {
				want = 4
			}
			for failing := 1; failing <= 10; failing++ {
				n := newFakeNode(t, c)
				n.lacks, n.most = map[string]bool{}, 1
				for _, method := range way.lacks {
					n.lacks[method] = true
				}
				server := n.openSource(t).nodes.Members[0]
				failed := failRequest(n, failing)
				block, err := server.fetchBlock(t.Context(), 1, watch, way.trace)
				if !failed() {
					if err != nil || len(block.Transfers) != want {
						t.Errorf("without a failure: %+v, error %v; want %d transfers", block, err, want)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), "HTTP 500") {
					t.Errorf("request %d fails: %+v, error %v; want the error of HTTP 500", failing, block, err)
				}
			}
			t.Error("reading a block takes more than 10 requests")
		})
	}
}

// TestMissingReceiptsMethodIsRemembered checks that a node without eth_getBlockReceipts is asked
// for it once, not for each block.
func TestMissingReceiptsMethodIsRemembered(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	limitMethods(n)
	b := newFixture(t, c, n.openSource(t))
	c.mineBlocks(3)
	b.followToTip()
	if got := n.countRequests("eth_getBlockReceipts"); got != 1 {
		t.Errorf("eth_getBlockReceipts was requested %d times for 3 blocks, want 1", got)
	}
}

// TestOverlongBlockIsRequestedOnce checks that a block whose answer is too long even without its
// receipts is an error, and not requested once more.
func TestOverlongBlockIsRequestedOnce(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.mineBlocks(1)
	n := newFakeNode(t, c)
	server := n.openSource(t).nodes.Members[0]
	server.noBlockReceipts.Store(true)
	n.setBehaviour(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", fmt.Sprint(maxBlockResponse+1))
			_, _ = w.Write([]byte("{"))
			return true
		}
	})
	_, err := server.fetchBlock(t.Context(), 1, &chain.WatchSet{Codec: Codec()}, false)
	if got := n.countRequests(""); !errors.Is(err, node.ErrTooLong) || got != 1 {
		t.Errorf("an answer that is too long: error %v after %d requests, want %v after 1", err, got, node.ErrTooLong)
	}
}
