package ethereum

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/internal/testing/speed"
)

// answerRaw makes a node write a given result for one method and answer all others as usual.
func answerRaw(n *fakeNode, method string, result []byte) {
	n.setBehaviour(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			var q rpc.Request
			if json.Unmarshal(body, &q) != nil || q.Method != method {
				return false
			}
			begin := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, q.ID)
			w.Header().Set("Content-Length", fmt.Sprint(len(begin)+len(result)+1))
			for _, part := range [][]byte{[]byte(begin), result, []byte("}")} {
				_, _ = w.Write(part)
			}
			return true
		}
	})
}

// TestAnswersCostBoundedMemory (ETH-14) checks that answers that are made to fill memory cost only
// a few times their length, so that none ends the process. It does not run in parallel.
func TestAnswersCostBoundedMemory(t *testing.T) {
	const times = 12
	size := speed.Pick(1<<20, 8<<20)
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	c.sendTokens(outputTo(c.newAddress(), 5))
	c.mineBlocks(1)
	write := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	id, at := c.blocks[1].txs[0].txID().String(), c.blocks[1].Hash
	block := strings.Replace(write(blockJSON(&c.blocks[1], true)), `"transactions":[`, `"transactions":[%`, 1)
	before, after, _ := strings.Cut(block, "%") // each part between ends with a comma
	others, _, _ := strings.Cut(before, `"transactions":`)
	stakes, rest, _ := strings.Cut(strings.Replace(write(blockJSON(&c.blocks[1], true)), `"withdrawals":null`,
		`"withdrawals":[%]`, 1), "%")
	receipt := `{"transactionHash":"` + id + `","blockHash":"` + at + `","status":`
	call := `{"type":"CALL","from":"` + account{1}.String() + `"`
	paid := `{"type":"CALL","to":"` + account{2}.String() + `","value":"0x1"},`
	step := `{"blockHash":"` + at + `","transactionHash":"` + id + `","traceAddress":[`
	traced := `[{"txHash":"` + id + `","result":` + call
	for _, one := range []struct {
		name, method string
		result       []byte
	}{
		{"empty transactions", "eth_getBlockByNumber", chaintest.FillBytes(size, before, `{},`, after)},
		{"transactions that are null", "eth_getBlockByNumber", chaintest.FillBytes(size, before, `null,`, after)},
		{"transactions with hashes only", "eth_getBlockByNumber",
			chaintest.FillBytes(size, before, `{"hash":"`+id+`"},`, after)},
		{"empty withdrawals", "eth_getBlockByNumber", chaintest.FillBytes(size, stakes, `{},`, `{}`+rest)},
		{"a long number", "eth_getBlockByNumber", chaintest.FillBytes(size, `{"number":"0x`, `00`, `"}`)},
		{"a list that is not ours", "eth_getBlockByNumber",
			chaintest.FillBytes(size, others+`"x":[`, `{},`, `{}],"transactions":[`+after)},
		{"depth", "eth_getBlockByNumber", chaintest.FillBytes(size, `{"x":`, `[`, ``)},
		{"empty receipts", "eth_getBlockReceipts", chaintest.FillBytes(size, `[`, `{},`, `{}]`)},
		{"receipts with hashes only", "eth_getBlockReceipts",
			chaintest.FillBytes(size, `[`, `{"transactionHash":"`+id+`"},`, `{}]`)},
		{"empty logs", "eth_getBlockReceipts", chaintest.FillBytes(size, `[`+receipt+`"0x1","logs":[`, `{},`, `{}]}]`)},
		{"logs with hashes only", "eth_getBlockReceipts",
			chaintest.FillBytes(size, `[`+receipt+`"0x1","logs":[`, `{"transactionHash":"`+id+`"},`, `{}]}]`)},
		{"receipts of empty logs", "eth_getBlockReceipts",
			chaintest.FillBytes(size, `[`, receipt+`"0x1","logs":[`+strings.Repeat(`{},`, 1000)+`{}]},`, `{}]`)},
		{"many topics", "eth_getBlockReceipts",
			chaintest.FillBytes(size, `[`+receipt+`"0x1","logs":[{"topics":[`, `"`+id+`",`, `"`+id+`"]}]}]`)},
		{"a long status", "eth_getBlockReceipts", chaintest.FillBytes(size, `[`+receipt+`[`, `0,`, `0]}]`)},
		{"empty logs of the token", "eth_getLogs", chaintest.FillBytes(size, `[`, `{},`, `{}]`)},
		{"a log of many bytes", "eth_getLogs", chaintest.FillBytes(size, `[{"data":"0x`, `00`, `"}]`)},
		{"empty logs of one receipt", "eth_getTransactionReceipt",
			chaintest.FillBytes(size, receipt+`"0x1","logs":[`, `{},`, `{}]}`)},
		{"empty traces", "debug_traceBlockByHash", chaintest.FillBytes(size, `[`, `{},`, `{}]`)},
		{"traces with hashes only", "debug_traceBlockByHash",
			chaintest.FillBytes(size, `[`, `{"txHash":"`+id+`"},`, `{}]`)},
		{"more traces than transactions", "debug_traceBlockByHash",
			chaintest.FillBytes(size, traced+`}},`, `{"txHash":"`+id+`"},`, `{}]`)},
		{"empty calls", "debug_traceBlockByHash", chaintest.FillBytes(size, traced+`,"calls":[`, `{},`, `{}]}}]`)},
		{"calls that send", "debug_traceBlockByHash",
			chaintest.FillBytes(size, traced+`,"calls":[`, paid, call+`}]}}]`)},
		{"a long type", "debug_traceBlockByHash",
			chaintest.FillBytes(size, traced+`,"calls":[{"type":"`, `xx`, `"}]}}]`)},
		{"empty steps", "trace_block", chaintest.FillBytes(size, `[`, `{},`, `{}]`)},
		{"steps with hashes only", "trace_block", chaintest.FillBytes(size, `[`, step+`]},`, step+`]}]`)},
		{"a long way", "trace_block", chaintest.FillBytes(size, `[`+step, `0,`, `0]}]`)},
	} {
		server := n.openSource(t).nodes.Members[0]
		server.MaxBatch.Store(1) // one answer at a time
		n.lacks = map[string]bool{"debug_traceBlockByHash": one.method == "trace_block"}
		if server.noBlockReceipts.Store(one.method == "eth_getTransactionReceipt" ||
			one.method == "eth_getLogs"); server.noBlockReceipts.Load() {
			n.lacks["eth_getLogs"] = one.method != "eth_getLogs"
		}
		answerRaw(n, one.method, one.result)
		asked := n.countRequests("")
		var err error
		got := chaintest.AllocatedBytes(func() {
			_, err = server.fetchBlock(t.Context(), 1, new(chain.WatchSet), true)
		})
		if n.countRequests("") == asked || got < uint64(len(one.result)) {
			t.Errorf("%s: it was not read", one.name)
		}
		if ratio := got / uint64(len(one.result)); ratio >= times {
			t.Errorf("%s: %d times its length was allocated (error %v)", one.name, ratio, err)
		}
	}
}

