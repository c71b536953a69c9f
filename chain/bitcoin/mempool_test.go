package bitcoin

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
)

// payUnwatched pays a new address that is not watched.
func (b *fixture) payUnwatched() (address, txid string) {
	address = b.chain.newAddress()
	b.serial++
	txid = b.chain.sendTx(nil, chain.Output{Destination: chain.Destination{Address: address},
		Amount: money.Units(1000 + b.serial)})
	return address, txid
}

// readPending reads the mempool and returns the ids of its transactions.
func (b *fixture) readPending() map[string]bool {
	b.Helper()
	p, err := chaintest.ReadPending(b.Context(), b.source, b.watch)
	if err != nil {
		b.Fatal(err)
	}
	ids := map[string]bool{}
	for _, tx := range p.Transfers {
		ids[tx.TxID] = true
	}
	return ids
}

func newMempoolFixture(t *testing.T) (*fixture, *fakeNode) {
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "core")
	b := newFixture(t, c, n.openSource(t))
	b.mustStep()
	return b, n
}

// TestReloadingMempoolDropsNothing: while a restarted node loads its mempool, missing transactions
// are not dropped, and blocks count.
func TestReloadingMempoolDropsNothing(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	paid := b.payNewAddress()
	b.mustStep()
	if !b.readPending()[paid] {
		t.Fatal("it isn't there")
	}
	n.update(func(n *fakeNode) { n.intercept = cutOff })
	if _, err := b.source.At(t.Context()); err == nil {
		t.Fatal("a node that is down has a tip")
	}
	waiting := b.chain.pending
	n.update(func(n *fakeNode) { n.intercept, n.loading, b.chain.pending = nil, true, nil })
	b.chain.mineBlocks(1)
	b.expectProblem("still reading its mempool")
	if b.ledger.Tip() != b.chain.tipID() || slices.Contains(b.ledger.History(paid), "gone") {
		t.Errorf("at %v of %v, and the transaction was %v", b.ledger.Tip(), b.chain.tipID(), b.ledger.History(paid))
	}
	n.update(func(n *fakeNode) { n.loading, b.chain.pending = false, waiting })
	b.mustStep()
	if !b.readPending()[paid] {
		t.Error("it is lost")
	}
}

// TestAddressWatchedAfterItsTransactionIsSeen: an address is watched after a reading passed over
// its transaction, because another replica may have assigned it just before.
func TestAddressWatchedAfterItsTransactionIsSeen(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	address, txid := b.payUnwatched()
	if b.readPending()[txid] {
		t.Fatal("it is not watched")
	}
	fetched := n.countCalls("getrawtransaction")
	b.watch.AddAddresses(address)
	for range 2 {
		if !b.readPending()[txid] {
			t.Error("a transaction that was seen before its address is lost")
		}
	}
	if n.countCalls("getrawtransaction") != fetched {
		t.Error("transactions are fetched twice")
	}
	b.mustStep()
	b.chain.mineBlocks(1)
	b.mustStep()
	if got := b.ledger.History(txid); strings.Join(got, " ") != "pending confirmed" {
		t.Errorf("%v", got)
	}
}

// TestSpendWatchedAfterItsTransactionIsSeen: a spend key is watched after a reading passed over a
// transaction that uses it up.
func TestSpendWatchedAfterItsTransactionIsSeen(t *testing.T) {
	t.Parallel()
	b, _ := newMempoolFixture(t)
	_, rival := b.payUnwatched()
	b.readPending()
	b.chain.mu.Lock()
	key := b.chain.txs[rival].TxIn[0].PreviousOutPoint.String()
	b.chain.mu.Unlock()
	b.watch.AddSpends(key)
	p, err := chaintest.ReadPending(t.Context(), b.source, b.watch)
	if err != nil || len(p.Spends) != 1 || p.Spends[0] != (chain.Spend{Key: key, TxID: rival}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestUnwatchedTransactionsAreReleased: unwatched transactions are released after a while, and all
// transactions when they leave the mempool.
func TestUnwatchedTransactionsAreReleased(t *testing.T) {
	t.Parallel()
	b, _ := newMempoolFixture(t)
	b.source.timing.holdTime = 0
	for range 20 {
		b.payUnwatched()
	}
	mine := b.payNewAddress()
	pool := &b.source.mempool
	b.readPending()
	b.readPending()
	if len(pool.held) != 21 || len(pool.known) != 21 || pool.newBytes+pool.watchedBytes == 0 {
		t.Errorf("%d held, %d known, two readings after", len(pool.held), len(pool.known))
	}
	b.readPending()
	if len(pool.held) != 1 || len(pool.known) != 21 || !b.readPending()[mine] {
		t.Errorf("%d held, %d known", len(pool.held), len(pool.known))
	}
	b.chain.dropTx(mine)
	if len(b.readPending()) != 0 || len(pool.held) != 0 || len(pool.known) != 20 ||
		pool.newBytes+pool.watchedBytes != 0 {
		t.Errorf("%d held, %d known, %d bytes", len(pool.held), len(pool.known), pool.newBytes+pool.watchedBytes)
	}
	b.chain.mineBlocks(1)
	b.mustStep()
	if len(pool.known) != 0 {
		t.Errorf("%d known of an empty mempool", len(pool.known))
	}
}

// TestBigMempoolIsReadInSteps: the problem shows the progress, no snapshot is incomplete, and no
// transaction is fetched twice.
func TestBigMempoolIsReadInSteps(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	b.source.timing.maxFillTime = time.Second
	mine := b.payNewAddress()
	for range 4 * coreBatch {
		b.payUnwatched()
	}
	var batches int
	slow := func(n *fakeNode) {
		n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if body[0] != '[' {
				return false
			}
			n.mu.Lock()
			batches++
			stuck := batches%3 == 0
			n.mu.Unlock()
			return stuck && hangUntilClosed(w, r)
		}
	}
	n.update(slow)
	b.expectProblem("has a big mempool, of which 201 of 401 transactions are still to be read")
	b.expectProblem("has a big mempool, of which 1 of 401 transactions are still to be read")
	b.mustStep()
	if !b.readPending()[mine] {
		t.Error("the transaction that pays us is missing")
	}
	if got := n.countCalls("getrawtransaction"); got != 401 {
		t.Errorf("%d transactions were fetched", got)
	}
	if held := len(b.source.mempool.held); held != 200+1 &&
		held != 200 { // the transactions of the first reading, and ours
		t.Errorf("%d transactions are held", held)
	}
}

// TestTooLongBatchIsHalved: a batch that is too long for one answer is asked for in halves.
func TestTooLongBatchIsHalved(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	n.update(func(n *fakeNode) {
		n.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if strings.Count(string(body), "getrawtransaction") < 2 {
				return false
			}
			w.Header().Set("Content-Length", "1000000000")
			_, _ = w.Write([]byte("["))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	for range 5 {
		b.payNewAddress()
	}
	if p := b.readPending(); len(p) != 5 {
		t.Errorf("%v", p)
	}
}

// TestVanishedTransactionIsSkipped: a listed transaction left the mempool before it was fetched.
func TestVanishedTransactionIsSkipped(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"core", "esplora"} {
		c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
		n := newFakeNode(t, c, dialect)
		b := newFixture(t, c, n.openSource(t))
		b.mustStep()
		stays, goes := b.payNewAddress(), b.payNewAddress()
		n.update(func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				if method == "getrawmempool" || method == "mempool" {
					c.dropTx(goes)
				}
				return result
			}
		})
		if p := b.readPending(); len(p) != 1 || !p[stays] {
			t.Errorf("%s: %v", dialect, p)
		}
	}
}
