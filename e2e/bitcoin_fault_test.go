package e2e

import (
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// TestNodeRestarted pays before, while and after a node is away.
func TestNodeRestarted(t *testing.T) {
	t.Parallel()
	node := nodes.StartLitecoind(t)
	node.FundPayer()
	tl := newTill(t, dogecoin, node, false, node.URL("http"))
	before, after := tl.order(), tl.order()
	tl.confirm(before)
	began := time.Now()
	node.Stop()
	tl.unavailable(began, "the node ended")
	node.Start()
	tl.available(true)
	tl.node.PayOutputs(after.out(0))
	node.Mine(tl.final)
	tl.reach(before, "successful", "")
	tl.reach(after, "successful", "")
}

// TestNodeFrozen stops a node where it is, which leaves its connections open.
func TestNodeFrozen(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, map[string]string{"requests": "http", "websocket": "btcd+ws"}, func(t *testing.T, _, scheme string) {
		node := nodes.StartBtcd(t)
		node.FundPayer()
		tl := newTill(t, bitcoin, node, false, node.URL(scheme))
		o, open := tl.order(), tl.order()
		sent := tl.confirm(o)
		began := time.Now()
		node.Freeze()
		tl.unavailable(began, "the node froze")
		tl.page(open, "unavailable")
		tl.reach(o, "processing", "")
		node.Thaw()
		tl.available(true)
		tl.page(open, "waiting")
		node.Mine(tl.final - 1)
		tl.reach(o, "successful", "")
		tl.seen(o, sent.ID, tl.final)
	})
}

// TestNodeForgets loses a node's whole chain: nothing is undone by a node that
// begins anew, and all goes on when it has caught up with the others.
func TestNodeForgets(t *testing.T) {
	t.Parallel()
	node, other := nodes.StartBtcd(t), nodes.StartBtcd(t)
	node.FundPayer()
	tl := newTill(t, bitcoin, node, false, node.URL("btcd+ws"))
	paid, o := tl.order(), tl.order()
	tl.confirm(paid)
	node.Mine(1)
	tl.reach(paid, "successful", "")
	sent := tl.confirm(o)
	node.Connect(other)
	began := time.Now()
	node.Stop()
	node.Start()
	tl.unavailable(began, "the node had lost its chain")
	tl.stays(o, "processing")
	node.Connect(other)
	tl.available(true)
	node.Mine(tl.final - 1)
	tl.reach(o, "successful", "")
	tl.seen(o, sent.ID, tl.final)
	if tl.VerifyPayment(paid.Reference).Reversed {
		t.Error("an empty node reversed a payment")
	}
}

// TestNodeBehind has the first of two nodes fall behind: the other is followed.
// When that one ends, the first is, which has caught up meanwhile.
func TestNodeBehind(t *testing.T) {
	t.Parallel()
	behind, node := nodes.StartLitecoind(t), nodes.StartLitecoind(t)
	node.FundPayer()
	node.Connect(behind)
	tl := newTill(t, dogecoin, node, false, behind.URL("http"), node.URL("http"))
	o, next := tl.order(), tl.order()
	node.Disconnect(behind)
	node.PayOutputs(o.out(0))
	node.Mine(tl.final)
	tl.reach(o, "successful", "")
	tl.available(true)
	status := tl.RunCommand("", "chain", "status")
	if !strings.Contains(status, "behind") || strings.Contains(status, ":regtest@") {
		t.Errorf("chain status: %s", status)
	}
	node.Connect(behind)
	node.PayOutputs(next.out(0))
	node.Mine(1)
	behind.WaitForSameTip(node)
	node.Kill()
	behind.Mine(tl.final - 1)
	tl.reach(next, "successful", "")
}

// TestNodesDisagree (BTC-8) has two nodes on two branches: nothing becomes final, and
// nobody is told to pay, until they agree.
func TestNodesDisagree(t *testing.T) {
	t.Parallel()
	node, other := nodes.StartBtcd(t), nodes.StartBtcd(t)
	node.FundPayer()
	node.Connect(other)
	tl := newTill(t, bitcoin, node, false, node.URL("http"), other.URL("http"))
	o := tl.order()
	sent := tl.confirm(o)
	other.WaitForSameTip(node)
	node.Disconnect(other)
	began := time.Now()
	other.MineEmpty(4)
	node.Mine(4)
	tl.unavailable(began, "the nodes parted")
	tl.stays(o, "processing")
	node.Mine(1)
	other.Connect(node)
	tl.available(true)
	tl.reach(o, "successful", "")
	tl.seen(o, sent.ID, 6)
}

// TestWrongNetwork (BTC-8) gives nodes of other networks: no payment is taken.
func TestWrongNetwork(t *testing.T) {
	t.Parallel()
	core := nodes.StartLitecoind(t)
	core.Mine(1)
	regtest := nodes.StartBtcd(t)
	regtest.Mine(1)
	harness.RunEach(t, map[string]struct{ url, network string }{
		"another network": {regtest.URL("http"), "testnet4"},
		"of Core's":       {core.URL("http"), "testnet4"},
		"wrong password":  {strings.Replace(regtest.URL("http"), ":regtest@", ":wrong@", 1), "regtest"},
		"wrong websocket": {regtest.URL("btcd+ws"), "signet"},
	}, func(t *testing.T, name string, set struct{ url, network string }) {
		i := harness.New(t, false)
		i.SetSetting("TEST_BITCOIN_URL", set.url)
		i.SetSetting("TEST_BITCOIN_NETWORK", set.network)
		i.Start()
		i.CreateBusiness()
		key := newAccount(t, bitcoin).public(t)
		i.RunCommand("", "wallet", "use", "--business", i.Code, "--domain", "test", "--method", "crypto_bitcoin", "--key", key, "--json")
		tl := &till{Instance: i, coin: bitcoin, t: t}
		tl.unavailable(time.Now(), name)
		status := i.RunCommand("", "chain", "status")
		t.Logf("chain status: %s", status)
		if strings.Contains(status, "regtest@") || strings.Contains(status, "wrong@") {
			t.Error("chain status shows a password")
		}
	})
}
