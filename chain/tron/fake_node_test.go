package tron

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain/node"
	"cointill/chain/tron/params"
)

// fakeNode is a server that shows a fake chain as java-tron does, and can be given faults.
type fakeNode struct {
	*httptest.Server

	mu      sync.Mutex
	chain   *fakeChain
	hidden  int                                                // number of newest blocks that it does not know
	key     string                                             // that it asks for; "" means none
	lacks   map[string]bool                                    // paths that it does not serve
	hijack  func(w http.ResponseWriter, path string) bool      // answers instead; false lets the node answer
	tamper  func(path string, asked map[string]any, a any) any // changes answers
	views   map[string]string                                  // results of the token's contract
	energy  int64                                              // that calls of it take
	answers map[string]any                                     // by path, of what isn't about blocks
	sent    []string                                           // transactions that it was handed
	asked   map[string]int                                     // by path
	headers http.Header                                        // of the last request
}

func newFakeNode(t testing.TB, c *fakeChain) *fakeNode {
	n := &fakeNode{chain: c, lacks: map[string]bool{}, asked: map[string]int{},
		views: map[string]string{"decimals()": abiNumber(6), "symbol()": abiText("USDT")}}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
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
	return openURLs(t, testParams(), urls...)
}

// openURLs makes a source of a network.
func openURLs(t testing.TB, p params.Params, urls ...string) *Source {
	t.Helper()
	s, err := New(p, urls, node.Access{Clock: testTime, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes.Timing.HealthyAge, s.nodes.Timing.UnhealthyAge, s.confirmTimeout = 0, 0, 0
	s.RetryDelay = time.Millisecond
	return s
}

// setBehaviour changes the behaviour of the node.
func (n *fakeNode) setBehaviour(change func(*fakeNode)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

// countRequests returns how often a path was asked.
func (n *fakeNode) countRequests(path string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[path]
}

func (n *fakeNode) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[r.URL.Path]++
	n.headers = maps.Clone(r.Header)
	if n.hijack != nil && n.hijack(w, r.URL.Path) {
		return
	}
	switch {
	case n.key != "" && r.Header.Get("TRON-PRO-API-KEY") != n.key:
		http.Error(w, `{"Error":"ApiKey not exists"}`, http.StatusUnauthorized)
		return
	case n.lacks[r.URL.Path]:
		http.NotFound(w, r)
		return
	}
	var asked map[string]any
	_ = json.NewDecoder(r.Body).Decode(&asked)
	n.chain.mu.Lock()
	answer := n.answer(r.URL.Path, asked)
	n.chain.mu.Unlock()
	if n.tamper != nil {
		answer = n.tamper(r.URL.Path, asked, answer)
	}
	if text, ok := answer.(string); ok {
		_, _ = w.Write([]byte(text))
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// answer returns the answer to a request. The caller holds the chain's lock.
func (n *fakeNode) answer(path string, asked map[string]any) any {
	last := int64(len(n.chain.blocks)-n.hidden) - 1
	solid := max(last-int64(n.chain.solidity), 0)
	at := func(height int64) *fakeBlock {
		if height < 0 || height > last {
			return nil
		}
		return n.chain.blocks[height]
	}
	byID := func(id string) *fakeBlock {
		for height := last; height >= 0; height-- {
			if b := n.chain.blocks[height]; b.id.String() == id {
				return b
			}
		}
		return nil
	}
	empty := map[string]any{}
	number := func() int64 { got, _ := asked["num"].(float64); return int64(got) }
	full := func(b *fakeBlock) any {
		if b == nil {
			return empty
		}
		return b.blockJSON()
	}
	switch path {
	case "/wallet/getblock", "/walletsolidity/getblock":
		text, named := asked["id_or_num"].(string)
		b := at(last)
		height, err := strconv.ParseInt(text, 10, 64)
		switch {
		case named && err == nil && len(text) < 64:
			b = at(height)
		case named:
			b = byID(text)
		case strings.HasPrefix(path, solidityPaths):
			b = at(solid)
		}
		if b == nil {
			return empty
		}
		return b.headerJSON()
	case "/wallet/getnowblock":
		return full(at(last))
	case "/walletsolidity/getnowblock":
		return full(at(solid))
	case "/wallet/getblockbynum":
		return full(at(number()))
	case "/wallet/getblockbyid":
		return full(byID(asked["value"].(string)))
	case "/wallet/gettransactioninfobyblocknum":
		if b := at(number()); b != nil && number() > 0 {
			return b.infosJSON()
		}
		return []any{}
	case "/wallet/gettransactioninfobyid", "/walletsolidity/gettransactioninfobyid":
		if strings.HasPrefix(path, solidityPaths) {
			last = solid
		}
		for height := last; height >= 0; height-- {
			for _, t := range n.chain.blocks[height].txs {
				if t.id.String() == asked["value"] {
					return n.chain.blocks[height].infoJSON(t)
				}
			}
		}
		return empty
	case "/wallet/triggerconstantcontract":
		value, ok := n.views[asked["function_selector"].(string)]
		if !ok || asked["contract_address"] != params.Address(testToken).Hex() {
			return map[string]any{"result": map[string]any{"code": "CONTRACT_VALIDATE_ERROR", "message": "536d617274"}}
		}
		return map[string]any{"result": map[string]any{"result": true}, "constant_result": []string{value},
			"energy_used": n.energy}
	case "/wallet/broadcasthex":
		n.sent = append(n.sent, asked["transaction"].(string))
	}
	if answer, ok := n.answers[path]; ok {
		return answer
	}
	return map[string]any{"Error": "class java.lang.Exception : " + path}
}
