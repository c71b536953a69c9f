package tron

import (
	"strings"
	"testing"
)

// expectStopped checks that a step fails without moving, with a sentence that contains the words.
func (f *fixture) expectStopped(name, words string) {
	f.Helper()
	at := f.ledger.Tip()
	_, err := f.follower.Step(f.Context())
	if err == nil || f.ledger.Tip() != at || !strings.Contains(f.ledger.Problem(), words) {
		f.Errorf("%s: error %v, at %v after %v, %q, want %q", name, err, f.ledger.Tip(), at, f.ledger.Problem(), words)
	}
}

// hideLogs makes a node show no log; inventLogs makes it show each log as one of USDT that pays an address.
func hideLogs(all []any) any {
	for _, one := range all {
		delete(one.(map[string]any), "log")
	}
	return all
}

// TestSecondNodeMustConfirm: a node that hides a transfer, invents one or changes its amount is noticed by a second
// one, in either order, and nothing is counted until they agree.
func TestSecondNodeMustConfirm(t *testing.T) {
	t.Parallel()
	editLog := func(field string, value any) func([]any) any {
		return func(all []any) any {
			all[0].(map[string]any)["log"].([]any)[0].(map[string]any)[field] = value
			return all
		}
	}
	for name, lie := range map[string]func([]any) any{
		"a hidden transfer": hideLogs,
		"another amount":    editLog("data", strings.Repeat("0", 60)+"ffff"),
		"another recipient": editLog("topics", []string{transferEvent.String(), strings.Repeat("0", 64),
			hash(accountTopic(account{9})).String()}),
		"an invented transfer": func(all []any) any {
			first := all[0].(map[string]any)
			first["log"] = append(first["log"].([]any), first["log"].([]any)[0])
			return all
		},
	} {
		for liar := range 2 {
			c := newFakeChain(t)
			nodes := []*fakeNode{newFakeNode(t, c), newFakeNode(t, c)}
			f := newFixture(t, nodes[0], nodes[1])
			to := f.watchNewAddress()
			id := c.sendTokens(outputTo(to, 5))
			c.mineBlocks(1)
			nodes[liar].setBehaviour(editInfos(lie))
			f.expectStopped(name, "Nodes 1 and 2 of 2 disagree about what block 1 holds")
			nodes[liar].setBehaviour(func(n *fakeNode) { n.tamper = nil })
			f.followToTip()
			if rows := f.ledger.Transfers()[id]; len(rows) != 1 || rows[0].Amount.String() != "5" {
				t.Errorf("%s by node %d: the transfers are %+v afterwards, want one of 5", name, liar+1, rows)
			}
		}
	}
}

// TestFeesHoldUpNothing: nodes that name other fees, or TRX that others don't show, agree about a block.
func TestFeesHoldUpNothing(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	f := newFixture(t, first, second)
	to := f.watchNewAddress()
	c.sendTokens(outputTo(to, 5))
	c.mineBlocks(1)
	second.setBehaviour(editInfo("fee", 1))
	f.followToTip()
}

// TestBranchesAreDisputed: while two nodes are on different branches, none is trusted; a node that lacks two blocks
// or has an older one is not asked.
func TestBranchesAreDisputed(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.mineBlocks(30)
	first := newFakeNode(t, c)
	other := c.copyChain()
	second := newFakeNode(t, other)
	f := newFixture(t, first, second)
	c.mineBlocks(2)
	other.mineBlocks(1)
	f.expectStopped("different branches", "disagree")
	second.setBehaviour(func(n *fakeNode) { n.chain = c })
	f.followToTip()
	to := f.watchNewAddress()
	id := c.sendTokens(outputTo(to, 5))
	c.mineBlocks(8)
	first.setBehaviour(func(n *fakeNode) { n.hidden = 6 })
	f.followToTip()
	if rows := f.ledger.Transfers()[id]; len(rows) != 1 {
		t.Errorf("the transfers of a block that only node 2 has are %+v, want one", rows)
	}
	if status := f.source.Nodes(t.Context()); !strings.Contains(status[0].Problem, "6 blocks behind") || !status[1].InUse {
		t.Errorf("the statuses are %+v, want node 1 behind and node 2 in use", status)
	}
}

// TestReorganisationAboveSolidity: blocks that were read a moment ago are read again after they were replaced.
func TestReorganisationAboveSolidity(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	to := f.watchNewAddress()
	c.mineBlocks(40)
	for depth := 1; depth <= 18; depth++ {
		gone := c.sendTokens(outputTo(to, int64(depth)))
		c.mineBlocks(depth)
		f.followToTip()
		c.replaceBlocks(depth, false)
		kept := c.sendTokens(outputTo(to, int64(depth)))
		c.mineBlocks(1)
		f.followToTip()
		if rows := f.ledger.Transfers()[gone]; len(rows) != 1 || !rows[0].Gone {
			t.Errorf("depth %d: the transfer of a block that was undone is %+v", depth, rows)
		}
		if rows := f.ledger.Transfers()[kept]; len(rows) != 1 || rows[0].Gone {
			t.Errorf("depth %d: the transfer of the new branch is %+v", depth, rows)
		}
	}
}

// TestReadBlocksAreKept: when reading a batch fails in the middle, the blocks before it are not read again.
func TestReadBlocksAreKept(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	c.mineBlocks(60)
	before := f.node.countRequests(blockPath)
	f.node.setBehaviour(func(n *fakeNode) {
		n.tamper = func(path string, asked map[string]any, answer any) any {
			if path == blockPath && asked["num"] == 50.0 {
				return "{}"
			}
			return answer
		}
	})
	f.expectStopped("a missing block", "doesn't have block 50")
	f.node.setBehaviour(func(n *fakeNode) { n.tamper = nil })
	f.followToTip()
	if asked := f.node.countRequests(blockPath) - before; asked != 61 {
		t.Errorf("60 blocks were asked for %d times, want 61", asked)
	}
}
