package evm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Proxy is a provider in front of a node: it passes requests on, unless a test changes its
// answers.
type Proxy struct {
	Host string // host:port

	node   *Node
	mu     sync.Mutex
	spoil  Spoil
	status int
}

// Ask asks the node itself; the result is as JSON decodes it, nil for what it doesn't
// know, or a Refusal.
type Ask func(method string, params ...any) any

// Spoil answers a question in the node's stead.
type Spoil func(ask Ask, method string, params []any) any

// Refusal is an error of JSON-RPC.
type Refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// NewProxy starts a provider that says what the node says.
func NewProxy(t testing.TB, node *Node) *Proxy {
	t.Helper()
	p := &Proxy{node: node}
	server := httptest.NewServer(http.HandlerFunc(p.serveRequest))
	t.Cleanup(server.Close)
	p.Host = strings.TrimPrefix(server.URL, "http://")
	return p
}

// URL is the provider's, as a setting.
func (p *Proxy) URL() string { return "http://" + p.Host }

// SpoilAnswers has the provider answer otherwise; nil has it be true again.
func (p *Proxy) SpoilAnswers(spoil Spoil) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spoil = spoil
}

// FailRequests has the provider answer every request with a status and a web page; 0 ends that.
func (p *Proxy) FailRequests(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

type question struct {
	ID     json.RawMessage
	Method string
	Params []any
}

func (p *Proxy) serveRequest(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	spoil, status := p.spoil, p.status
	p.mu.Unlock()
	if status != 0 {
		http.Error(w, "<!doctype html><title>Out of order</title>", status)
		return
	}
	var many []question
	if json.Unmarshal(body, &many) == nil {
		answers := make([]any, len(many))
		for i, q := range many {
			answers[i] = p.answerQuestion(spoil, q)
		}
		_ = json.NewEncoder(w).Encode(answers)
		return
	}
	var one question
	_ = json.Unmarshal(body, &one)
	_ = json.NewEncoder(w).Encode(p.answerQuestion(spoil, one))
}

func (p *Proxy) answerQuestion(spoil Spoil, q question) any {
	if spoil == nil {
		spoil = PassOn
	}
	result := spoil(p.askNode, q.Method, q.Params)
	if refusal, ok := result.(Refusal); ok {
		return map[string]any{"jsonrpc": "2.0", "id": q.ID, "error": refusal}
	}
	return map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result}
}

// askNode asks the node. Numbers stay as they were written.
func (p *Proxy) askNode(method string, params ...any) any {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	answer, err := client.Post("http://"+p.node.HTTP, "application/json", bytes.NewReader(body))
	if err != nil {
		return Refusal{-32000, err.Error()}
	}
	defer answer.Body.Close()
	var read struct {
		Result any
		Error  *Refusal
	}
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		return Refusal{-32000, err.Error()}
	}
	if read.Error != nil {
		return *read.Error
	}
	return read.Result
}

// PassOn says what the node says.
func PassOn(ask Ask, method string, params []any) any { return ask(method, params...) }

// AnswerInstead answers some methods with something else, and passes on all others.
func AnswerInstead(answers map[string]any) Spoil {
	return func(ask Ask, method string, params []any) any {
		if said, ok := answers[method]; ok {
			return said
		}
		return ask(method, params...)
	}
}

// readNumber reads a member of a block or receipt that is a number; -1 where there is none.
func readNumber(of any, member string) int64 {
	fields, _ := of.(map[string]any)
	text, _ := fields[member].(string)
	var n int64
	if _, err := fmt.Sscanf(text, "0x%x", &n); err != nil {
		return -1
	}
	return n
}

// LagBehind makes a node that has no block above a height. As some do, it answers [] for the logs of
// a block that it doesn't have.
func LagBehind(height int64) Spoil {
	return func(ask Ask, method string, params []any) any {
		switch method {
		case "eth_getBlockByNumber":
			block := ask(method, params...)
			if readNumber(block, "number") <= height && readNumber(block, "number") >= 0 {
				return block
			}
			if tag, _ := params[0].(string); tag == "latest" || tag == "pending" || tag == "finalized" {
				return ask(method, formatHex(height), params[1])
			}
			return nil
		case "eth_getBlockByHash":
			if block := ask(method, params...); readNumber(block, "number") <= height {
				return block
			}
			return nil
		case "eth_getBlockReceipts":
			var n int64
			if _, err := fmt.Sscanf(fmt.Sprint(params[0]), "0x%x", &n); err != nil || n > height {
				return nil
			}
		case "eth_getTransactionReceipt", "eth_getTransactionByHash":
			if found := ask(method, params...); readNumber(found, "blockNumber") <= height {
				return found
			}
			return nil
		case "eth_getLogs":
			filter, _ := params[0].(map[string]any)
			if readNumber(ask("eth_getBlockByHash", filter["blockHash"], false), "number") > height {
				return []any{}
			}
		}
		return ask(method, params...)
	}
}

// OtherBranch makes a node that has other blocks than the true ones above a height: the same
// contents by other names.
func (p *Proxy) OtherBranch(height int64) Spoil {
	return func(ask Ask, method string, params []any) any {
		var true2false, false2true []string
		for n := height + 1; ; n++ {
			block, _ := ask("eth_getBlockByNumber", formatHex(n), false).(map[string]any)
			name, _ := block["hash"].(string)
			if name == "" {
				break
			}
			other := "0xbad" + name[5:]
			true2false, false2true = append(true2false, name, other), append(false2true, other, name)
		}
		asked, _ := json.Marshal(params)
		var renamed []any
		_ = json.Unmarshal([]byte(strings.NewReplacer(false2true...).Replace(string(asked))), &renamed)
		result := ask(method, renamed...)
		if _, refused := result.(Refusal); refused {
			return result
		}
		said, _ := json.Marshal(result)
		return json.RawMessage(strings.NewReplacer(true2false...).Replace(string(said)))
	}
}

// ChangeLogs makes a node that changes a contract's logs in all its answers:
// change gives what stands for a log, nil for nothing.
func ChangeLogs(contract string, change func(log map[string]any) map[string]any) Spoil {
	spoilt := func(list any) any {
		all, ok := list.([]any)
		if !ok {
			return list
		}
		kept := []any{}
		for _, one := range all {
			log, _ := one.(map[string]any)
			if address, _ := log["address"].(string); strings.EqualFold(address, contract) {
				if log = change(log); log == nil {
					continue
				}
			}
			kept = append(kept, log)
		}
		return kept
	}
	receipt := func(one any) any {
		if fields, ok := one.(map[string]any); ok {
			fields["logs"] = spoilt(fields["logs"])
		}
		return one
	}
	return func(ask Ask, method string, params []any) any {
		result := ask(method, params...)
		switch method {
		case "eth_getLogs":
			return spoilt(result)
		case "eth_getTransactionReceipt":
			return receipt(result)
		case "eth_getBlockReceipts":
			if all, ok := result.([]any); ok {
				for _, one := range all {
					receipt(one)
				}
			}
		}
		return result
	}
}
