package nodes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// fault is a node's refusal.
type fault struct {
	Code    int
	Message string
}

func (f *fault) Error() string { return fmt.Sprintf("%s (%d)", f.Message, f.Code) }

var client = &http.Client{Timeout: patience, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}

// TryCall asks the node and decodes its result, which nil for into drops.
func (n *Node) TryCall(method string, into any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	// btcd answers a request without "jsonrpc" with nothing at all.
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	request, err := http.NewRequest("POST", "http://"+n.rpc, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth(user, password)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var result struct {
		Result json.RawMessage
		Error  *fault
	}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		return fmt.Errorf("%s: %w", answer.Status, err)
	}
	if result.Error != nil {
		return result.Error
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(result.Result, into)
}

// Call is TryCall that must succeed.
func (n *Node) Call(method string, into any, params ...any) {
	n.t.Helper()
	if err := n.TryCall(method, into, params...); err != nil {
		n.t.Fatalf("%s %s %v: %v", n.kind.name, method, params, err)
	}
}

// Tip is the end of the node's best chain. It is read by one call, because the chain is shorter
// for a moment while the node changes to another branch.
func (n *Node) Tip() (height int64, hash string) {
	n.t.Helper()
	var info struct {
		Blocks        int64
		BestBlockHash string
	}
	n.Call("getblockchaininfo", &info)
	return info.Blocks, info.BestBlockHash
}

func (n *Node) blockHash(height int64) (hash string) {
	n.t.Helper()
	n.Call("getblockhash", &hash, height)
	return hash
}

// IsPending reports whether the node's mempool holds a transaction.
func (n *Node) IsPending(id string) bool {
	n.t.Helper()
	var ids []string
	n.Call("getrawmempool", &ids)
	for _, one := range ids {
		if one == id {
			return true
		}
	}
	return false
}
