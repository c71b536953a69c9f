package nodes_test

import (
	"testing"
	"time"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// each runs a test against a funded node of each program.
func each(t *testing.T, test func(t *testing.T, n *nodes.Node)) {
	harness.RunEach(t, map[string]func(testing.TB) *nodes.Node{"btcd": nodes.StartBtcd, "litecoind": nodes.StartLitecoind}, func(t *testing.T, _ string, start func(testing.TB) *nodes.Node) {
		n := start(t)
		n.FundPayer()
		test(t, n)
	})
}

// confirmed reports whether a block of the best chain above the funding holds a transaction.
func confirmed(t *testing.T, n *nodes.Node, id string) bool {
	t.Helper()
	var found struct {
		Blockhash     string
		Confirmations int64
	}
	err := n.TryCall("getrawtransaction", &found, id, 1)
	return err == nil && found.Blockhash != "" && found.Confirmations > 0
}

// waits asks for a while whether a transaction is in the mempool, or no longer:
// what a reorganisation puts back comes a moment after its blocks.
func waits(t *testing.T, n *nodes.Node, id string, want bool) {
	t.Helper()
	harness.WaitFor(t, time.Minute, "the mempool to change", func() bool { return n.IsPending(id) == want })
}

// TestPayer pays, replaces twice and mines: the last one is what is confirmed.
func TestPayer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, n *nodes.Node) {
		first := n.PayOutputs(nodes.Output{Address: n.UnknownAddress(), Amount: 41_667}, nodes.Output{Address: n.UnknownAddress(), Amount: 60_0000_0000})
		waits(t, n, first.ID, true)
		second := n.BumpFee(first)
		waits(t, n, first.ID, false)
		third := n.DivertPayment(second)
		waits(t, n, second.ID, false)
		n.Mine(1)
		if !confirmed(t, n, third.ID) || confirmed(t, n, first.ID) || confirmed(t, n, second.ID) {
			t.Error("another transaction than the last was mined")
		}
	})
}

// TestReorg undoes a payment, and has it confirmed in the other branch and again.
func TestReorg(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, n *nodes.Node) {
		sent := n.PayOutputs(nodes.Output{Address: n.UnknownAddress(), Amount: 41_667})
		n.Mine(2)
		before, _ := n.Tip()
		n.Reorg(2, false)
		waits(t, n, sent.ID, true)
		if after, _ := n.Tip(); after != before+1 || confirmed(t, n, sent.ID) {
			t.Errorf("height %d after %d", after, before)
		}
		n.Mine(1)
		n.Reorg(1, true)
		if !confirmed(t, n, sent.ID) {
			t.Error("the other branch lacks the payment")
		}
		block := n.InvalidateBlocks(2)
		waits(t, n, sent.ID, true)
		n.ReconsiderBlock(block)
		waits(t, n, sent.ID, false)
		if after, _ := n.Tip(); after != before+3 {
			t.Errorf("height %d, want %d", after, before+3)
		}
	})
}

// TestRestart finds a node's chain as it was, and btcd's at its beginning.
func TestRestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, n *nodes.Node) {
		height, hash := n.Tip()
		if n.Forgets {
			height, hash = 0, ""
		}
		n.Stop()
		n.Start()
		if h, same := n.Tip(); h != height || hash != "" && same != hash {
			t.Errorf("tip %d %s, want %d %s", h, same, height, hash)
		}
	})
}

// TestFreeze asks a frozen node, which answers when it is thawed.
func TestFreeze(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, n *nodes.Node) {
		n.Freeze()
		answer := make(chan error, 1)
		go func() { answer <- n.TryCall("getblockcount", nil) }()
		quiet := time.NewTimer(300 * time.Millisecond)
		select {
		case <-answer:
			t.Fatal("a frozen node answers")
		case <-quiet.C:
		}
		n.Thaw()
		if err := <-answer; err != nil {
			t.Error(err)
		}
	})
}

// TestPair has two nodes agree, part, and agree on the longer branch.
func TestPair(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, map[string]func(testing.TB) *nodes.Node{"btcd": nodes.StartBtcd, "litecoind": nodes.StartLitecoind}, func(t *testing.T, _ string, start func(testing.TB) *nodes.Node) {
		one, other := start(t), start(t)
		one.FundPayer()
		one.Connect(other)
		one.Disconnect(other)
		one.Mine(1)
		other.Mine(2)
		_, longer := other.Tip()
		one.Connect(other)
		if _, tip := one.Tip(); tip != longer {
			t.Error("the shorter branch won")
		}
	})
}

// TestReward pays somebody by a block's reward.
func TestReward(t *testing.T) {
	t.Parallel()
	n := nodes.StartBtcd(t)
	n.Mine(1)
	if id := n.MineReward(nodes.Output{Address: n.UnknownAddress(), Amount: 5}); !confirmed(t, n, id) {
		t.Error("the reward is not on the chain")
	}
}
