package ethereum

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cointill/chain"
)

// fakeNode is a server that shows a fake chain, and can be told to misbehave.
type fakeNode struct {
	*httptest.Server

	mu       sync.Mutex
	chain    *fakeChain
	hidden   int  // the last blocks that it doesn't know
	unfinal  bool // it doesn't know the block tag finalized
	id       int64
	password string                                        // of user "u"; "" lets everybody in
	hijack   func(http.ResponseWriter, *http.Request) bool // answers instead; false lets the node answer
	tamper   func(method string, result any) any           // changes results; an rpcError becomes the error
	lacks    map[string]bool                               // methods that it doesn't have
	barred   map[string]bool                               // by argument, where the token's contract can bar
	views    map[string]string                             // what the token's contract returns, by selector
	most     int                                           // questions in one request that it takes; 0: any
	asked    map[string]int                                // by method
	requests int
	pushed   chan string
}

func newFakeNode(t testing.TB, c *fakeChain) *fakeNode {
	n := &fakeNode{chain: c, id: testID, asked: map[string]int{}, lacks: map[string]bool{"debug_traceBlockByHash": true, "trace_block": true}, pushed: make(chan string, 10),
		views: map[string]string{decimalsCall: fmt.Sprintf("0x%064x", 6)}}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

// open makes a source of nodes that looks at all of them all the time.
func (n *fakeNode) open(t testing.TB, others ...*fakeNode) *Source {
	urls := []string{n.URL}
	for _, other := range others {
		urls = append(urls, other.URL)
	}
	return openURLs(t, urls...)
}

func openURLs(t testing.TB, urls ...string) *Source {
	t.Helper()
	return openLogged(t, slog.New(slog.NewTextHandler(t.Output(), nil)), urls...)
}

func openLogged(t testing.TB, log *slog.Logger, urls ...string) *Source {
	t.Helper()
	s, err := New(Config{Params: testParams(), Nodes: urls, Clock: noon, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes.Pace.Moment, s.nodes.Pace.Pause, s.Retry, s.patience = 0, 0, time.Millisecond, 0
	return s
}

// set changes how the node behaves.
func (n *fakeNode) set(change func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

// count is how often a method was asked, or how many requests came for "".
func (n *fakeNode) count(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if method == "" {
		return n.requests
	}
	return n.asked[method]
}

func (n *fakeNode) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	hijack, password := n.hijack, n.password
	n.requests++
	n.mu.Unlock()
	if r.Header.Get("Upgrade") != "" {
		n.push(w, r)
		return
	}
	if hijack != nil && hijack(w, r) {
		return
	}
	if _, got, _ := r.BasicAuth(); password != "" && got != password {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var many []question
	if json.Unmarshal(body, &many) == nil {
		if n.most > 0 && len(many) > n.most {
			_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": nil, "error": rpcError{-32600, "batch too large"}})
			return
		}
		replies := make([]any, len(many))
		for i, q := range many {
			replies[i] = n.answer(q)
		}
		_ = json.NewEncoder(w).Encode(replies)
		return
	}
	var one question
	_ = json.Unmarshal(body, &one)
	_ = json.NewEncoder(w).Encode(n.answer(one))
}

// push sends what it is told to over a websocket.
func (n *fakeNode) push(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	if _, _, err := conn.Read(r.Context()); err != nil {
		return
	}
	_ = conn.Write(r.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"result":"0x9"}`))
	for {
		select {
		case text := <-n.pushed:
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(text))
		case <-r.Context().Done():
			return
		}
	}
}

func (n *fakeNode) answer(q question) any {
	n.mu.Lock()
	tamper := n.tamper
	n.asked[q.Method]++
	lacks := n.lacks[q.Method]
	n.mu.Unlock()
	var result any = rpcError{codeMethod, "the method " + q.Method + " does not exist/is not available"}
	if !lacks {
		n.chain.mu.Lock()
		result = n.result(q)
		n.chain.mu.Unlock()
	}
	if tamper != nil {
		result = tamper(q.Method, result)
	}
	if e, ok := result.(rpcError); ok {
		return map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": e}
	}
	return map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result}
}

// result is what a method returns. The chain's lock is held.
func (n *fakeNode) result(q question) any {
	switch q.Method {
	case "eth_chainId":
		return hexNumber(n.id)
	case "web3_clientVersion":
		return "Fake/v1.0"
	case "eth_syncing":
		return false
	case "eth_getBlockByNumber":
		return n.block(q.Params[0].(string), q.Params[1].(bool))
	case "eth_getBlockByHash":
		for i, b := range n.blocks() {
			if b.Hash == q.Params[0] {
				return blockJSON(&n.blocks()[i], q.Params[1].(bool))
			}
		}
		return nil
	case "eth_getBlockReceipts":
		if b := n.numbered(q.Params[0].(string)); b != nil {
			return receiptsJSON(b)
		}
		return nil
	case "eth_getLogs":
		return n.logs(q.Params[0].(map[string]any))
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return n.transaction(q.Method, q.Params[0].(string))
	case "eth_call":
		call := q.Params[0].(map[string]any)["data"].(string)
		if n.barred != nil && strings.HasPrefix(call, barredCall) {
			return fmt.Sprintf("0x%064x", map[bool]int{true: 1}[n.barred[strings.TrimPrefix(call, barredCall)]])
		}
		if view, ok := n.views[call[:10]]; ok && strings.EqualFold(q.Params[0].(map[string]any)["to"].(string), account(n.chain.params.Token).String()) {
			return view
		}
		return rpcError{3, "execution reverted"}
	case "eth_gasPrice":
		return "0x3b9aca00"
	case "eth_getBalance":
		if n.chain.balances == nil {
			return "0x0"
		}
		b := n.numbered(q.Params[1].(string))
		if q.Params[1] == "latest" {
			b = &n.blocks()[len(n.blocks())-1]
		}
		return n.chain.balances(*parse(n.chain, q.Params[0].(string)), b.Height)
	case "eth_getCode":
		return "0x" + n.chain.code
	case "debug_traceBlockByHash":
		for _, b := range n.blocks() {
			if b.Hash == q.Params[0] {
				return tracesJSON(&b)
			}
		}
		return nil
	case "trace_block":
		if b := n.numbered(q.Params[0].(string)); b != nil {
			return stepsJSON(b)
		}
		return nil
	}
	return rpcError{codeMethod, "the method " + q.Method + " does not exist"}
}

func (n *fakeNode) blocks() []fakeBlock { return n.chain.blocks[:len(n.chain.blocks)-n.hidden] }

func (n *fakeNode) numbered(text string) *fakeBlock {
	height, err := strconv.ParseInt(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || height >= int64(len(n.blocks())) {
		return nil
	}
	return &n.blocks()[height]
}

func (n *fakeNode) block(at string, full bool) any {
	last := len(n.blocks()) - 1
	switch at {
	case "latest":
		return blockJSON(&n.blocks()[last], full)
	case "finalized":
		if n.unfinal || n.chain.finalized < 0 {
			return rpcError{codeUnknown, "finalized block not found"}
		}
		return blockJSON(&n.blocks()[max(last-int(n.chain.finalized), 0)], full)
	case "pending":
		next := fakeBlock{Header: chain.Header{BlockID: chain.BlockID{Height: int64(last) + 1}, Parent: n.blocks()[last].Hash}, txs: n.chain.pending}
		out := blockJSON(&next, full)
		out["hash"], out["logsBloom"], out["nonce"] = nil, nil, nil
		return out
	}
	if b := n.numbered(at); b != nil {
		return blockJSON(b, full)
	}
	return nil
}

func (n *fakeNode) logs(filter map[string]any) any {
	for _, b := range n.blocks() {
		if b.Hash != filter["blockHash"] {
			continue
		}
		found := []any{}
		for _, r := range receiptsJSON(&b) {
			for _, l := range r["logs"].([]map[string]any) {
				topics := l["topics"].([]string)
				if strings.EqualFold(l["address"].(string), filter["address"].(string)) && len(topics) > 0 && topics[0] == filter["topics"].([]any)[0] {
					found = append(found, l)
				}
			}
		}
		return found
	}
	return rpcError{-32000, "unknown block"}
}

func (n *fakeNode) transaction(method, id string) any {
	for _, b := range n.blocks() {
		for i, t := range b.txs {
			if t.id().String() != id {
				continue
			}
			if method == "eth_getTransactionReceipt" {
				return receiptsJSON(&b)[i]
			}
			out := txJSON(t)
			out["blockHash"] = b.Hash
			return out
		}
	}
	for _, t := range n.chain.pending {
		if t.id().String() == id && method == "eth_getTransactionByHash" {
			return txJSON(t)
		}
	}
	return nil
}

func txJSON(t *fakeTx) map[string]any {
	out := map[string]any{"hash": t.id().String(), "from": strings.ToLower(t.From.String()), "to": nil, "value": t.Value,
		"nonce": hexNumber(int64(t.Nonce)), "blockHash": nil, "type": "0x2", "input": fmt.Sprintf("0x%x", t.Input)}
	if t.To != nil {
		out["to"] = strings.ToLower(t.To.String())
	}
	return out
}

func blockJSON(b *fakeBlock, full bool) map[string]any {
	txs := []any{}
	for _, t := range b.txs {
		if full {
			txs = append(txs, txJSON(t))
		} else {
			txs = append(txs, t.id().String())
		}
	}
	return map[string]any{"hash": b.Hash, "parentHash": b.Parent, "number": hexNumber(b.Height), "timestamp": hexNumber(max(b.Time.Unix(), 0)),
		"transactions": txs, "withdrawals": b.withdrawals, "logsBloom": "0x" + hex.EncodeToString(bloomOf(b)), "nonce": "0x0000000000000000"}
}

// bloomOf is the summary of a block's logs.
func bloomOf(b *fakeBlock) []byte {
	bloom := make([]byte, bloomSize)
	for _, t := range b.txs {
		for _, l := range t.Logs {
			if t.Reverted {
				break
			}
			setBloom(bloom, l.Address[:])
			for _, topic := range l.Topics {
				setBloom(bloom, topic[:])
			}
		}
	}
	return bloom
}

func receiptsJSON(b *fakeBlock) []map[string]any {
	all, index := []map[string]any{}, 0
	for _, t := range b.txs {
		id := t.id().String()
		logs := []map[string]any{}
		for _, l := range t.Logs {
			if t.Reverted {
				break
			}
			topics := []string{}
			for _, topic := range l.Topics {
				topics = append(topics, topic.String())
			}
			logs = append(logs, map[string]any{"address": strings.ToLower(l.Address.String()), "topics": topics, "data": "0x" + hex.EncodeToString(l.Data),
				"transactionHash": id, "blockHash": b.Hash, "removed": l.Removed, "logIndex": hexNumber(int64(index))})
			index++
		}
		status := "0x1"
		if t.Reverted {
			status = "0x0"
		}
		all = append(all, map[string]any{"transactionHash": id, "blockHash": b.Hash, "status": status, "logs": logs})
	}
	return all
}

func tracesJSON(b *fakeBlock) []any {
	all := []any{}
	for _, t := range b.txs {
		top := map[string]any{"type": "CALL", "from": strings.ToLower(t.From.String()), "value": t.Value, "calls": t.Calls}
		if t.Reverted {
			top["error"] = "execution reverted"
		}
		all = append(all, map[string]any{"txHash": t.id().String(), "result": top})
	}
	return all
}
