package bitcoin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// describeFound writes what was found of a transaction.
func describeFound(block chain.Block, err error) string {
	text := fmt.Sprint(block.Height)
	for _, t := range block.Transfers {
		text += fmt.Sprintf(" %s %s %d", t.Address, t.Amount, t.Index)
	}
	if err != nil {
		text += " " + err.Error()
	}
	return text
}

// TestTransactionsAreFoundByTheirIDs (SD-13) asks each kind of node, with and without an index of transactions,
// in blocks and in the mempool. Only the transaction's own transfers to watched addresses are returned.
func TestTransactionsAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	for _, coin := range []money.Chain{money.Bitcoin, money.Dogecoin} {
		for _, dialect := range dialects {
			for _, indexed := range []bool{true, false} {
				t.Run(fmt.Sprint(coin, " ", dialect, " indexed ", indexed), func(t *testing.T) {
					t.Parallel()
					c := newFakeChain(t, paramsOf(t, coin, "regtest"))
					n := newFakeNode(t, c, dialect)
					n.indexed = indexed
					source := n.openSource(t)
					watched, other := c.newAddress(), c.newAddress()
					watch := new(chain.WatchSet)
					watch.AddAddresses(watched)
					pay := func(address string, amount int64) chain.Output {
						return chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(amount)}
					}
					pays := c.sendTx(nil, pay(other, 9000), pay(watched, 5000), pay(watched, 7000))
					elsewhere := c.sendTx(nil, pay(other, 5000))
					beside := c.sendTx(nil, pay(watched, 1000))
					c.mineBlocks(3)
					spent := c.sendTx(nil, pay(watched, 3000))
					c.mineBlocks(1)
					pending := c.sendTx(nil, pay(watched, 4000))
					c.spent = []string{pays + ":0", pays + ":2", spent + ":0"}
					hidden := "0 " + chain.ErrNoTransaction.Error()
					if indexed || dialect == "esplora" {
						hidden = fmt.Sprintf("4 %s 3000 0", watched)
					}
					for name, c := range map[string]struct{ id, want string }{
						"of a block":              {pays, fmt.Sprintf("1 %s 5000 1 %s 7000 2", watched, watched)},
						"in capitals":             {strings.ToUpper(pays), fmt.Sprintf("1 %s 5000 1 %s 7000 2", watched, watched)},
						"another of the block":    {beside, fmt.Sprintf("1 %s 1000 0", watched)},
						"to others only":          {elsewhere, "1"},
						"whose outputs are spent": {spent, hidden},
						"of the mempool":          {pending, fmt.Sprintf("0 %s 4000 0 %s", watched, chain.ErrPending)},
						"unknown":                 {strings.Repeat("1", 64), "0 " + chain.ErrNoTransaction.Error()},
						"nothing":                 {"", "0 " + chain.ErrTransactionID.Error()},
						"too short":               {pays[1:], "0 " + chain.ErrTransactionID.Error()},
						"of Ethereum":             {"0x" + pays, "0 " + chain.ErrTransactionID.Error()},
					} {
						block, err := source.FindTransaction(t.Context(), c.id, watch)
						if got := describeFound(block, err); got != c.want || len(block.Spends) != 0 {
							t.Errorf("%s: FindTransaction(%q) = %s, want %s", name, c.id, got, c.want)
						}
					}
				})
			}
		}
	}
}

