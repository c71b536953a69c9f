package bitcoin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain/chaintest"
	"cointill/core/money"
)

// someIDs returns ids of transactions that no node has.
func someIDs(count int) (ids []chainhash.Hash) {
	for i := range count {
		ids = append(ids, chainhash.DoubleHashH(fmt.Appendf(nil, "%d", i)))
	}
	return ids
}

// manyNames returns an object with as many names as fit.
func manyNames(size int) []byte {
	var text bytes.Buffer
	text.WriteString(`{"x":{"":0`)
	for i := 0; text.Len() < size-30; i++ {
		fmt.Fprintf(&text, `,"%x":0`, i)
	}
	text.WriteString("}}")
	return text.Bytes()
}

// TestHostileAnswersTakeBoundedMemory: answers that are made to fill memory cost a few times the
// longest honest answer. The test runs alone.
func TestHostileAnswersTakeBoundedMemory(t *testing.T) {
	const most = 100 << 20
	ids := someIDs(coreBatch)
	txs := func(b backend) func(context.Context) error {
		return func(ctx context.Context) error { _, err := b.fetchTxs(ctx, ids); return err }
	}
	block := func(b backend) func(context.Context) error {
		return func(ctx context.Context) error { _, err := b.fetchBlock(ctx, ids[0].String()); return err }
	}
	list := func(b backend) func(context.Context) error {
		return func(ctx context.Context) error { _, err := b.listMempool(ctx); return err }
	}
	for _, c := range []struct {
		name, dialect string
		ask           func(backend) func(context.Context) error
		answer        []byte
	}{
		{"many empty replies", "core", txs, chaintest.FillBytes(32<<20, "[", "{},", "{}]")},
		{"many empty replies in bounds", "core", txs, chaintest.FillBytes(8<<20, "[", "{},", "{}]")},
		{"a reply with many names", "core", txs, append(append([]byte("["), manyNames(8<<20)...), ']')},
		{"one long reply", "core", txs, chaintest.FillBytes(8<<20, `[{"result":"`, "00", `","id":1}]`)},
		{"a long block", "core", block, chaintest.FillBytes(32<<20, `{"result":"`, "00", `","id":1}`)},
		{"an answer with many names", "core", block, manyNames(8 << 20)},
		{"a list with many names", "core", list, manyNames(8 << 20)},
		{"long transactions", "esplora", txs, make([]byte, 32<<20)},
		{"long transactions in bounds", "esplora", txs, make([]byte, maxRaw)},
		{"a long block of Esplora's", "esplora", block, make([]byte, 32<<20)},
	} {
		n := newFakeNode(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")), c.dialect)
		ask := c.ask(n.openSource(t).nodes.Members[0].backend)
		n.update(func(n *fakeNode) {
			n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Length", fmt.Sprint(len(c.answer)))
				_, _ = w.Write(c.answer)
				return true
			}
		})
		var err error
		if got := chaintest.AllocatedBytes(func() { err = ask(t.Context()) }); got > most {
			t.Errorf("%s: %d MB were allocated (error %v)", c.name, got>>20, err)
		}
	}
}

// TestEsploraTransactionsFitBoundedMemory: the first transactions of Esplora that fit into bounded
// memory are read, in their order and without a gap.
func TestEsploraTransactionsFitBoundedMemory(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")), "esplora")
	ids := someIDs(64)
	n.update(func(n *fakeNode) {
		n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = w.Write(append([]byte(strings.Split(r.URL.Path, "/")[3]), make([]byte, maxRaw/10)...))
			return true
		}
	})
	raws, err := n.openSource(t).nodes.Members[0].fetchTxs(t.Context(), ids)
	if err != nil || len(raws) < 9 || len(raws) > 10+esploraWorkers {
		t.Fatalf("%d transactions, %v", len(raws), err)
	}
	for i, raw := range raws {
		if !bytes.HasPrefix(raw, []byte(ids[i].String())) {
			t.Errorf("transaction %d is another", i)
		}
	}
}

// TestTooManyWatchedBytesAreRefused: a node with more watched transactions than possible is
// refused.
func TestTooManyWatchedBytesAreRefused(t *testing.T) {
	t.Parallel()
	b, _ := newMempoolFixture(t)
	b.source.mempool.watchedBytes = watchedBytesLimit // as if they were held
	b.payNewAddress()
	b.expectProblem("more unconfirmed transactions that pay to this server than there can be")
}

// TestShownVersionIsPrintableASCII: the version that a node reports can forge no line.
func TestShownVersionIsPrintableASCII(t *testing.T) {
	t.Parallel()
	for said, shown := range map[string]string{
		"/Satoshi:29.0.0(a comment)/":            "Satoshi:29.0.0(a comment)",
		"/\x1b[2J\x1b[Hbitcoin-mainnet\tlive\n/": "?[2J?[Hbitcoin-mainnet?live?",
		"/Köln\u202e\u009b/":                     "K?ln??",
		strings.Repeat("x", 1000):                strings.Repeat("x", 100),
	} {
		n := newFakeNode(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")), "core")
		n.tamper = func(method string, result any) any {
			if method == "getnetworkinfo" {
				return map[string]any{"subversion": said}
			}
			return result
		}
		st := n.openSource(t).Nodes(t.Context())[0]
		if st.Version != shown || st.Dialect != "core" || st.Problem != "" {
			t.Errorf("%q: %+v", said, st)
		}
		if _, err := json.Marshal(st); err != nil {
			t.Error(err)
		}
	}
}
