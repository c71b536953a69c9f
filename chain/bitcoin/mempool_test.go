package bitcoin

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// unwatched pays a new address that nobody watches.
func (b *fixture) unwatched() (address, txid string) {
	address = b.chain.address()
	b.serial++
	txid = b.chain.send(nil, chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(1000 + b.serial)})
	return address, txid
}

// pending reads the mempool and gives the ids of the transactions in it.
func (b *fixture) pending() map[string]bool {
	b.Helper()
	p, err := b.source.Pending(b.Context(), b.watch)
	if err != nil {
		b.Fatal(err)
	}
	ids := map[string]bool{}
	for _, tx := range p.Transfers {
		ids[tx.TxID] = true
	}
	return ids
}

func newMempool(t *testing.T) (*fixture, *fakeNode) {
	c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	n := newFakeNode(t, c, "core")
	b := newFixture(t, c, n.open(t))
	b.step()
	return b, n
}

// TestReading has a node that was restarted and reads its mempool back: what
// it lacks until then is not gone, and blocks count meanwhile.
func TestReading(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	paid := b.pay()
	b.step()
	if !b.pending()[paid] {
		t.Fatal("it isn't there")
	}
	n.set(func(n *fakeNode) { n.hijack = cutOff })
	if _, err := b.source.Tip(t.Context()); err == nil {
		t.Fatal("a node that is down has a tip")
	}
	waiting := b.chain.pending
	n.set(func(n *fakeNode) { n.hijack, n.loading, b.chain.pending = nil, true, nil })
	b.chain.mine(1)
	b.stopped("still reading its mempool")
	if b.ledger.Tip() != b.chain.tip() || slices.Contains(b.ledger.History(paid), "gone") {
		t.Errorf("at %v of %v, and the transaction was %v", b.ledger.Tip(), b.chain.tip(), b.ledger.History(paid))
	}
	n.set(func(n *fakeNode) { n.loading, b.chain.pending = false, waiting })
	b.step()
	if !b.pending()[paid] {
		t.Error("it is lost")
	}
}

// TestLateWatch watches an address only after a reading has passed over its
// transaction: another replica may have made it just before.
func TestLateWatch(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	address, txid := b.unwatched()
	if b.pending()[txid] {
		t.Fatal("it is not watched")
	}
	fetched := n.count("getrawtransaction")
	b.watch.AddAddresses(address)
	for range 2 {
		if !b.pending()[txid] {
			t.Error("a transaction that was seen before its address is lost")
		}
	}
	if n.count("getrawtransaction") != fetched {
		t.Error("transactions are fetched twice")
	}
	b.step()
	b.chain.mine(1)
	b.step()
	if got := b.ledger.History(txid); strings.Join(got, " ") != "pending confirmed" {
		t.Errorf("%v", got)
	}
}

// TestLateSpend watches a spend key only after a reading has passed over a
// transaction that uses it up.
func TestLateSpend(t *testing.T) {
	t.Parallel()
	b, _ := newMempool(t)
	_, rival := b.unwatched()
	b.pending()
	b.chain.mu.Lock()
	key := b.chain.txs[rival].TxIn[0].PreviousOutPoint.String()
	b.chain.mu.Unlock()
	b.watch.AddSpends(key)
	p, err := b.source.Pending(t.Context(), b.watch)
	if err != nil || len(p.Spends) != 1 || p.Spends[0] != (chain.Spend{Key: key, TxID: rival}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestForgets lets go of what concerns nobody after a while, and of what leaves.
func TestForgets(t *testing.T) {
	t.Parallel()
	b, _ := newMempool(t)
	b.source.pace.fresh = 0
	for range 20 {
		b.unwatched()
	}
	mine := b.pay()
	pool := &b.source.pool
	b.pending()
	b.pending()
	if len(pool.held) != 21 || len(pool.known) != 21 || pool.young+pool.ours == 0 {
		t.Errorf("%d held, %d known, two readings after", len(pool.held), len(pool.known))
	}
	b.pending()
	if len(pool.held) != 1 || len(pool.known) != 21 || !b.pending()[mine] {
		t.Errorf("%d held, %d known", len(pool.held), len(pool.known))
	}
	b.chain.drop(mine)
	if len(b.pending()) != 0 || len(pool.held) != 0 || len(pool.known) != 20 || pool.young+pool.ours != 0 {
		t.Errorf("%d held, %d known, %d bytes", len(pool.held), len(pool.known), pool.young+pool.ours)
	}
	b.chain.mine(1)
	b.step()
	if len(pool.known) != 0 {
		t.Errorf("%d known of an empty mempool", len(pool.known))
	}
}

// TestBigMempool reads it in several steps, tells how far it is, gives no picture
// that lacks something, and fetches nothing twice.
func TestBigMempool(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	b.source.pace.fill = time.Second
	mine := b.pay()
	for range 4 * coreBatch {
		b.unwatched()
	}
	var batches int
	slow := func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if body[0] != '[' {
				return false
			}
			n.mu.Lock()
			batches++
			stuck := batches%3 == 0
			n.mu.Unlock()
			return stuck && hang(w, r)
		}
	}
	n.set(slow)
	b.stopped("has a big mempool, of which 201 of 401 transactions are still to be read")
	b.stopped("has a big mempool, of which 1 of 401 transactions are still to be read")
	b.step()
	if !b.pending()[mine] {
		t.Error("the transaction that pays us is missing")
	}
	if got := n.count("getrawtransaction"); got != 401 {
		t.Errorf("%d transactions were fetched", got)
	}
	if held := len(b.source.pool.held); held != 200+1 && held != 200 { // those of the first reading, and ours
		t.Errorf("%d transactions are held", held)
	}
}

// TestLongBatch asks in halves when transactions are too big to come together.
func TestLongBatch(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	n.set(func(n *fakeNode) {
		n.hijack = func(w http.ResponseWriter, r *http.Request) bool {
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
		b.pay()
	}
	if p := b.pending(); len(p) != 5 {
		t.Errorf("%v", p)
	}
}

// TestVanishing lists a transaction that is gone when it is asked for.
func TestVanishing(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"core", "esplora"} {
		c := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
		n := newFakeNode(t, c, dialect)
		b := newFixture(t, c, n.open(t))
		b.step()
		stays, goes := b.pay(), b.pay()
		n.set(func(n *fakeNode) {
			n.tamper = func(method string, result any) any {
				if method == "getrawmempool" || method == "mempool" {
					c.drop(goes)
				}
				return result
			}
		})
		if p := b.pending(); len(p) != 1 || !p[stays] {
			t.Errorf("%s: %v", dialect, p)
		}
	}
}
