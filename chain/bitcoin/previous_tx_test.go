package bitcoin

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/core/money"
)

// TestPreviousTransactionsAreBounded: wallets like to see them, and must see those of P2PKH.
func TestPreviousTransactionsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		segwit  bool
		count   int
		size    int
		want    int  // previous transactions
		refused bool // of an order that can't be made
	}{
		"twenty":                   {true, maxPrevious, 0, maxPrevious, false},
		"one more":                 {true, maxPrevious + 1, 0, maxPrevious, false},
		"of P2PKH one more":        {false, maxPrevious + 1, 0, maxPrevious + 1, false},
		"as large as can be":       {true, 3, maxPreviousBytes / 3, 3, false},
		"a byte larger":            {true, 3, maxPreviousBytes/3 + 1, 2, false},
		"of P2PKH as large":        {false, 3, maxPreviousBytes / 3, 3, false},
		"of P2PKH a byte larger":   {false, 3, maxPreviousBytes/3 + 1, 0, true},
		"of P2PKH larger, of many": {false, maxPrevious + 1, maxPreviousBytes / maxPrevious, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{}
			source, _ := s.openDialect(t, money.Bitcoin, "core")
			o := s.sampleOrder(source.params, int64(c.count)*100_000-50_000)
			for n := range c.count {
				s.addOutput(source.params, &o, n, c.segwit, 100_000, c.size)
			}
			text, err := source.PrepareTerms(t.Context(), o, "")
			if c.refused {
				if !errors.Is(err, errManyPieces) || text != "" {
					t.Errorf("PrepareTerms = %q, %v, want %q", text, err, errManyPieces)
				}
				return
			}
			if err != nil {
				t.Fatalf("PrepareTerms = %v, want terms", err)
			}
			got := 0
			for i, in := range readPlan(t, text).Plan.Inputs {
				if len(in.Previous) > 0 {
					got++
				}
				if c.size > 0 && len(s.txs[in.TxID]) != c.size {
					t.Fatalf("previous transaction %d has %d bytes, want %d", i, len(s.txs[in.TxID]), c.size)
				}
			}
			asked := strings.Count(s.takeAsked(), "raw")
			if got != c.want || asked != min(c.count, max(maxPrevious, got)) {
				t.Errorf("%d previous transactions of %d that are asked for, want %d", got, asked, c.want)
			}
			if u, err := source.BuildUnsigned(o, text); err != nil || len(u.Files) != 2 {
				t.Errorf("BuildUnsigned = %d files, %v, want two", len(u.Files), err)
			}
		})
	}
}

// TestPreviousTransactionsComeFromBlocks where a node has no index of transactions.
func TestPreviousTransactionsComeFromBlocks(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"core", "btcd"} {
		s := &sendNode{}
		source, c := s.openDialect(t, money.Bitcoin, dialect)
		o := s.sampleOrder(source.params, 50_000)
		var txs []*wire.MsgTx
		for n, amount := range []int64{40_000, 30_000} { // each in a block of its own
			own, tx := ownOutput(source.params, n, true, amount, 0)
			c.mu.Lock()
			c.txs[own.TxID] = tx
			c.addBlock([]string{own.TxID})
			c.mu.Unlock()
			own.BlockHash = c.tipID().Hash
			o.Outputs, txs = append(o.Outputs, own), append(txs, tx)
		}
		_, terms := prepareTerms(t, source, o, "")
		for i, in := range terms.Plan.Inputs {
			if !bytes.Equal(in.Previous, wireBytes(txs[i])) {
				t.Errorf("%s: input %d has the transaction %x, want %x", dialect, i, in.Previous, wireBytes(txs[i]))
			}
		}
	}
}

// TestDamagedPreviousTransactions checks that another transaction than the one asked for is the node's failure.
func TestDamagedPreviousTransactions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dialect string
		change  func(s *sendNode, c *fakeChain, own *chain.OwnOutput)
		says    string
	}{
		"another": {"core", func(s *sendNode, _ *fakeChain, own *chain.OwnOutput) {
			s.txs[own.TxID] = wireBytes(payTo(0, wire.NewTxOut(1, nil)))
		}, "it isn't"},
		"more behind it": {"core", func(s *sendNode, _ *fakeChain, own *chain.OwnOutput) {
			s.txs[own.TxID] = append(s.txs[own.TxID], 0)
		}, "it isn't"},
		"another of Esplora": {"esplora", func(s *sendNode, _ *fakeChain, own *chain.OwnOutput) {
			s.txs[own.TxID] = wireBytes(payTo(0, wire.NewTxOut(1, nil)))
		}, "it isn't"},
		"none of Esplora": {"esplora", func(s *sendNode, _ *fakeChain, own *chain.OwnOutput) {
			delete(s.txs, own.TxID)
		}, "HTTP 404"},
		"no block": {"core", func(s *sendNode, _ *fakeChain, own *chain.OwnOutput) {
			delete(s.txs, own.TxID)
		}, "Block not found"},
		"another block": {"core", func(s *sendNode, c *fakeChain, own *chain.OwnOutput) {
			delete(s.txs, own.TxID)
			own.BlockHash = c.tipID().Hash
		}, "sent a block that is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{}
			source, chained := s.openDialect(t, money.Bitcoin, c.dialect)
			o := s.sampleOrder(source.params, 50_000, 100_000)
			c.change(s, chained, &o.Outputs[0])
			expectNodeFailure(t, source, o, c.says)
		})
	}
	for name, c := range map[string]struct {
		status     int
		text, says string
	}{
		"a number":     {200, `{"id":ID1,"result":7}`, "not hexadecimal"},
		"an odd text":  {200, `{"id":ID1,"result":"zz"}`, "not hexadecimal"},
		"a failure":    {502, ``, "internal error"},
		"a node stuck": {503, ``, "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{dialect: "core"}
			source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
			n.update(func(n *fakeNode) { n.intercept = answerMethod("getrawtransaction", c.status, c.text) })
			expectNodeFailure(t, source, s.sampleOrder(source.params, 50_000, 100_000), c.says)
		})
	}
}

// expectNodeFailure checks that an order can't be prepared for a failure of the node that says why.
func expectNodeFailure(t *testing.T, source *Source, o chain.Order, says string) {
	t.Helper()
	terms, err := source.PrepareTerms(t.Context(), o, "")
	var refused chain.Refusal
	if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), says) || terms != "" {
		t.Errorf("PrepareTerms = %q, %v, want a failure with %q", terms, err, says)
	}
	if source.nodes.Members[0].DemotedUntil().IsZero() {
		t.Error("the node is not demoted, want others to be preferred")
	}
}
