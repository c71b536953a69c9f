package ethereum

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// fakeNode is a server that shows a fake chain and can be given faults.
type fakeNode struct {
	*httptest.Server

	mu         sync.Mutex
	chain      *fakeChain
	hidden     int  // number of newest blocks that it does not know
	unfinal    bool // it does not know the block tag finalized
	id         int64
	password   string                                        // of user "u"; "" means no authentication
	hijack     func(http.ResponseWriter, *http.Request) bool // answers instead; false lets the node answer
	tamper     func(method string, result any) any           // changes results; an rpc.Error becomes the error
	script     func(q rpc.Request) any                       // results instead of its own; nil leaves them
	lacks      map[string]bool                               // methods that it does not have
	barred     map[string]bool                               // by argument, if the token's contract has a blacklist
	views      map[string]string                             // results of the token's contract, by selector
	most       int                                           // calls that it accepts in one request; 0 means any
	mostBlocks int                                           // whose logs it gives at once; 0 means any
	asked      map[string]int                                // by method
	requests   int
	pushed     chan string
}

func newFakeNode(t testing.TB, c *fakeChain) *fakeNode {
	n := &fakeNode{chain: c, id: testChainID, asked: map[string]int{},
		lacks: map[string]bool{"debug_traceBlockByHash": true, "trace_block": true}, pushed: make(chan string, 10),
		views: map[string]string{decimalsCall: fmt.Sprintf("0x%064x", 6)}}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serveRPC))
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

// openSource makes a source of nodes that checks all of them all the time.
func (n *fakeNode) openSource(t testing.TB, others ...*fakeNode) *Source {
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
	return openNetwork(t, testParams(), log, urls...)
}

