package ethereum

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cointill/core/money"
)

// way is how a second node may be able to tell what contracts sent on: what it lacks,
// and what its URL asks for.
type way struct {
	lacks []string
	asks  string
}

func ways() map[string]way {
	return map[string]way{
		"call by call":     {nil, ""},
		"as a list":        {[]string{"debug_traceBlockByHash"}, ""},
		"balances":         {[]string{"debug_traceBlockByHash", "trace_block"}, ""},
		"every block, too": {nil, "?trace=blocks"},
	}
}

// forwarding is a chain and two nodes that show it, of which the first runs every
// block again, and whose second block has a contract send 8 wei on.
type forwarding struct {
	*fixture
	first, second *fakeNode
	address, txid string
	gains         int64 // of the address, with the block
}

// calls is what a transaction shows that sends some wei on to an address.
func calls(to string, value int64) []any {
	return []any{map[string]any{"type": "CALL", "from": "0x00000000000000000000000000000000000000aa", "to": strings.ToLower(to), "value": hexNumber(value)}}
}

func forward(t *testing.T, way string) *forwarding {
	c := newFakeChain(t)
	f := &forwarding{first: newFakeNode(t, c), second: newFakeNode(t, c), gains: 8}
	f.first.lacks, f.second.lacks = map[string]bool{}, map[string]bool{}
	for _, method := range ways()[way].lacks {
		f.second.lacks[method] = true
	}
	f.fixture = newFixture(t, c, openURLs(t, f.first.URL+"?trace=blocks", f.second.URL+ways()[way].asks))
	f.address = f.to()
	c.mine(1)
	f.step()
	c.balances = func(a account, height int64) string {
		if a.String() == f.address && height >= 2 {
			return hexNumber(1000 + f.gains)
		}
		return hexNumber(1000)
	}
	f.txid = c.send(&fakeTx{To: parse(t, c.address()), Calls: calls(f.address, 8)})
	return f
}

// traces makes the first node show other calls of every transaction.
func (f *forwarding) traces(calls []any) {
	f.first.set(func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if all, ok := result.([]any); ok && method == "debug_traceBlockByHash" {
				for _, one := range all {
					one.(map[string]any)["result"].(map[string]any)["calls"] = calls
				}
			}
			return result
		}
	})
}

// counts expects the following to go on, and so many wei to have come.
func (f *forwarding) counts(units int64) {
	f.Helper()
	f.step()
	var sum money.Amount
	for _, rows := range f.ledger.Transfers() {
		for _, r := range rows {
			if !r.Reverted {
				sum = sum.Add(r.Amount)
			}
		}
	}
	if sum.Cmp(money.Units(units)) != 0 {
		f.Errorf("%s wei came, want %d: %+v", sum, units, f.ledger.Transfers())
	}
}

// TestBorneOut (ETH-9): ether that contracts send on counts as a second node bears it
// out, by whichever way that one has. What one node alone shows, or hides while the
// other runs every block again too, stops the block.
func TestBorneOut(t *testing.T) {
	t.Parallel()
	for way := range ways() {
		for name, shown := range map[string]int64{"more": 9, "none": 0, "less": 7} {
			if name != "more" && way == "balances" || name == "none" && !strings.HasPrefix(way, "every") {
				continue // it can't know
			}
			t.Run(way+" "+name, func(t *testing.T) {
				t.Parallel()
				f := forward(t, way)
				f.traces(calls(f.address, shown))
				f.chain.mine(1)
				f.stopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
				f.first.set(func(n *fakeNode) { n.tamper = nil })
				f.counts(8)
			})
		}
		t.Run(way+" invented", func(t *testing.T) {
			t.Parallel()
			f := forward(t, way)
			other := f.to()
			f.traces(append(calls(f.address, 8), calls(other, 5)...))
			f.chain.mine(1)
			f.stopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
			f.first.set(func(n *fakeNode) { n.tamper = nil })
			f.counts(8)
		})
	}
}

// TestGained: where a second node has balances only, what is known to have come
// otherwise bears nothing out; an address that may have spent some is not held
// against them; and one that doesn't know them either stops nothing, and it is told.
func TestGained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   func(*forwarding)
		stops bool
		units int64 // that come in the end
		note  string
	}{
		"with a payment":   {func(f *forwarding) { f.gains = 20; f.chain.pay(out(f.address, 12), false) }, false, 20, ""},
		"only a payment":   {func(f *forwarding) { f.gains = 12; f.chain.pay(out(f.address, 12), false) }, true, 20, ""},
		"a failed payment": {func(f *forwarding) { f.chain.pay(out(f.address, 12), true) }, false, 8, ""},
		"it spends": {func(f *forwarding) {
			f.gains = -50
			f.chain.send(&fakeTx{From: *parse(f, f.address), To: parse(f, f.chain.address()), Value: "0x3a"})
		}, false, 8, ""},
		"it has code":   {func(f *forwarding) { f.gains = 0; f.chain.code = "ef0100" }, false, 8, ""},
		"no state":      {func(f *forwarding) { f.second.set(returns("eth_getBalance", rpcError{-32000, "missing trie node"})) }, false, 8, "neither runs block 2 again nor has the balances"},
		"null":          {func(f *forwarding) { f.second.set(returns("eth_getBalance", nil)) }, false, 8, "neither runs block 2 again nor has the balances"},
		"another block": {func(f *forwarding) { f.second.set(forked) }, false, 8, "doesn't have block 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := forward(t, "balances")
			c.set(f)
			f.chain.mine(1)
			if c.stops {
				f.stopped("Nodes 1 and 2 of 2 disagree about what block 2 holds")
				f.gains = c.units
			}
			f.counts(c.units)
			if note := f.source.Nodes(t.Context())[1].Note; !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
				t.Errorf("the note is %q, want one with %q", note, c.note)
			}
		})
	}
}

// forked makes a node name another block at height 2, as it does that heard of a
// rival of the block first.
func forked(n *fakeNode) {
	n.tamper = func(method string, result any) any {
		if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" && block["number"] == "0x2" && len(block["transactions"].([]any)) > 0 {
			block["hash"] = hash{7}.String()
		}
		return result
	}
}

// TestRequestsOfTraces: a second node is asked what contracts sent on once a block
// where it runs every block again, and else only of blocks in which some concerns us.
func TestRequestsOfTraces(t *testing.T) {
	t.Parallel()
	for way, want := range map[string][]int{"every block, too": {1, 1, 1}, "call by call": {0, 0, 1}, "balances": {0, 0, 3}} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			f := forward(t, way)
			f.chain.pending = nil
			f.chain.balances = func(_ account, height int64) string { return hexNumber(8 * height) }
			asked := func() (n int) {
				for _, method := range []string{"debug_traceBlockByHash", "eth_getBalance"} {
					n += f.second.count(method)
				}
				return n
			}
			var got []int
			for _, to := range []string{f.chain.address(), f.chain.address(), f.address} {
				for range 30 {
					f.chain.send(&fakeTx{To: parse(t, f.chain.address()), Calls: calls(f.chain.address(), 8)})
				}
				f.chain.send(&fakeTx{To: parse(t, f.chain.address()), Calls: calls(to, 8)})
				f.chain.mine(1)
				before := asked()
				f.step()
				got = append(got, asked()-before)
			}
			if !slices.Equal(got, want) {
				t.Error(fmt.Sprint(got, ", want ", want))
			}
		})
	}
}
