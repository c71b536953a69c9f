package bitcoin

import (
	"testing"
	"time"

	"cointill/core/clock"
)

// TestFirstFill reads a mempool that is many times as big as what is held because
// it is new: whole at the second reading, with every transaction whose address
// became known in between, whether it was held or left to that reading.
func TestFirstFill(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	pool := &b.source.pool
	pool.most = 20_000
	held, _ := b.unwatched()
	for range 10 * coreBatch {
		b.unwatched()
	}
	left, _ := b.unwatched()
	b.stopped("has a big mempool, of which ")
	if pool.young < pool.most || pool.young > 3*pool.most {
		t.Errorf("%d bytes are held, of %d", pool.young, pool.most)
	}
	b.watch.AddAddresses(held, left)
	if got := len(b.pending()); got != 2 {
		t.Errorf("%d of 2 payments are seen", got)
	}
	if pool.young > 0 || len(pool.held) != 2 {
		t.Errorf("%d transactions are held, %d bytes without need", len(pool.held), pool.young)
	}
	if got := n.count("getrawtransaction"); got != 10*coreBatch+2 {
		t.Errorf("%d transactions were fetched", got)
	}
	late, txid := b.unwatched() // what comes later is held as always
	b.pending()
	b.watch.AddAddresses(late)
	if !b.pending()[txid] {
		t.Error("a transaction that was seen before its address is lost")
	}
}

// TestFlood has more new transactions at each reading than are held: pictures
// come all the same, at every second reading.
func TestFlood(t *testing.T) {
	t.Parallel()
	b, _ := newMempool(t)
	b.source.pool.most = 10_000
	mine := b.pay()
	pictures := 0
	for i := range 6 {
		if i%2 == 0 {
			for range 3 * coreBatch {
				b.unwatched()
			}
		}
		if p, err := b.source.Pending(t.Context(), b.watch); err == nil {
			pictures++
			if len(p.Transfers) != 1 || p.Transfers[0].TxID != mine {
				t.Errorf("%+v", p)
			}
		}
	}
	if pictures < 3 {
		t.Errorf("%d pictures at 6 readings", pictures)
	}
}

// TestRestAfter keeps the rest after a listing in proportion.
func TestRestAfter(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		30 * time.Millisecond:  300 * time.Millisecond,
		100 * time.Millisecond: time.Second,
		200 * time.Millisecond: time.Second,
		300 * time.Millisecond: 2 * time.Second,
		time.Second:            2 * time.Second,
		3 * time.Second:        6 * time.Second,
	} {
		if got := restAfter(took); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}

// TestRest reads a list that takes long no more often than it must.
func TestRest(t *testing.T) {
	t.Parallel()
	b, n := newMempool(t)
	now := clock.NewFake(time.Now())
	b.source.clock, b.source.pace.quick = now.Now, 25*time.Millisecond
	listing := func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if method == "getrawmempool" {
				now.Advance(3 * time.Second)
			}
			return result
		}
	}
	n.set(listing)
	first := b.pay()
	if !b.pending()[first] {
		t.Fatal("not seen")
	}
	second := b.pay()
	now.Advance(5 * time.Second)
	if p := b.pending(); !p[first] || p[second] {
		t.Errorf("%v: the list was read again at once", p)
	}
	now.Advance(time.Second)
	if !b.pending()[second] {
		t.Error("not seen after twice as long as a listing takes")
	}
	third := b.pay()
	now.Advance(3 * time.Second)
	if b.pending()[third] {
		t.Error("the list was read early")
	}
	b.source.heard(txBytes(t, b.chain.txs[third])) // a push that is not believed, but looked into
	if !b.pending()[third] {
		t.Error("the list was not read early though a node pushed a payment to us")
	}
	b.chain.mine(1)
	fourth := b.pay()
	b.step()
	if !b.pending()[fourth] {
		t.Error("the picture of before the block was used")
	}
}
