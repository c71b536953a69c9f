package ethereum

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
)

// TestCallMovesItsValue (ETH-9) checks which frames of callTracer send their value: calls,
// creations and self-destructions with a value above zero to another account.
func TestCallMovesItsValue(t *testing.T) {
	t.Parallel()
	to, self, value, zero := account{1}, account{2}, wei{31: 5}, wei{}
	for name, c := range map[string]struct {
		frame callFrame
		want  bool
	}{
		"a call":              {callFrame{Type: "CALL", From: self, To: &to, Value: &value}, true},
		"CREATE":              {callFrame{Type: "CREATE", From: self, To: &to, Value: &value}, true},
		"CREATE2":             {callFrame{Type: "CREATE2", From: self, To: &to, Value: &value}, true},
		"a self-destruction":  {callFrame{Type: "SELFDESTRUCT", From: self, To: &to, Value: &value}, true},
		"DELEGATECALL":        {callFrame{Type: "DELEGATECALL", From: self, To: &to, Value: &value}, false},
		"no recipient":        {callFrame{Type: "CALL", From: self, Value: &value}, false},
		"no value":            {callFrame{Type: "CALL", From: self, To: &to}, false},
		"a value of zero":     {callFrame{Type: "CALL", From: self, To: &to, Value: &zero}, false},
		"a call to itself":    {callFrame{Type: "CALL", From: self, To: &self, Value: &value}, false},
		"a type in lowercase": {callFrame{Type: "call", From: self, To: &to, Value: &value}, false},
	} {
		if got := c.frame.movesValue(); got != c.want {
			t.Errorf("%s moves its value: %v, want %v", name, got, c.want)
		}
	}
}

// TestFlatTraceMovesItsValue (ETH-9) checks the same for the traces of trace_block.
func TestFlatTraceMovesItsValue(t *testing.T) {
	t.Parallel()
	const (
		call    = `{"type":"call","action":{"callType":"call","from":"A","to":"B","value":"0x5"}}`
		created = `{"type":"create","action":{"from":"A","value":"0x5"},"result":{"address":"B"}}`
		ended   = `{"type":"suicide","action":{"address":"A","refundAddress":"B","balance":"0x5"}}`
	)
	for _, c := range []struct {
		text, old, new string
		want           bool
	}{
		{call, "", "", true},
		{call, `"callType":"call"`, `"callType":"staticcall"`, false},
		{call, `"type":"call"`, `"type":"reward"`, false},
		{call, `"from":"A",`, ``, false},
		{call, `"to":"B",`, ``, false},
		{call, `,"value":"0x5"`, ``, false},
		{call, `"0x5"`, `"0x0"`, false},
		{call, `"to":"B"`, `"to":"A"`, false},
		{created, "", "", true},
		{created, `,"result":{"address":"B"}`, ``, false},
		{created, `{"address":"B"}`, `{}`, false},
		{created, `"type":"create"`, `"type":"other"`, false},
		{ended, "", "", true},
		{ended, "suicide", "selfdestruct", true},
		{ended, "suicide", "other", false},
		{ended, `"address":"A",`, ``, false},
	} {
		text := strings.NewReplacer(`"A"`, `"`+account{1}.String()+`"`, `"B"`, `"`+account{2}.String()+`"`).
			Replace(strings.Replace(c.text, c.old, c.new, 1))
		var s flatTrace
		if err := (rpc.Response{Result: []byte(text)}).DecodeInto(&s); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		from, to, value := s.movedValue()
		if (to != nil) != c.want || c.want && (*from != account{1} || *to != account{2} || *value != wei{31: 5}) {
			t.Errorf("%s sends %v from %v to %v, want that it sends 5: %v", text, value, from, to, c.want)
		}
	}
}

// TestFlatTracesNameEveryTransaction (ETH-13) checks the order of the traces of trace_block: those
// of each transaction, then block rewards, and nothing else.
func TestFlatTracesNameEveryTransaction(t *testing.T) {
	t.Parallel()
	for sequence, fine := range map[string]bool{"": false, "1": false, "12": true, "1122": true, "12r": true, "12rr": true,
		"1122r": true, "12r2": false, "12r1": false, "r12": false, "1r2": false, "21": false, "121": false, "123": false,
		"3": false} {
		name := hash{9}
		block := &fullBlock{header: header{Hash: &name}, Transactions: transactions{{Hash: hash{1}}, {Hash: hash{2}}}}
		all := []any{}
		for _, of := range sequence {
			step := map[string]any{"type": "call", "action": map[string]any{}, "blockHash": name.String(),
				"traceAddress": []int{}}
			if of != 'r' {
				step["transactionHash"] = hash{byte(of - '0')}.String()
			}
			all = append(all, step)
		}
		body, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		r := &transferFinder{params: testParams(), watch: &chain.WatchSet{Codec: Codec()}}
		if err := r.addFlatTraces(block, rpc.Response{Result: body}); (err == nil) != fine {
			t.Errorf("traces %q of the transactions 1 and 2: error %v, want accepted: %v", sequence, err, fine)
		}
	}
}