// TestBatchesCostBoundedMemory checks that more answers than calls, and a long list of pending
// transactions, cost little more than their length. It does not run in parallel.
func TestBatchesCostBoundedMemory(t *testing.T) {
	const size, times = 8 << 20, 12
	n := newFakeNode(t, newFakeChain(t))
	server, list := n.openSource(t).nodes.Members[0], chaintest.FillBytes(size, `[`, `{},`, `{}]`)
	answerRaw(n, "eth_getBlockByNumber", chaintest.FillBytes(size, `{"number":"0x9","transactions":[`, `{},`, `{}]}`))
	for name, do := range map[string]func() error{
		"batch": func() error { _, err := node.ParseReplies[rpc.Response](list, rpc.DefaultBatch); return err },
		"pending": func() error {
			return server.fetchPending(t.Context(), &transferFinder{params: testParams(), watch: new(chain.WatchSet)}, 0,
				new(pendingCache))
		},
	} {
		var err error
		if got := chaintest.AllocatedBytes(func() { err = do() }); err == nil || got > times*size {
			t.Errorf("%s: %d MB were allocated (error %v)", name, got>>20, err)
		}
	}
}

// TestListsAreBounded checks that a list with more elements than a block can have is rejected.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	some := func(one string, count int) rpc.Response {
		return rpc.Response{Result: []byte("[" + strings.Repeat(one+",", count-1) + one + "]")}
	}
	id := hash{1}.String()
	for _, c := range []struct {
		list any
		one  string
		most int
	}{
		{new(transactions), `{"hash":"` + id + `"}`, maxElements},
		{new(receipts), `{"transactionHash":"` + id + `"}`, maxElements},
		{new(logs), `{"transactionHash":"` + id + `"}`, maxElements},
		{new(withdrawals), `{}`, maxWithdrawals},
	} {
		if err := some(c.one, c.most).DecodeInto(c.list); err != nil {
			t.Errorf("%T with the most elements: error %v, want none", c.list, err)
		}
		if err := some(c.one, c.most+1).DecodeInto(c.list); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%T with one element too many: error %v, want \"more than\"", c.list, err)
		}
	}
}

