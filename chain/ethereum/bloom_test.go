package ethereum

import (
	"encoding/binary"
	"strings"
	"testing"

	"cointill/chain/ethereum/params"
)

// noLogs makes a node hide every log, by whichever method it is asked.
func noLogs(n *fakeNode) {
	spoilLogs(func([]map[string]any) []map[string]any { return []map[string]any{} })(n)
}

// TestBloom (ETH-13): a node that hides the token's logs while its block tells of some
// is not believed, whichever way its receipts are read; where there is another, that
// one is.
func TestBloom(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fakeNode){"receipts": usual, "one by one": frugal} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			change(n)
			b := newFixture(t, c, n.open(t))
			b.step()
			txid := c.token(out(b.to(), 6))
			c.mine(1)
			n.set(noLogs)
			b.stopped("don't fit together")
			n.set(func(n *fakeNode) { n.tamper = nil })
			b.step()
			if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
				t.Errorf("%+v", rows)
			}
		})
	}
	for wrong := range 2 {
		c := newFakeChain(t)
		nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
		b := newFixture(t, c, nodes[0].open(t, nodes[1]))
		b.step()
		nodes[wrong].set(noLogs)
		txid := c.token(out(b.to(), 6))
		c.mine(1)
		if wrong == 0 {
			b.stopped("Node 1 of 2 gives parts of block 1 that don't fit together")
		}
		b.step()
		note := b.source.Nodes(t.Context())[wrong].Note
		if rows := b.ledger.Transfers()[txid]; len(rows) != 1 || !strings.Contains(note, "doesn't confirm them") {
			t.Errorf("node %d is wrong: %+v, its note %q", wrong+1, rows, note)
		}
	}
}

// TestBloomByChance: a bloom that tells of the token only by the bits of other logs
// stops nothing.
func TestBloomByChance(t *testing.T) {
	t.Parallel()
	b := single(t)
	token := account(b.chain.params.Token)
	l := fakeLog{Address: account{1}, Topics: []hash{transferEvent}}
	bloom := make([]byte, bloomSize)
	setBloom(bloom, transferEvent[:])
	for i := uint64(0); !inBloom(bloom, token[:]); i++ {
		topic := hash(params.Keccak(binary.BigEndian.AppendUint64(nil, i)))
		for _, bit := range bits(topic[:]) {
			for _, its := range bits(token[:]) {
				if bit == its {
					l.Topics = append(l.Topics, topic)
					setBloom(bloom, topic[:])
				}
			}
		}
	}
	b.chain.send(&fakeTx{To: &account{1}, Logs: []fakeLog{l}})
	b.mined(b.chain.pay(out(b.to(), 5), false))
	mentioned := header{Bloom: bloomOf(&b.chain.blocks[1])}
	if !mentioned.mentions(token) {
		t.Error("the bloom doesn't tell of the token")
	}
}

// TestNoTransactions: a block without a list of them is no empty block, whatever its
// receipts are.
func TestNoTransactions(t *testing.T) {
	t.Parallel()
	for _, other := range []any{nil, "absent"} {
		c := newFakeChain(t)
		n := newFakeNode(t, c)
		b := newFixture(t, c, n.open(t))
		b.step()
		txid := c.pay(out(b.to(), 5), false)
		c.mine(1)
		n.set(func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				block, ok := result.(map[string]any)
				switch {
				case method == "eth_getBlockReceipts":
					return []any{}
				case ok && other == nil:
					block["transactions"] = nil
				case ok:
					delete(block, "transactions")
				}
				return result
			}
		})
		b.stopped("don't fit together")
		n.set(func(n *fakeNode) { n.tamper = nil })
		b.step()
		if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
			t.Errorf("%+v", rows)
		}
	}
}