// newTracedBlock returns a block of two transactions with its traces by callTracer. The first
// transaction sends 5 wei to a watched address.
func newTracedBlock(t *testing.T) (*fullBlock, *chain.WatchSet, []any) {
	t.Helper()
	c := newFakeChain(t)
	to := c.newAccount()
	watch := &chain.WatchSet{Codec: Codec()}
	watch.AddAddresses(to.String())
	c.sendTx(&fakeTx{To: &account{1}, Calls: callsSending(to.String(), 5)})
	c.sendTx(&fakeTx{To: &account{1}, Calls: []any{}})
	c.mineBlocks(1)
	body, err := json.Marshal(blockJSON(&c.blocks[1], true))
	if err != nil {
		t.Fatal(err)
	}
	block, err := decodeBlock(rpc.Response{Result: body}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return block, watch, tracesJSON(&c.blocks[1])
}

// TestCallTracesMustBeComplete (ETH-13) checks that traces by callTracer count only if each is
// complete and of its transaction.
func TestCallTracesMustBeComplete(t *testing.T) {
	t.Parallel()
	trace := func(all []any, i int) map[string]any { return all[i].(map[string]any) }
	result := func(all []any, i int) map[string]any { return trace(all, i)["result"].(map[string]any) }
	first := func(all []any) map[string]any { return result(all, 0)["calls"].([]any)[0].(map[string]any) }
	for name, c := range map[string]struct {
		change func(all []any)
		want   string // the amounts, or words of the error
	}{
		"unchanged": {func([]any) {}, "[5]"},
		"a trace of another one": {func(all []any) {
			trace(all, 1)["txHash"] = hash{9}.String()
		}, "don't fit together"},
		"a trace without a type":         {func(all []any) { delete(result(all, 1), "type") }, "don't fit together"},
		"a call without a type":          {func(all []any) { delete(first(all), "type") }, "not as a node's"},
		"a call with a decimal value":    {func(all []any) { first(all)["value"] = 5 }, "not as a node's"},
		"a reverted call":                {func(all []any) { first(all)["error"] = "out of gas" }, "[]"},
		"a reverted transaction":         {func(all []any) { result(all, 0)["error"] = "out of gas" }, "[]"},
		"an unreadable trace at its end": {func(all []any) { all[1] = 7 }, "not as a node's"},
	} {
		block, watch, all := newTracedBlock(t)
		c.change(all)
		body, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		r := &transferFinder{params: testParams(), watch: watch}
		err = r.addCallTraces(block, rpc.Response{Result: body})
		amounts := []string{}
		for _, one := range r.transfers {
			amounts = append(amounts, one.Amount.String())
			if one.TxID != block.Transactions[0].txID() || len(one.Spends) != 1 {
				t.Errorf("%s: found %+v, want the id and spend key of the first transaction", name, one)
			}
		}
		got := fmt.Sprint(amounts)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestFailingTraceMethodIsNotMissing checks that a node whose traces fail for another reason than
// a missing method keeps its method, and that the block is read again.
func TestFailingTraceMethodIsNotMissing(t *testing.T) {
	t.Parallel()
	for method, lacks := range map[string]string{"debug_traceBlockByHash": "trace_block",
		"trace_block": "debug_traceBlockByHash"} {
		c := newFakeChain(t)
		n := newFakeNode(t, c)
		n.lacks = map[string]bool{lacks: true}
		b := newFixture(t, c, openURLs(t, n.URL+"?trace=blocks"))
		b.followToTip()
		txid := c.sendTx(&fakeTx{To: &account{1}, Calls: callsSending(b.watchNewAddress(), 8)})
		c.mineBlocks(1)
		n.setBehaviour(answerMethod(method, rpc.Error{Code: -32000, Message: "execution timeout"}))
		b.expectStopped("refuses a request")
		n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
		b.followToTip()
		if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
			t.Errorf("%s: the internal transfer afterwards = %+v, want one", method, rows)
		}
	}
}
