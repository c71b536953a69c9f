package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// TestStatesOfOutputs asks each kind of node for the states of outputs. btcd doesn't say which ones its mempool
// spends.
func TestStatesOfOutputs(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			s := &sendNode{dialect: dialect, states: map[string]chain.OutputState{}}
			want := []chain.OutputState{chain.OutputClaimed, chain.OutputUnspent, chain.OutputSpent, chain.OutputUnspent,
				chain.OutputClaimed}
			var outputs []chain.OwnOutput
			for i, state := range want {
				own := chain.OwnOutput{TxID: strings.Repeat(fmt.Sprint(i), 64), Index: i}
				outputs = append(outputs, own)
				s.states[own.SpendKey()] = state
			}
			if dialect == "btcd" {
				want[0], want[4] = chain.OutputUnspent, chain.OutputUnspent
			}
			source, _ := s.openSource(t, c)
			got, err := source.FindOutputStates(t.Context(), outputs)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("FindOutputStates = %v, %v, want %v", got, err, want)
			}
			var asked []string
			for i, own := range outputs {
				switch {
				case dialect == "esplora":
					asked = append(asked, fmt.Sprintf("%s %d", own.TxID, own.Index))
				case want[i] != chain.OutputUnspent:
					asked = append(asked, fmt.Sprintf("%s %d false", own.TxID, own.Index))
					fallthrough
				default:
					asked = append(asked, fmt.Sprintf("%s %d true", own.TxID, own.Index))
				}
			}
			if all := s.takeAsked(); all != strings.Join(asked, "; ") {
				t.Errorf("the node is asked for %s, want %s", all, strings.Join(asked, "; "))
			}
		})
	}
}

// TestNoOutputsTakeNoRequest: nothing is asked for where there is nothing to ask for.
func TestNoOutputsTakeNoRequest(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects {
		s := &sendNode{dialect: dialect}
		source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
		if _, err := source.At(t.Context()); err != nil {
			t.Fatal(err)
		}
		requests := 0
		n.update(func(n *fakeNode) {
			n.intercept = func(http.ResponseWriter, *http.Request) bool {
				requests++
				return false
			}
		})
		if got, err := source.FindOutputStates(t.Context(), nil); err != nil || len(got) != 0 || requests != 0 {
			t.Errorf("%s: FindOutputStates of nothing = %v, %v after %d requests, want none", dialect, got, err, requests)
		}
	}
}

// answerMethod answers requests with a method with a text, in which ID1 and ID2 stand for the calls' numbers.
func answerMethod(method string, status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(method)) {
			return false
		}
		answer := text
		for i, call := range bytes.Split(body, []byte(`"id":`))[1:] {
			id, _, _ := bytes.Cut(call, []byte(","))
			answer = strings.ReplaceAll(answer, fmt.Sprintf("ID%d", i+1), string(id))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
		return true
	}
}

// TestDamagedStatesOfOutputs checks that what isn't the state of each output is the node's failure.
func TestDamagedStatesOfOutputs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		text, says string
	}{
		"one answer":    {200, `[{"id":ID1,"result":null}]`, "1 answers to 2 requests"},
		"three answers": {200, `[{"id":ID1,"result":null},{"id":ID2,"result":null},{"id":9,"result":{}}]`, "more than 2"},
		"another's":     {200, `[{"id":ID1,"result":{}},{"id":77,"result":{}}]`, "1 answers to 2 requests"},
		"no list":       {200, `"no"`, "not a list"},
		"no result":     {200, `[{"id":ID1,"result":{}},{"id":ID2}]`, "no state of an output"},
		"a number":      {200, `[{"id":ID1,"result":{}},{"id":ID2,"result":1}]`, "no state of an output"},
		"a list":        {200, `[{"id":ID1,"result":[]},{"id":ID2,"result":{}}]`, "no state of an output"},
		"true":          {200, `[{"id":ID1,"result":true},{"id":ID2,"result":{}}]`, "no state of an output"},
		"one refused": {200, `[{"id":ID1,"result":{}},{"id":ID2,"error":{"code":-8,"message":"no"}}]`,
			"refuses gettxout"},
		"all refused":      {500, `{"error":{"code":-32601,"message":"Method not found"}}`, "refuses gettxout"},
		"forbidden":        {403, ``, "forbids"},
		"a node's failure": {500, ``, "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{dialect: "core"}
			source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
			n.update(func(n *fakeNode) { n.intercept = answerMethod("gettxout", c.status, c.text) })
			expectNoStates(t, source, c.says)
		})
	}
	for name, c := range map[string]struct {
		status     int
		text, says string
	}{
		"no state": {200, `{}`, "no state of an output"}, "null": {200, `{"spent":null}`, "no state of an output"},
		"no object": {200, `[]`, "no state of an output"}, "a word": {200, `{"spent":"yes"}`, "no state of an output"},
		"unknown": {404, `Transaction not found`, "HTTP 404"}, "a server's failure": {500, ``, "internal error"},
	} {
		t.Run("esplora, "+name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{dialect: "esplora"}
			source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
			n.update(func(n *fakeNode) {
				n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/outspend/1") {
						return s.answerPage(w, r)
					}
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.text)
					return true
				}
			})
			expectNoStates(t, source, c.says)
		})
	}
}

// expectNoStates checks that asking for two outputs is a failure of the node that says why.
func expectNoStates(t *testing.T, source *Source, says string) {
	t.Helper()
	outputs := []chain.OwnOutput{{TxID: strings.Repeat("1", 64)}, {TxID: strings.Repeat("2", 64), Index: 1}}
	states, err := source.FindOutputStates(t.Context(), outputs)
	var refused chain.Refusal
	if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
		t.Errorf("FindOutputStates = %v, %v, want a failure with %q", states, err, says)
	}
	if source.nodes.Members[0].DemotedUntil().IsZero() {
		t.Error("the node is not demoted, want others to be preferred")
	}
}