// TestWhatANodeSaysOfATransactionIsChecked: a transaction is where its bytes or a block's are, not where a
// node says. What isn't an answer is the node's failure.
func TestWhatANodeSaysOfATransactionIsChecked(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("b", 64)
	id := func(c *fakeChain) string { return c.blocks[1].txs[0] }
	for name, c := range map[string]struct {
		dialect string
		answers map[string]any // by method or path
		fails   int            // status of every answer to it; 0 for none
		want    string
	}{
		"in another block": {"core", map[string]any{"getrawtransaction": map[string]any{"blockhash": hash, "confirmations": 1}}, 0,
			chain.ErrUnconfirmed.Error()},
		"in a block to come": {"esplora", map[string]any{"tx": `{"confirmed":true,"block_height":9}`}, 0,
			chain.ErrUnconfirmed.Error()},
		"in another block of Esplora": {"esplora", map[string]any{"tx": `{"confirmed":true,"block_height":2}`}, 0,
			chain.ErrUnconfirmed.Error()},
		"in a block that was undone": {"core", map[string]any{"getrawtransaction": map[string]any{"blockhash": hash,
			"confirmations": 0}}, 0, chain.ErrNoTransaction.Error()},
		"deeper than the chain": {"core", map[string]any{"getrawtransaction": map[string]any{"blockhash": hash,
			"confirmations": 3}}, 0, chain.ErrNoTransaction.Error()},
		"another transaction": {"core", map[string]any{"getrawtransaction": "another"}, 0, "sent a transaction that is damaged"},
		"no transaction":      {"core", map[string]any{"getrawtransaction": "zz"}, 0, "no transaction"},
		"no bytes":            {"core", map[string]any{"getrawtransaction": map[string]any{"hex": ""}}, 0, "sent a transaction that is damaged"},
		"no hexadecimal":      {"core", map[string]any{"getrawtransaction": map[string]any{"hex": "zz"}}, 0, "not hexadecimal"},
		"no state of outputs": {"core", map[string]any{"gettxout": "zz"}, 0, "no state of an output"},
		"no state":            {"esplora", map[string]any{"tx": "zz"}, 0, "no state of a transaction"},
		"a server in trouble": {"esplora", nil, 502, "internal error"},
		"a node in trouble":   {"core", nil, 502, "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chained := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			n := newFakeNode(t, chained, c.dialect)
			source := n.openSource(t)
			address := chained.newAddress()
			watch := new(chain.WatchSet)
			watch.AddAddresses(address)
			out := chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(5000)}
			wanted := chained.sendTx(nil, out)
			chained.mineBlocks(2)
			other := fmt.Sprintf("%x", txBytes(t, chained.txs[chained.sendTx(nil, out)]))
			if _, err := source.At(t.Context()); err != nil || id(chained) != wanted {
				t.Fatalf("At = %v, and block 1 has %s; want no error and %s", err, id(chained), wanted)
			}
			n.update(func(n *fakeNode) {
				n.tamper = func(method string, result any) any {
					if c.answers[method] == "another" {
						return map[string]any{"hex": other}
					}
					if answer, known := c.answers[method]; known {
						return answer
					}
					return result
				}
				if c.answers["getrawtransaction"] != nil {
					n.script = func(call fakeCall) any { // no refusal
						if call.Method == "getrawtransaction" {
							return true
						}
						return nil
					}
				}
				if c.fails != 0 {
					n.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
						w.WriteHeader(c.fails)
						return true
					}
				}
			})
			block, err := source.FindTransaction(t.Context(), wanted, watch)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(block.Transfers) != 0 {
				t.Errorf("FindTransaction = %+v, %v, want an error with %q", block, err, c.want)
			}
		})
	}
}

// TestAnotherNodeKnowsTheTransaction: nodes without an index are helped by one that has it, and a node's
// failure isn't taken for the lack of the transaction.
func TestAnotherNodeKnowsTheTransaction(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	first, second := newFakeNode(t, c, "core"), newFakeNode(t, c, "core")
	second.indexed = true
	source := first.openSource(t, second)
	address := c.newAddress()
	watch := new(chain.WatchSet)
	watch.AddAddresses(address)
	paid := c.sendTx(nil, chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(5000)})
	c.mineBlocks(1)
	c.spent = []string{paid + ":0"}
	source.nodes.CheckAll(t.Context())
	if block, err := source.FindTransaction(t.Context(), paid, watch); err != nil || len(block.Transfers) != 1 {
		t.Errorf("FindTransaction = %+v, %v, want the transfer that the second node's index finds", block, err)
	}
	second.update(func(n *fakeNode) {
		n.script = func(call fakeCall) any {
			if slices.Contains([]string{"getrawtransaction", "gettxout"}, call.Method) {
				return &rpcError{-32601, "Method not found"}
			}
			return nil
		}
	})
	block, err := source.FindTransaction(t.Context(), paid, watch)
	if err == nil || errors.Is(err, chain.ErrNoTransaction) || !strings.Contains(err.Error(), "refuses getrawtransaction") {
		t.Errorf("of nodes of which one refuses FindTransaction = %+v, %v, want its failure", block, err)
	}
}
