package ethereum

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
)

// changeLogs changes the logs of every receipt that a node gives in any method.
func changeLogs(change func([]map[string]any) []map[string]any) func(*fakeNode) {
	return func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			spoil := func(r map[string]any) map[string]any {
				r["logs"] = change(r["logs"].([]map[string]any))
				return r
			}
			switch all := result.(type) {
			case []map[string]any:
				for _, r := range all {
					spoil(r)
				}
			case map[string]any:
				if method == "eth_getTransactionReceipt" {
					return spoil(all)
				}
			case []any:
				if method == "eth_getLogs" {
					logs := []map[string]any{}
					for _, l := range all {
						logs = append(logs, l.(map[string]any))
					}
					return change(logs)
				}
			}
			return result
		}
	}
}

// TestBlockNeedsTwoAgreeingNodes checks that nothing in a block counts while two nodes differ
// about it, whichever node is asked first and whatever differs. All of it counts when they agree.
func TestBlockNeedsTwoAgreeingNodes(t *testing.T) {
	t.Parallel()
	none := changeLogs(func(logs []map[string]any) (rest []map[string]any) {
		rest = []map[string]any{}
		for _, l := range logs {
			if !strings.HasSuffix(l["data"].(string), "06") {
				rest = append(rest, l)
			}
		}
		return rest
	})
	other := changeLogs(func(logs []map[string]any) []map[string]any {
		for _, l := range logs {
			l["data"] = fmt.Sprintf("0x%064x", 7)
		}
		return logs
	})
	failed := func(n *fakeNode) {
		n.tamper = func(_ string, result any) any {
			if all, ok := result.([]map[string]any); ok {
				all[0]["status"], all[0]["logs"] = "0x0", []map[string]any{}
			}
			if r, ok := result.(map[string]any); ok && r["status"] != nil {
				r["status"], r["logs"] = "0x0", []map[string]any{}
			}
			return result
		}
	}
	value := func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			block, ok := result.(map[string]any)
			if !ok || !strings.HasPrefix(method, "eth_getBlockBy") {
				return result
			}
			for _, tx := range block["transactions"].([]any) {
				if tx, ok := tx.(map[string]any); ok && tx["value"] != "0x0" {
					tx["value"] = "0x63"
				}
			}
			return block
		}
	}
	for name, set := range map[string]func(*fakeNode){"no log": none, "another amount": other, "failed": failed,
		"another value": value} {
		for _, wrong := range []int{0, 1} {
			t.Run(fmt.Sprint(name, " by node ", wrong+1), func(t *testing.T) {
				t.Parallel()
				c := newFakeChain(t)
				nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
				b := newFixture(t, c, nodes[0].openSource(t, nodes[1]))
				b.followToTip()
				to := b.watchNewAddress()
				ether, token := "", ""
				if name == "another value" {
					ether = c.sendEther(outputTo(to, 5), false)
				} else {
					token = c.sendTokens(outputTo(to, 6))
				}
				c.sendTokens(outputTo(c.newAddress(), 1))
				c.mineBlocks(3)
				nodes[wrong].setBehaviour(set)
				b.expectStopped("Nodes 1 and 2 of 2 disagree about what block 1 holds")
				nodes[wrong].setBehaviour(func(n *fakeNode) { n.tamper = nil })
				b.followToTip()
				all := b.ledger.Transfers()
				for txid, units := range map[string]int64{ether: 5, token: 6} {
					if rows := all[txid]; txid != "" &&
						(len(rows) != 1 || rows[0].Amount.Cmp(money.Units(units)) != 0) {
						t.Errorf("%d units came as %+v", units, rows)
					}
				}
			})
		}
	}
}

// TestNodeThatCannotConfirmStopsNothing checks that a node that cannot confirm a block stops
// nothing, and that a note is shown. A node that lags by one block confirms the blocks that it
// has.
func TestNodeThatCannotConfirmStopsNothing(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.followToTip()
	note := func() string { return b.source.Nodes(t.Context())[1].Note }
	second.setBehaviour(answerMethod("eth_getLogs", "no list"))
	token := c.sendTokens(outputTo(b.watchNewAddress(), 6))
	if rows := b.mineAndFind(token); len(rows) != 1 ||
		!strings.Contains(note(), "without its confirmation: Node 2 of 2 answers, but not as") {
		t.Errorf("%+v, and the note is %q", rows, note())
	}
	second.setBehaviour(func(n *fakeNode) { n.tamper, n.hidden = nil, 1 })
	token = c.sendTokens(outputTo(b.watchNewAddress(), 6))
	if rows := b.mineAndFind(token); len(rows) != 1 {
		t.Errorf("a node that lags by one block: %+v", rows)
	}
	second.setBehaviour(func(n *fakeNode) { n.hidden = 0 })
	token = c.sendTokens(outputTo(b.watchNewAddress(), 6))
	if rows := b.mineAndFind(token); len(rows) != 1 || note() != "" {
		t.Errorf("%+v, and the note is %q", rows, note())
	}
}

// TestSlowConfirmationIsGivenUp checks that a node that accepts the request and never finishes its
// answer is given up.
func TestSlowConfirmationIsGivenUp(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.source.nodes.Timing.CheckTimeout = time.Second
	b.followToTip()
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) }) // before the node waits for its answers
	second.setBehaviour(func(n *fakeNode) {
		n.hijack = func(_ http.ResponseWriter, r *http.Request) bool {
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if err != nil || !bytes.Contains(body, []byte("eth_getBlockByHash")) {
				return false
			}
			<-ended
			return true
		}
	})
	token := c.sendTokens(outputTo(b.watchNewAddress(), 6))
	if rows, note := b.mineAndFind(token), b.source.Nodes(t.Context())[1].Note; len(rows) != 1 ||
		!strings.Contains(note, "says nothing for 1s") {
		t.Errorf("%+v, and the note is %q", rows, note)
	}
}

// TestRequestsPerBlockWithTwoNodes checks that a block without watched addresses costs one request
// to the first node and two to the second.
func TestRequestsPerBlockWithTwoNodes(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.followToTip()
	for _, txs := range []int{0, 1, 50} {
		for range txs {
			c.sendEther(outputTo(c.newAddress(), 1), false)
			c.sendTokens(outputTo(c.newAddress(), 1))
		}
		c.mineBlocks(1)
		blocks, read := second.countRequests("eth_getBlockByHash")+second.countRequests("eth_getLogs"),
			first.countRequests("eth_getBlockReceipts")
		b.followToTip()
		if got, receipts := second.countRequests("eth_getBlockByHash")+second.countRequests("eth_getLogs")-blocks,
			first.countRequests("eth_getBlockReceipts")-read; got != 2 || receipts != 1 ||
			second.countRequests("eth_getTransactionReceipt") > 0 {
			t.Errorf("%d transactions: the second was asked %d times, the first %d times", 2*txs, got, receipts)
		}
	}
}
