package bitcoin

import (
	"testing"
	"time"

	"cointill/chain/chaintest"
	"cointill/core/clock"
)

// TestBigMempoolMissesNoLateAddress: a mempool many times as big as the bound on new bytes is
// complete at the second reading. It contains every transaction whose address was added in between,
// whether the transaction was held or left to that reading.
func TestBigMempoolMissesNoLateAddress(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	pool := &b.source.mempool
	pool.maxNewBytes = 20_000
	held, _ := b.payUnwatched()
	for range 10 * coreBatch {
		b.payUnwatched()
	}
	left, _ := b.payUnwatched()
	b.expectProblem("has a big mempool, of which ")
	if pool.newBytes < pool.maxNewBytes || pool.newBytes > 3*pool.maxNewBytes {
		t.Errorf("%d bytes are held, of %d", pool.newBytes, pool.maxNewBytes)
	}
	b.watch.AddAddresses(held, left)
	if got := len(b.readPending()); got != 2 {
		t.Errorf("%d of 2 payments are seen", got)
	}
	if pool.newBytes > 0 || len(pool.held) != 2 {
		t.Errorf("%d transactions are held, %d bytes without need", len(pool.held), pool.newBytes)
	}
	if got := n.countCalls("getrawtransaction"); got != 10*coreBatch+2 {
		t.Errorf("%d transactions were fetched", got)
	}
	late, txid := b.payUnwatched() // later transactions are held as usual
	b.readPending()
	b.watch.AddAddresses(late)
	if !b.readPending()[txid] {
		t.Error("a transaction that was seen before its address is lost")
	}
}

// TestFloodStillGivesSnapshots: with more new transactions at each reading than are held, every
// second reading still gives a snapshot.
func TestFloodStillGivesSnapshots(t *testing.T) {
	t.Parallel()
	b, _ := newMempoolFixture(t)
	b.source.mempool.maxNewBytes = 10_000
	mine := b.payNewAddress()
	pictures := 0
	for i := range 6 {
		if i%2 == 0 {
			for range 3 * coreBatch {
				b.payUnwatched()
			}
		}
		if p, err := chaintest.ReadPending(t.Context(), b.source, b.watch); err == nil {
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

// TestRestGrowsWithTheListingTime: the rest after a listing is proportional to its duration.
func TestRestGrowsWithTheListingTime(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		30 * time.Millisecond:  300 * time.Millisecond,
		100 * time.Millisecond: time.Second,
		200 * time.Millisecond: time.Second,
		300 * time.Millisecond: 2 * time.Second,
		time.Second:            2 * time.Second,
		3 * time.Second:        6 * time.Second,
	} {
		if got := restAfterListing(took); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}

// TestSlowListingIsNotRepeatedEarly: a slow listing is repeated no more often than necessary.
func TestSlowListingIsNotRepeatedEarly(t *testing.T) {
	t.Parallel()
	b, n := newMempoolFixture(t)
	now := clock.NewFake(time.Now())
	b.source.clock, b.source.timing.quickListing = now.Now, 25*time.Millisecond
	listing := func(n *fakeNode) {
		n.tamper = func(method string, result any) any {
			if method == "getrawmempool" {
				now.Advance(3 * time.Second)
			}
			return result
		}
	}
	n.update(listing)
	first := b.payNewAddress()
	if !b.readPending()[first] {
		t.Fatal("not seen")
	}
	second := b.payNewAddress()
	now.Advance(5 * time.Second)
	if p := b.readPending(); !p[first] || p[second] {
		t.Errorf("%v: the list was read again at once", p)
	}
	now.Advance(time.Second)
	if !b.readPending()[second] {
		t.Error("not seen after twice as long as a listing takes")
	}
	third := b.payNewAddress()
	now.Advance(3 * time.Second)
	if b.readPending()[third] {
		t.Error("the list was read early")
	}
	b.source.handlePush(txBytes(t, b.chain.txs[third])) // a pushed transaction, which is parsed but not trusted
	if !b.readPending()[third] {
		t.Error("the list was not read early though a node pushed a payment to us")
	}
	b.chain.mineBlocks(1)
	fourth := b.payNewAddress()
	b.mustStep()
	if !b.readPending()[fourth] {
		t.Error("the picture of before the block was used")
	}
}
