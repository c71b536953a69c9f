package bitcoin

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"cointill/chain/node"
	"cointill/core/clock"
)

// fakeNode is a server that serves a fake chain in one of the dialects, and misbehaves on request.
type fakeNode struct {
	dialect string // "core", "old" (Dogecoin Core before 1.14.7), "btcd" or "esplora"
	*httptest.Server

	mu         sync.Mutex
	chain      *fakeChain
	hidden     int                                           // number of last blocks that it doesn't know
	network    string                                        // in its own words
	syncing    bool                                          // it reports that it is syncing
	headers    int64                                         // headers that it knows beyond its blocks
	password   string                                        // of user "u"; "" allows any
	intercept  func(http.ResponseWriter, *http.Request) bool // answers instead of the node if it returns true
	tamper     func(method string, result any) any           // changes results
	script     func(fakeCall) any                            // results of methods, or their *rpcError; nil for others
	callCounts map[string]int
	pushed     chan string // messages for websockets
	loading    bool        // its mempool is still being loaded
	refused    bool        // websockets may not subscribe
	indexed    bool        // it has an index of transactions
}

func newFakeNode(t testing.TB, c *fakeChain, dialect string) *fakeNode {
	n := &fakeNode{dialect: dialect, chain: c, network: "regtest", callCounts: map[string]int{},
		pushed: make(chan string, 10)}
	n.Server = httptest.NewServer(http.HandlerFunc(n.handleRequest))
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

// configURL returns the node's URL in a configuration.
func (n *fakeNode) configURL() string {
	if n.dialect == "esplora" {
		return "esplora+" + n.URL + "/api"
	}
	return n.URL
}

// openSource makes a source of nodes that checks all of them for every choice.
func (n *fakeNode) openSource(t testing.TB, others ...*fakeNode) *Source {
	urls := []string{n.configURL()}
	for _, other := range others {
		urls = append(urls, other.configURL())
	}
	return openURLs(t, n.chain, urls...)
}

func openURLs(t testing.TB, c *fakeChain, urls ...string) *Source {
	t.Helper()
	s, err := New(c.params, urls, node.Access{Clock: clock.Real(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes.Timing.HealthyAge, s.nodes.Timing.UnhealthyAge, s.RetryDelay, s.timing.quickListing = 0, 0,
		time.Millisecond, time.Hour
	return s
}

// shortenSilence lets silent nodes be given up soon. Only tests of silence use it, before the first
// question, because busy machines are silent, too.
func shortenSilence(s *Source) {
	for _, node := range s.nodes.Members {
		switch b := node.backend.(type) {
		case *core:
			b.SilenceTimeout = time.Second
		case *esplora:
			b.SilenceTimeout = time.Second
		}
	}
}

// update changes the node's behaviour.
func (n *fakeNode) update(change func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

// countCalls returns the number of calls of a method.
func (n *fakeNode) countCalls(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.callCounts[method]
}

func (n *fakeNode) handleRequest(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	hijack, password := n.intercept, n.password
	n.mu.Unlock()
	if hijack != nil && hijack(w, r) {
		return
	}
	if _, got, _ := r.BasicAuth(); password != "" && got != password {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	switch {
	case n.dialect == "esplora":
		n.serveEsplora(w, strings.TrimPrefix(r.URL.Path, "/api"))
	case r.URL.Path == "/ws":
		n.serveSocket(w, r)
	default:
		n.serveRPC(w, r)
	}
}

// fakeCall is a request as a node parses it.
type fakeCall struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

type fakeReply struct {
	Result any             `json:"result"`
	Error  *rpcError       `json:"error"`
	ID     json.RawMessage `json:"id"`
}

func (n *fakeNode) serveRPC(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	var calls []fakeCall
	if body[0] == '[' {
		_ = json.Unmarshal(body, &calls)
		replies := []fakeReply{}
		for _, c := range calls {
			replies = append(replies, n.replyTo(c))
		}
		slices.Reverse(replies) // nodes promise no order
		_ = json.NewEncoder(w).Encode(replies)
		return
	}
	var c fakeCall
	_ = json.Unmarshal(body, &c)
	reply := n.replyTo(c)
	if c.Version == "" && n.dialect == "btcd" {
		return // an empty answer with status 200
	}
	if reply.Error != nil && n.dialect != "btcd" {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_ = json.NewEncoder(w).Encode(reply)
}

func (n *fakeNode) replyTo(c fakeCall) fakeReply {
	result, refusal := n.answerScript(c)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.callCounts[c.Method]++
	if n.tamper != nil {
		result = n.tamper(c.Method, result)
	}
	return fakeReply{result, refusal, c.ID}
}

// answerScript returns the result of one method by the script, or the node's own.
func (n *fakeNode) answerScript(c fakeCall) (any, *rpcError) {
	n.mu.Lock()
	script := n.script
	n.mu.Unlock()
	if script != nil {
		switch result := script(c).(type) {
		case nil:
		case *rpcError:
			return nil, result
		default:
			return result, nil
		}
	}
	return n.answerCall(c)
}

// answerCall returns the result of one method.
func (n *fakeNode) answerCall(c fakeCall) (any, *rpcError) {
	blocks := n.shownBlocks()
	switch c.Method {
	case "getnetworkinfo":
		switch n.dialect {
		case "core":
			return map[string]any{"subversion": "/Satoshi:29.0.0/"}, nil
		case "old":
			return map[string]any{"subversion": "/Shibetoshi:1.14.6/"}, nil
		}
		return nil, &rpcError{-1, "Command unimplemented"}
	case "version":
		if n.dialect == "btcd" {
			return map[string]any{"btcdjsonrpcapi": map[string]any{"versionstring": "1.3.0"}}, nil
		}
	case "getblockchaininfo":
		n.mu.Lock()
		defer n.mu.Unlock()
		height := int64(len(blocks) - 1)
		return map[string]any{"chain": n.network, "blocks": height, "headers": height + n.headers,
			"bestblockhash":        blocks[height].hash,
			"initialblockdownload": n.syncing, "difficulty": 4.6565423739069247e-10, "verificationprogress": 1}, nil
	case "getblockhash":
		var height int
		if json.Unmarshal(c.Params[0], &height) != nil || height < 0 || height >= len(blocks) {
			return nil, &rpcError{map[bool]int{true: -1, false: -8}[n.dialect == "btcd"], "Block height out of range"}
		}
		return blocks[height].hash, nil
	case "getblockheader", "getblock":
		return n.blockBytes(c, blocks)
	case "getmempoolinfo":
		n.mu.Lock()
		defer n.mu.Unlock()
		return map[string]any{"loaded": !n.loading}, nil
	case "getrawmempool":
		return n.pendingIDs(), nil
	case "getrawtransaction":
		var id string
		_ = json.Unmarshal(c.Params[0], &id)
		raw, depth := n.pendingTx(id), n.depthOf(id, blocks)
		switch {
		case raw != nil && len(c.Params) > 1:
			return map[string]any{"hex": hex.EncodeToString(raw)}, nil
		case raw != nil:
			return hex.EncodeToString(raw), nil
		case n.indexed && depth > 0 && len(c.Params) > 1:
			return map[string]any{"blockhash": blocks[len(blocks)-depth].hash, "confirmations": depth}, nil
		}
		return nil, &rpcError{-5, "No such mempool transaction"}
	case "gettxout":
		var id string
		_ = json.Unmarshal(c.Params[0], &id)
		if depth := n.depthOf(id, blocks); depth > 0 && n.isUnspent(id, string(c.Params[1])) {
			return map[string]any{"confirmations": depth, "value": 0.1}, nil
		}
		return json.RawMessage("null"), nil
	}
	return nil, &rpcError{-32601, "Method not found"}
}

func (n *fakeNode) blockBytes(c fakeCall, blocks []fakeBlock) (any, *rpcError) {
	var hash string
	_ = json.Unmarshal(c.Params[0], &hash)
	at := slices.IndexFunc(blocks, func(b fakeBlock) bool { return b.hash == hash })
	verbosity := string(c.Params[1])
	switch {
	case c.Method == "getblock" && n.dialect == "old" && verbosity != "false":
		return nil, &rpcError{-1, "JSON value is not a boolean as expected"}
	case c.Method == "getblock" && n.dialect == "btcd" && verbosity != "0":
		return nil, &rpcError{-32602, "parameter #2 'verbosity' must be type int"}
	case at < 0:
		return nil, &rpcError{-5, "Block not found"}
	case c.Method == "getblockheader":
		return hex.EncodeToString(blocks[at].raw[:80]), nil
	}
	return hex.EncodeToString(blocks[at].raw), nil
}

// shownBlocks returns the blocks that the node knows.
func (n *fakeNode) shownBlocks() []fakeBlock {
	n.mu.Lock()
	c, hidden := n.chain, n.hidden
	n.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.blocks[:len(c.blocks)-hidden])
}

func (n *fakeNode) pendingIDs() []string {
	n.mu.Lock()
	c := n.chain
	n.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.pending...)
}

// pendingTx returns a transaction of the mempool, or nil.
func (n *fakeNode) pendingTx(id string) []byte {
	n.mu.Lock()
	c := n.chain
	n.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.pending, id) {
		return nil
	}
	return txBytes(c.TB, c.txs[id])
}

// depthOf returns how many confirmations a transaction has; 0 for one in none of the blocks.
func (n *fakeNode) depthOf(id string, blocks []fakeBlock) int {
	at := slices.IndexFunc(blocks, func(b fakeBlock) bool { return slices.Contains(b.txs, id) })
	if at < 0 {
		return 0
	}
	return len(blocks) - at
}

// isUnspent reports that the chain has not marked an output as spent.
func (n *fakeNode) isUnspent(id, index string) bool {
	n.mu.Lock()
	c := n.chain
	n.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.txs[id] != nil && index < fmt.Sprint(len(c.txs[id].TxOut)) && !slices.Contains(c.spent, id+":"+index)
}

func (n *fakeNode) serveEsplora(w http.ResponseWriter, path string) {
	blocks := n.shownBlocks()
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var height int
	var result any
	switch {
	case path == "/blocks/tip/height":
		result = fmt.Sprint(len(blocks) - 1)
	case path == "/mempool/txids":
		content, _ := json.Marshal(n.pendingIDs())
		result = content
	case parts[0] == "block-height":
		if _, err := fmt.Sscan(parts[1], &height); err == nil && height < len(blocks) {
			result = blocks[height].hash
		}
	case parts[0] == "block":
		at := slices.IndexFunc(blocks, func(b fakeBlock) bool { return b.hash == parts[1] })
		if at >= 0 && parts[2] == "raw" {
			result = blocks[at].raw
		} else if at >= 0 {
			result = hex.EncodeToString(blocks[at].raw[:80])
		}
	case parts[0] == "tx" && len(parts) > 2 && parts[2] == "status":
		result = `{"confirmed":false}` // as of one that it doesn't know
		if depth := n.depthOf(parts[1], blocks); depth > 0 {
			result = fmt.Sprintf(`{"confirmed":true,"block_height":%d}`, len(blocks)-depth)
		}
	case parts[0] == "tx":
		if raw := n.pendingTx(parts[1]); raw != nil {
			result = raw
		}
	}
	n.mu.Lock()
	n.callCounts[parts[0]]++
	if n.tamper != nil {
		result = n.tamper(parts[0], result)
	}
	n.mu.Unlock()
	switch result := result.(type) {
	case string:
		_, _ = w.Write([]byte(result))
	case []byte:
		_, _ = w.Write(result)
	default:
		http.Error(w, "not found", http.StatusNotFound)
	}
}

// serveSocket is btcd's websocket. It sends the messages in pushed once both subscriptions came.
func (n *fakeNode) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for range 2 {
		_, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var c fakeCall
		_ = json.Unmarshal(message, &c)
		reply := fakeReply{ID: c.ID}
		if n.refused {
			reply.Error = &rpcError{-32601, "limited user not authorized for this method"}
		}
		text, _ := json.Marshal(reply)
		_ = conn.Write(r.Context(), websocket.MessageText, text)
	}
	ctx := conn.CloseRead(r.Context())
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-n.pushed:
			if text == "close" {
				return
			}
			_ = conn.Write(ctx, websocket.MessageText, []byte(text))
		}
	}
}

// newFakeNodeAt starts a Core node at the address of a closed one.
func newFakeNodeAt(t testing.TB, c *fakeChain, address string) *fakeNode {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{dialect: "core", chain: c, network: "regtest", callCounts: map[string]int{},
		pushed: make(chan string, 10)}
	n.Server = httptest.NewUnstartedServer(http.HandlerFunc(n.handleRequest))
	_ = n.Listener.Close()
	n.Listener = listener
	n.Start()
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}