// TestFullBlockIsRead (ETH-14) reads a block with more transactions than 60 million gas allow, and
// a receipt with half of the logs that it can have.
func TestFullBlockIsRead(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	watch := &chain.WatchSet{Codec: Codec()}
	const transactions, logs, more = 3000, 3, 22_000
	for range transactions {
		to := c.newAddress()
		watch.AddAddresses(to)
		c.sendTokens(outputTo(to, 5), outputTo(to, 6), outputTo(to, 7))
	}
	to := c.newAddress()
	watch.AddAddresses(to)
	c.sendTokens(slices.Repeat([]chain.Output{outputTo(to, 8)}, more)...)
	c.mineBlocks(1)
	server := n.openSource(t).nodes.Members[0]
	server.SilenceTimeout = time.Hour // the race detector makes the fake node slow
	block, err := server.fetchBlock(t.Context(), 1, watch, false)
	if want := logs*transactions + more; err != nil || len(block.Transfers) != want {
		t.Errorf("%d transfers, error %v, want %d and none", len(block.Transfers), err, want)
	}
}

// TestBlockFilledWithLogsIsRead (ETH-14) checks a block with so many logs that its receipts are
// longer than the limit. The block is read by the receipts of watched transactions, and the next
// one as usual. A single receipt that is too long is reported.
func TestBlockFilledWithLogsIsRead(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	b := newFixture(t, c, n.openSource(t))
	long := func(method string) {
		n.setBehaviour(func(n *fakeNode) {
			n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if !bytes.Contains(body, []byte(method)) {
					return false
				}
				w.Header().Set("Content-Length", fmt.Sprint(32<<20+1))
				_, _ = w.Write(chaintest.FillBytes(32<<20+1, "", " ", ""))
				return true
			}
		})
	}
	b.followToTip()
	to := b.watchNewAddress()
	id := c.sendTokens(outputTo(to, 5), outputTo(c.newAddress(), 6), outputTo(to, 7))
	c.mineBlocks(1)
	long("eth_getBlockReceipts")
	b.followToTip()
	if rows := b.ledger.Transfers()[id]; len(rows) != 2 {
		t.Errorf("rows %+v, want 2", rows)
	}
	n.setBehaviour(func(n *fakeNode) { n.hijack = nil })
	c.mineBlocks(1)
	asked := n.countRequests("eth_getBlockReceipts")
	b.followToTip()
	if n.countRequests("eth_getBlockReceipts") == asked {
		t.Error("receipts of blocks are not asked for again")
	}
	c.mineBlocks(1)
	long(`"eth_getBlockByNumber","params":["0x3",true]`)
	b.expectStopped("longer than they can be")
}