// openNetwork makes a source of a network.
func openNetwork(t testing.TB, p params.Params, log *slog.Logger, urls ...string) *Source {
	t.Helper()
	s, err := New(p, urls, node.Access{Clock: testTime, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes.Timing.HealthyAge, s.nodes.Timing.UnhealthyAge, s.RetryDelay, s.confirmTimeout = 0, 0, time.Millisecond, 0
	return s
}

// setBehaviour changes the behaviour of the node.
func (n *fakeNode) setBehaviour(change func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

// countRequests returns how often a method was called, or the number of requests for "".
func (n *fakeNode) countRequests(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if method == "" {
		return n.requests
	}
	return n.asked[method]
}

func (n *fakeNode) serveRPC(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	hijack, password := n.hijack, n.password
	n.requests++
	n.mu.Unlock()
	if r.Header.Get("Upgrade") != "" {
		n.pushMessages(w, r)
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
	var many []rpc.Request
	if json.Unmarshal(body, &many) == nil {
		if n.most > 0 && len(many) > n.most {
			_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": nil,
				"error": rpc.Error{Code: -32600, Message: "batch too large"}})
			return
		}
		replies := make([]any, len(many))
		for i, q := range many {
			replies[i] = n.answerRequest(q)
		}
		_ = json.NewEncoder(w).Encode(replies)
		return
	}
	var one rpc.Request
	_ = json.Unmarshal(body, &one)
	_ = json.NewEncoder(w).Encode(n.answerRequest(one))
}

// pushMessages sends its messages over a websocket.
func (n *fakeNode) pushMessages(w http.ResponseWriter, r *http.Request) {
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

func (n *fakeNode) answerRequest(q rpc.Request) any {
	n.mu.Lock()
	tamper := n.tamper
	n.asked[q.Method]++
	lacks := n.lacks[q.Method]
	n.mu.Unlock()
	var result any = rpc.Error{Code: rpc.CodeNoMethod, Message: "the method " + q.Method + " does not exist/is not available"}
	if !lacks {
		n.chain.mu.Lock()
		result = n.methodResult(q)
		n.chain.mu.Unlock()
	}
	if tamper != nil {
		result = tamper(q.Method, result)
	}
	if e, ok := result.(rpc.Error); ok {
		return map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": e}
	}
	return map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result}
}

// methodResult returns the result of a method. The caller holds the chain's lock.
func (n *fakeNode) methodResult(q rpc.Request) any {
	if n.script != nil {
		if result := n.script(q); result != nil {
			return result
		}
	}
	switch q.Method {
	case "eth_chainId":
		return encodeHeight(n.id)
	case "web3_clientVersion":
		return "Fake/v1.0"
	case "eth_syncing":
		return false
	case "eth_getBlockByNumber":
		return n.blockResult(q.Params[0].(string), q.Params[1].(bool))
	case "eth_getBlockByHash":
		for i, b := range n.shownBlocks() {
			if b.Hash == q.Params[0] {
				return blockJSON(&n.shownBlocks()[i], q.Params[1].(bool))
			}
		}
		return nil
	case "eth_getBlockReceipts":
		if b := n.blockByNumber(q.Params[0].(string)); b != nil {
			return receiptsJSON(b)
		}
		return nil
	case "eth_getLogs":
		return n.logsResult(q.Params[0].(map[string]any))
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return n.transactionResult(q.Method, q.Params[0].(string))
	case "eth_call":
		call := q.Params[0].(map[string]any)["data"].(string)
		if n.barred != nil && strings.HasPrefix(call, blacklistedCall) {
			return fmt.Sprintf("0x%064x", map[bool]int{true: 1}[n.barred[strings.TrimPrefix(call, blacklistedCall)]])
		}
		if view, ok := n.views[call[:10]]; ok &&
			strings.EqualFold(q.Params[0].(map[string]any)["to"].(string), account(n.chain.params.Token).String()) {
			return view
		}
		return rpc.Error{Code: 3, Message: "execution reverted"}
	case "eth_gasPrice":
		return "0x3b9aca00"
	case "eth_getBalance":
		if n.chain.balances == nil {
			return "0x0"
		}
		b := n.blockByNumber(q.Params[1].(string))
		if q.Params[1] == "latest" {
			b = &n.shownBlocks()[len(n.shownBlocks())-1]
		}
		return n.chain.balances(*mustParseAccount(n.chain, q.Params[0].(string)), b.Height)
	case "eth_getCode":
		return "0x" + n.chain.code
	case "debug_traceBlockByHash":
		for _, b := range n.shownBlocks() {
			if b.Hash == q.Params[0] {
				return tracesJSON(&b)
			}
		}
		return nil
	case "trace_block":
		if b := n.blockByNumber(q.Params[0].(string)); b != nil {
			return flatTracesJSON(b)
		}
		return nil
	}
	return rpc.Error{Code: rpc.CodeNoMethod, Message: "the method " + q.Method + " does not exist"}
}

func (n *fakeNode) shownBlocks() []fakeBlock { return n.chain.blocks[:len(n.chain.blocks)-n.hidden] }

func (n *fakeNode) blockByNumber(text string) *fakeBlock {
	height, err := strconv.ParseInt(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil || height >= int64(len(n.shownBlocks())) {
		return nil
	}
	return &n.shownBlocks()[height]
}

func (n *fakeNode) blockResult(at string, full bool) any {
	last := len(n.shownBlocks()) - 1
	switch at {
	case "latest":
		return blockJSON(&n.shownBlocks()[last], full)
	case "finalized":
		if n.unfinal || n.chain.finalized < 0 {
			return rpc.Error{Code: rpc.CodeUnknown, Message: "finalized block not found"}
		}
		return blockJSON(&n.shownBlocks()[max(last-int(n.chain.finalized), 0)], full)
	case "pending":
		next := fakeBlock{Header: chain.Header{BlockID: chain.BlockID{Height: int64(last) + 1},
			Parent: n.shownBlocks()[last].Hash}, txs: n.chain.pending}
		out := blockJSON(&next, full)
		out["hash"], out["logsBloom"], out["nonce"] = nil, nil, nil
		return out
	}
	if b := n.blockByNumber(at); b != nil {
		return blockJSON(b, full)
	}
	return nil
}

// logsResult returns the logs of a block by its hash, or of a range of blocks that it knows.
func (n *fakeNode) logsResult(filter map[string]any) any {
	blocks := n.shownBlocks()
	if _, ok := filter["blockHash"]; ok {
		at := slices.IndexFunc(blocks, func(b fakeBlock) bool { return b.Hash == filter["blockHash"] })
		if at < 0 {
			return rpc.Error{Code: -32000, Message: "unknown block"}
		}
		blocks = blocks[at : at+1]
	} else {
		from, to := readQuantity(filter["fromBlock"]), readQuantity(filter["toBlock"])
		if n.mostBlocks > 0 && to-from+1 > int64(n.mostBlocks) {
			return rpc.Error{Code: -32000, Message: "block range is too wide"}
		}
		blocks = blocks[min(from, int64(len(blocks))):min(to+1, int64(len(blocks)))]
	}
	found := []any{}
	for i := range blocks {
		for _, r := range receiptsJSON(&blocks[i]) {
			for _, l := range r["logs"].([]map[string]any) {
				topics := l["topics"].([]string)
				if asked := func(contract any) bool {
					return strings.EqualFold(contract.(string),
						l["address"].(string))
				}; slices.ContainsFunc(filter["address"].([]any), asked) &&
					len(topics) > 0 && topics[0] == filter["topics"].([]any)[0] {
					found = append(found, l)
				}
			}
		}
	}
	return found
}

// readQuantity reads a number as encodeHeight writes it.
func readQuantity(text any) int64 {
	height, err := strconv.ParseInt(strings.TrimPrefix(text.(string), "0x"), 16, 64)
	if err != nil {
		panic(err)
	}
	return height
}

func (n *fakeNode) transactionResult(method, id string) any {
	for _, b := range n.shownBlocks() {
		for i, t := range b.txs {
			if t.txID().String() != id {
				continue
			}
			if method == "eth_getTransactionReceipt" {
				return receiptsJSON(&b)[i]
			}
			out := txJSON(t)
			out["blockHash"], out["blockNumber"] = b.Hash, encodeHeight(b.Height)
			return out
		}
	}
	for _, t := range n.chain.pending {
		if t.txID().String() == id && method == "eth_getTransactionByHash" {
			return txJSON(t)
		}
	}
	return nil
}

func txJSON(t *fakeTx) map[string]any {
	out := map[string]any{"hash": t.txID().String(), "from": strings.ToLower(t.From.String()), "to": nil,
		"value": t.Value,
		"nonce": encodeHeight(int64(t.Nonce)), "blockHash": nil, "type": "0x2", "input": fmt.Sprintf("0x%x", t.Input)}
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
			txs = append(txs, t.txID().String())
		}
	}
	return map[string]any{"hash": b.Hash, "parentHash": b.Parent, "number": encodeHeight(b.Height),
		"timestamp":    encodeHeight(max(b.Time.Unix(), 0)),
		"transactions": txs, "withdrawals": b.withdrawals, "logsBloom": "0x" + hex.EncodeToString(blockBloom(b)),
		"nonce": "0x0000000000000000"}
}

// blockBloom returns the bloom of a block's logs.
func blockBloom(b *fakeBlock) []byte {
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
		id := t.txID().String()
		logs := []map[string]any{}
		for _, l := range t.Logs {
			if t.Reverted {
				break
			}
			topics := []string{}
			for _, topic := range l.Topics {
				topics = append(topics, topic.String())
			}
			logs = append(logs, map[string]any{"address": strings.ToLower(l.Address.String()), "topics": topics,
				"data":            "0x" + hex.EncodeToString(l.Data),
				"transactionHash": id, "blockHash": b.Hash, "blockNumber": encodeHeight(b.Height), "removed": l.Removed,
				"logIndex": encodeHeight(int64(index))})
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
		top := map[string]any{"type": "CALL", "from": strings.ToLower(t.From.String()), "value": t.Value,
			"calls": t.Calls}
		if t.Reverted {
			top["error"] = "execution reverted"
		}
		all = append(all, map[string]any{"txHash": t.txID().String(), "result": top})
	}
	return all
}
