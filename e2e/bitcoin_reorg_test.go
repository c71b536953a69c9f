package e2e

import (
	"slices"
	"testing"
	"time"

	"cointill/e2e/nodes"
)

// confirm pays an order and has it confirmed once.
func (tl *till) confirm(o order) nodes.Sent {
	tl.t.Helper()
	sent := tl.node.PayOutputs(o.out(0))
	tl.node.Mine(1)
	tl.seen(o, sent.ID, 1)
	tl.reach(o, "processing", "")
	return sent
}

// reorgAndBack undoes the block of a payment: it waits again, until another block takes it.
func reorgAndBack(tl *till) {
	o := tl.order()
	sent := tl.confirm(o)
	tl.node.Reorg(1, false)
	tl.reach(o, "initiated", "reorged")
	tl.seen(o, sent.ID, 0)
	tl.node.Mine(1)
	tl.reach(o, "processing", "")
	tl.node.Mine(tl.final - 1)
	tl.reach(o, "successful", "")
}

// reorgBoth has the payment in both branches: it counts once.
func reorgBoth(tl *till) {
	o := tl.order()
	sent := tl.confirm(o)
	tl.node.Reorg(1, true) // by a branch of two, the first of which has the payment
	if tl.final > 2 {
		tl.node.Mine(tl.final - 2)
	}
	tl.reach(o, "successful", "")
	r := tl.VerifyPayment(o.Reference)
	if len(r.Transfers) != 1 || r.Transfers[0].Hash != sent.ID || r.Transfers[0].Confirmations != tl.final {
		tl.t.Errorf("transfers %+v", r.Transfers)
	}
}

// reorgForGood spends the money elsewhere in the branch that wins.
func reorgForGood(tl *till) {
	o := tl.order()
	sent := tl.confirm(o)
	tl.node.Reorg(1, false)
	tl.reach(o, "initiated", "reorged")
	tl.node.DivertPayment(sent)
	tl.unpaid(o, "initiated")
	tl.node.Mine(tl.final)
	tl.reach(o, "failed", "replaced")
}

// reverse undoes what was final: the state stays, and the merchant is warned, once.
func reverse(tl *till) {
	o := tl.order()
	sent := tl.confirm(o)
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
	tl.node.Reorg(int64(tl.final)+1, false)
	tl.reach(o, "successful", "reversed")
	tl.node.DivertPayment(sent)
	tl.node.Mine(tl.final)
	tl.told(o, "initiated", "detected", "processing", "successful", "reversed")
	if r := tl.VerifyPayment(o.Reference); r.Status != "successful" || !r.Reversed {
		tl.t.Errorf("%s, reversed %v", r.Status, r.Reversed)
	}
}

// killBetweenBlocks ends the program without a warning. While it is away one
// payment is undone and confirmed again, and another is made and confirmed.
func killBetweenBlocks(tl *till) {
	before, meanwhile := tl.order(), tl.order()
	tl.confirm(before)
	tl.Kill()
	tl.node.Reorg(1, true)
	tl.node.PayOutputs(meanwhile.out(0))
	tl.node.Mine(tl.final)
	tl.Start()
	tl.reach(before, "successful", "")
	tl.reach(meanwhile, "successful", "")
	tl.told(before, "initiated", "detected", "processing", "successful")
	tl.told(meanwhile, "initiated", "detected", "processing", "successful")
}

// TestBtcdWebsocket goes every walk on Bitcoin's regtest, with a node that says
// by itself when there is something new.
func TestBtcdWebsocket(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	node.FundPayer()
	tl := newTill(t, bitcoin, node, false, node.URL("btcd+ws"))
	tl.walk(walks...)
	tl.walk(walk{"reward", payByReward})
}

// TestBtcd (BTC-1, BTC-4, BTC-5, BTC-13) asks a node that says nothing by itself, and
// keeps its books in PostgreSQL.
func TestBtcd(t *testing.T) {
	t.Parallel()
	node := nodes.StartBtcd(t)
	node.FundPayer()
	tl := newTill(t, bitcoin, node, true, node.URL("http"))
	tl.walk(walk{"exact", payExact}, walk{"sightings", paySome},
		walk{"fee raised", raiseFee}, walk{"diverted", divert}, walk{"reorganised and back", reorgAndBack}, walk{"killed", killBetweenBlocks})
}

// TestLitecoind speaks Bitcoin Core's dialect, to legacy addresses, as Dogecoin.
// What a payment comes to is decided as on Bitcoin; here is what the node takes part in.
func TestLitecoind(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	node.FundPayer()
	tl := newTill(t, dogecoin, node, false, node.URL("http"))
	tl.walk(walk{"exact", payExact}, walk{"sightings", paySome}, walk{"twice in one", payTwice}, walk{"several by one", payTogether}, walk{"fee raised", raiseFee},
		walk{"diverted", divert}, walk{"reorganised and back", reorgAndBack}, walk{"in both branches", reorgBoth},
		walk{"reorganised for good", reorgForGood}, walk{"reversed", reverse}, walk{"killed", killBetweenBlocks}, walk{"node's own wallet", payByNode})
}

// payByReward pays by what mining gives: a hundred confirmations, and not one less.
func payByReward(tl *till) {
	o := tl.order()
	id := tl.node.MineReward(o.out(0))
	tl.seen(o, id, 1)
	tl.node.Mine(98)
	tl.seen(o, id, 99)
	tl.reach(o, "processing", "")
	tl.node.Mine(1)
	tl.reach(o, "successful", "")
}

// payByNode pays from the node's own wallet, raises the fee by it, and then
// asks whose wallet it is: Cointill uses none.
func payByNode(tl *till) {
	tl.node.Call("createwallet", nil, "payer")
	var own, id string
	tl.node.Call("getnewaddress", &own)
	tl.node.Call("generatetoaddress", nil, 3, own)
	tl.node.Mine(100)
	o := tl.order()
	tl.node.Call("sendtoaddress", &id, o.address, whole(o.due), "", "", false, true)
	tl.seen(o, id, 0)
	var bumped struct{ Txid string }
	tl.node.Call("bumpfee", &bumped, id)
	tl.seen(o, bumped.Txid, 0)
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
	var wallets []string
	if tl.node.Call("listwallets", &wallets); !slices.Equal(wallets, []string{"payer"}) {
		tl.t.Errorf("the node has the wallets %v", wallets)
	}
}

// unavailable waits until the coin is refused, and reports how long that took.
func (tl *till) unavailable(since time.Time, why string) {
	tl.t.Helper()
	tl.available(false)
	tl.t.Logf("%s: refused %s after %s", tl.chain, time.Since(since).Round(100*time.Millisecond), why)
}

// stays checks that a payment keeps its state for a while in which the program
// looks at its nodes.
func (tl *till) stays(o order, state string) {
	tl.t.Helper()
	looking := time.NewTimer(3 * time.Second)
	defer looking.Stop()
	ask := time.NewTicker(100 * time.Millisecond)
	defer ask.Stop()
	for {
		if got := tl.VerifyPayment(o.Reference).Status; got != state {
			tl.t.Fatalf("%s is %s, want %s", o.Reference, got, state)
		}
		select {
		case <-looking.C:
			return
		case <-ask.C:
		}
	}
}
