package e2e

import (
	"testing"
	"time"

	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// etherReorgs undoes some blocks of some depths.
func etherReorgs(x *etherTill) {
	for _, depth := range []int{1, 5, 11} {
		etherReorg(x, depth)
	}
}

// etherReorg undoes so many blocks, the deepest of which holds a payment in ether and
// one in USDT. What wasn't final waits again, until another block holds it; what was
// stays, and is flagged until it is final again.
func etherReorg(x *etherTill, depth int) {
	final := depth >= etherDepth
	orders := []etherOrder{x.order(inEther, 25), x.order(inUSDT, 25)}
	send := []func(etherOrder) string{func(o etherOrder) string { return x.ether(o, o.due) }, func(o etherOrder) string { return x.token(o, o.due) }}
	hashes := make([]string, len(orders))
	for i, o := range orders {
		hashes[i] = send[i](o)
	}
	x.node.Mine(depth)
	for _, o := range orders {
		x.reach(o.order, map[bool]string{true: "successful", false: "processing"}[final], "")
	}
	x.node.Reorg(depth)
	again := x.node.HasSucceeded(hashes[0]) && x.node.HasSucceeded(hashes[1]) // the new branch took them already
	want := []string{"initiated", "detected", "processing", "successful"}
	if !again {
		want = append(want, "reversed", "restored") // the same transaction is mined once more
	}
	for i, o := range orders {
		if !again && final {
			x.reach(o.order, "successful", "reversed")
		} else if !again {
			x.reach(o.order, "initiated", "reorged")
		}
		if !x.node.IsKnown(hashes[i]) { // the node forgot it with the block
			hashes[i] = send[i](o)
		}
	}
	x.mined()
	for i, o := range orders {
		if final {
			x.told(o.order, want...)
			if now := x.VerifyPayment(o.Reference); now.Status != "successful" || now.Reversed {
				x.t.Errorf("%d blocks were undone, and the payment is %+v, want successful and not reversed", depth, now)
			}
			continue
		}
		x.paid(o, hashes[i])
		if now := x.VerifyPayment(o.Reference); now.Reversed {
			x.t.Errorf("%+v", now)
		}
	}
}

// TestEtherReorgs (BTC-4) undoes 1 to 20 blocks: what wasn't final goes back and is
// found again, and what was is flagged as reversed until it is final again.
func TestEtherReorgs(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartAnvil(t), true, "http://HOST?stream=ws://WS")
	x.node.Mine(25)
	for depth := 1; depth <= 20; depth++ {
		began := time.Now()
		etherReorg(x, depth)
		t.Logf("%d blocks took %s", depth, time.Since(began).Round(time.Millisecond))
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestEtherFork: go-ethereum goes over to another branch, and tells over its websocket
// that logs are gone. There the same transaction pays somebody else: whom it paid
// before has nothing, and is not paid twice when the fork is over.
func TestEtherFork(t *testing.T) {
	t.Parallel()
	x := newEtherTill(t, evm.StartGeth(t), false, "http://HOST?stream=ws://WS")
	x.node.CollectLogs(x.usdt)
	// The price moves every ten seconds, so two orders may ask for different amounts. These
	// always do, and the transaction moves what the order asks for that it pays in the end.
	before, after := x.order(inUSDT, 25), x.order(inUSDT, 26)
	x.node.Mine(1)
	even, odd := before, after
	if (x.node.Height()+1)%2 == 1 {
		even, odd = after, before
	}
	hash := x.call("moody(address,address,uint256)", even.address, odd.address, after.due)
	x.node.Mine(1)
	x.reach(before.order, "processing", "")
	x.node.Reorg(2) // the new branch takes it one block earlier
	if !x.node.HasSucceeded(hash) {
		t.Fatal("the new branch doesn't hold the transaction")
	}
	removed := 0
	harness.WaitFor(t, time.Minute, "the websocket to tell of the removed log", func() bool {
		removed = 0
		for _, one := range x.node.ListLogs() {
			if one.Removed && one.Tx == hash {
				removed++
			}
		}
		return removed > 0
	})
	x.reach(after.order, "processing", "")
	x.mined()
	x.paid(after, hash)
	x.once(after)
	if now := x.VerifyPayment(before.Reference); now.Status != "initiated" || len(now.Transfers) > 0 || now.Transaction.AmountPaid != "0.00" {
		t.Errorf("%+v", now)
	}
	hash = x.token(before, before.due)
	x.mined()
	x.paid(before, hash)
	x.once(before)
}
