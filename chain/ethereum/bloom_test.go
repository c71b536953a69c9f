package ethereum

import (
	"encoding/binary"
	"strings"
	"testing"

	"cointill/chain/abi"
)

// hideLogs makes a node hide every log in all methods.
func hideLogs(n *fakeNode) {
	changeLogs(func([]map[string]any) []map[string]any { return []map[string]any{} })(n)
}

// TestHiddenTokenLogsAreNoticed (ETH-13) checks that a node is not trusted if it hides the token's
// logs while the block's bloom contains them, whichever way its receipts are read. Another node is
// used if there is one.
func TestHiddenTokenLogsAreNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fakeNode){"receipts": keepDefaults, "one by one": limitMethods} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFakeChain(t)
			n := newFakeNode(t, c)
			change(n)
			b := newFixture(t, c, n.openSource(t))
			b.followToTip()
			txid := c.sendTokens(outputTo(b.watchNewAddress(), 6))
			c.mineBlocks(1)
			n.setBehaviour(hideLogs)
			b.expectStopped("don't fit together")
			n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
			b.followToTip()
			if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
				t.Errorf("rows %+v after the logs are shown again, want 1", rows)
			}
		})
	}
	for wrong := range 2 {
		c := newFakeChain(t)
		nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
		b := newFixture(t, c, nodes[0].openSource(t, nodes[1]))
		b.followToTip()
		nodes[wrong].setBehaviour(hideLogs)
		txid := c.sendTokens(outputTo(b.watchNewAddress(), 6))
		c.mineBlocks(1)
		if wrong == 0 {
			b.expectStopped("Node 1 of 2 gives parts of block 1 that don't fit together")
		}
		b.followToTip()
		note := b.source.Nodes(t.Context())[wrong].Note
		if rows := b.ledger.Transfers()[txid]; len(rows) != 1 || !strings.Contains(note, "without its confirmation") {
			t.Errorf("node %d is wrong: %+v, its note %q", wrong+1, rows, note)
		}
	}
}

// TestBloomFalsePositiveStopsNothing checks that a bloom that contains the token only by the bits
// of other logs stops nothing.
func TestBloomFalsePositiveStopsNothing(t *testing.T) {
	t.Parallel()
	b := newSingleFixture(t)
	token := account(b.chain.params.Token)
	l := fakeLog{Address: account{1}, Topics: []hash{transferEvent}}
	bloom := make([]byte, bloomSize)
	setBloom(bloom, transferEvent[:])
	for i := uint64(0); !bloomContains(bloom, token[:]); i++ {
		topic := hash(abi.Keccak(binary.BigEndian.AppendUint64(nil, i)))
		for _, bit := range bloomBits(topic[:]) {
			for _, its := range bloomBits(token[:]) {
				if bit == its {
					l.Topics = append(l.Topics, topic)
					setBloom(bloom, topic[:])
				}
			}
		}
	}
	b.chain.sendTx(&fakeTx{To: &account{1}, Logs: []fakeLog{l}})
	b.mineAndFind(b.chain.sendEther(outputTo(b.watchNewAddress(), 5), false))
	mentioned := header{Bloom: blockBloom(&b.chain.blocks[1])}
	if !mentioned.mayHaveTokenLogs(token) {
		t.Error("the bloom doesn't tell of the token")
	}
}

// TestBlockNeedsTransactionList checks that a block without a list of transactions is not treated
// as an empty block, whatever its receipts are.
func TestBlockNeedsTransactionList(t *testing.T) {
	t.Parallel()
	for _, other := range []any{nil, "absent"} {
		c := newFakeChain(t)
		n := newFakeNode(t, c)
		b := newFixture(t, c, n.openSource(t))
		b.followToTip()
		txid := c.sendEther(outputTo(b.watchNewAddress(), 5), false)
		c.mineBlocks(1)
		n.setBehaviour(func(n *fakeNode) {
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
		b.expectStopped("don't fit together")
		n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
		b.followToTip()
		if rows := b.ledger.Transfers()[txid]; len(rows) != 1 {
			t.Errorf("rows %+v after the block has its transactions again, want 1", rows)
		}
	}
}
