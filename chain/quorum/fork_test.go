package quorum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cointill/chain"
)

// fakeNode is a node that serves headers: up to a height the headers that all nodes share, and
// above it the headers of its own branch.
type fakeNode struct {
	*Node
	branch      string
	lastShared  int64 // the last height that all nodes share
	tip         int64
	delay       time.Duration // time for one header
	headersRead int
}

func (n *fakeNode) headerAt(height int64) chain.Header {
	name := func(height int64) string {
		if height > n.lastShared {
			return fmt.Sprint(n.branch, height)
		}
		return fmt.Sprint(height)
	}
	return chain.Header{BlockID: chain.BlockID{Height: height, Hash: name(height)}, Parent: name(height - 1)}
}

func (n *fakeNode) Handshake(context.Context) (View, error) { return View{Tip: n.headerAt(n.tip)}, nil }
func (n *fakeNode) Forget()                                 {}

func (n *fakeNode) ReadParent(ctx context.Context, h chain.Header) (chain.Header, error) {
	select {
	case <-ctx.Done():
		return chain.Header{}, ctx.Err()
	case <-time.After(n.delay):
	}
	n.headersRead++
	return n.headerAt(h.Height - 1), nil
}

// poolTest is a pool of fake nodes and the test that drives it.
type poolTest struct {
	*testing.T
	*Pool[*fakeNode]
	nodes []*fakeNode
}

// withFakeNodes runs a test in a synctest bubble with nodes that share one chain up to a height.
func withFakeNodes(t *testing.T, nodes int, tip int64, test func(b *poolTest)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, _ := testConfig("node")
		b := &poolTest{T: t, Pool: NewForkPool[*fakeNode](config)}
		for i := range nodes {
			n := &fakeNode{branch: string(rune('a' + i)), lastShared: tip, tip: tip}
			n.Node = b.AddNode(fmt.Sprint("host:", i+1), nil, n)
			b.nodes = append(b.nodes, n)
		}
		test(b)
	})
}

// expectChoice expects that a node is chosen (0 means none) within a follower's timeout.
func (b *poolTest) expectChoice(want int) (took time.Duration, err error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), chain.NewFollower(chain.FollowerConfig{}).Timeout)
	defer cancel()
	began := time.Now()
	n, _, err := b.Choose(ctx)
	if got := 0; ctx.Err() != nil {
		b.Fatalf("a choice takes %s: %v", time.Since(began), err)
	} else if n != nil {
		if got = n.Number; got != want {
			b.Errorf("node %d is chosen, want %d", got, want)
		}
	} else if want != 0 {
		b.Errorf("want node %d: %v", want, err)
	}
	return time.Since(began), err
}

// nodeProblems returns the problem that operators read of each node.
func (b *poolTest) nodeProblems() (all []string) {
	for _, st := range b.CheckNodes(b.Context()) {
		all = append(all, st.Problem)
	}
	return all
}

// TestUnprovenTipIsQuarantined: a node reports a tip far ahead of the counted blocks and never
// finishes the proof that its tip descends from them. This node is left out, and the other one is
// used.
func TestUnprovenTipIsQuarantined(t *testing.T) {
	for name, c := range map[string]struct {
		ahead int64
		first time.Duration // duration of the first choice
	}{"far": {1_000_000, 0}, "near": {1500, DefaultTiming.CheckTimeout}} {
		t.Run(name, func(t *testing.T) {
			withFakeNodes(t, 2, 7, func(b *poolTest) {
				b.expectChoice(1)
				liar := b.nodes[1]
				liar.tip, liar.delay = 7+c.ahead, 20*time.Millisecond
				<-time.After(b.Timing.HealthyAge)
				if took, _ := b.expectChoice(1); took < c.first || took > c.first+time.Second {
					b.Errorf("a choice takes %s", took)
				}
				headersRead := liar.headersRead
				for range 5 {
					<-time.After(b.Timing.UnhealthyAge)
					if took, _ := b.expectChoice(1); took > time.Second {
						b.Errorf("a choice takes %s", took)
					}
				}
				if liar.headersRead != headersRead {
					b.Errorf("it is asked for %d more headers", liar.headersRead-headersRead)
				}
				if all := b.nodeProblems(); all[0] != "" || !strings.Contains(all[1], fmt.Sprintf("Node 2 of 2 "+
					"names block %d as its last, and doesn't show", liar.tip)) {
					b.Errorf("%q", all)
				}
				liar.tip = 10
				<-time.After(quarantineTime)
				b.expectChoice(2)
			})
		})
	}
}

// TestNodeWithoutHeadersIsQuarantined: a node that serves no header at all is left out, also before
// any block is counted.
func TestNodeWithoutHeadersIsQuarantined(t *testing.T) {
	withFakeNodes(t, 2, 7, func(b *poolTest) {
		b.nodes[1].tip, b.nodes[1].delay = 20, time.Hour
		b.expectChoice(1)
	})
}

// TestFirstLeadMustBeProvenBeforeAnyNodeIsChosen: before any block is counted, either of two nodes
// may be the dishonest one. None is used before the proof is complete, and later choices continue
// the proof.
func TestFirstLeadMustBeProvenBeforeAnyNodeIsChosen(t *testing.T) {
	withFakeNodes(t, 2, 7, func(b *poolTest) {
		liar := b.nodes[1]
		liar.tip, liar.delay = 1_000_000, 20*time.Millisecond
		if _, err := b.expectChoice(0); err == nil ||
			!strings.Contains(err.Error(), "Node 2 of 2 names block 1000000 as its last, and doesn't show") {
			b.Errorf("error %v, want the unproven lead of node 2", err)
		}
		for i, problem := range b.nodeProblems() {
			if strings.Contains(problem, "behind") || !strings.Contains(problem, "Node 2 of 2 names block 1000000") {
				b.Errorf("node %d: %s", i+1, problem)
			}
		}
	})
}

// TestLongLeadIsProvenOverSeveralChoices: an honest node that is far ahead proves it in as many
// choices as it needs, also when the other node catches up meanwhile.
func TestLongLeadIsProvenOverSeveralChoices(t *testing.T) {
	for name, nearer := range map[string]func(reached int64) int64{
		"stays":       func(int64) int64 { return 7 },
		"comes to it": func(reached int64) int64 { return reached },
		"comes past":  func(reached int64) int64 { return reached + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			withFakeNodes(t, 2, 2500, func(b *poolTest) {
				b.nodes[0].tip, b.nodes[1].delay = 7, 20*time.Millisecond
				b.expectChoice(0)
				b.expectChoice(0)
				b.nodes[0].tip = nearer(b.rule.(*forks).headerWalks[[2]int{2, 1}].to.Height)
				for n := 0; b.Chosen == nil; n++ {
					if n == 5 {
						b.Fatal("it isn't chosen")
					}
					_, _, _ = b.Choose(b.Context())
					synctest.Wait()
				}
				if b.Chosen.Number != 2 || b.Dispute != "" || b.nodes[1].headersRead > 2600 {
					b.Errorf("node %d is asked, after %d headers; %s", b.Chosen.Number, b.nodes[1].headersRead,
						b.Dispute)
				}
			})
		})
	}
}

// TestFalseShortBranchIsDisputed (BTC-9): a node reports that its chain ended far below the counted
// blocks, on a branch of its own. It is not used while the other node takes long for its proof.
func TestFalseShortBranchIsDisputed(t *testing.T) {
	withFakeNodes(t, 2, 3000, func(b *poolTest) {
		b.expectChoice(1)
		liar, honest := b.nodes[0], b.nodes[1]
		liar.tip, liar.lastShared, honest.delay = 1500, 10, 20*time.Millisecond
		var problem chain.Problem
		for range 5 {
			<-time.After(b.Timing.HealthyAge)
			if _, err := b.expectChoice(0); !errors.As(err, &problem) {
				b.Errorf("error %v, want a chain.Problem", err)
			}
		}
		if !strings.Contains(string(problem), "disagree") {
			b.Errorf("the problem is %q, want a dispute", problem)
		}
	})
}

// TestLaggingNodeIsNotChosen: a node that lacks three blocks isn't asked, even if the node that has
// them failed shortly before. A node that lacks two blocks is asked.
func TestLaggingNodeIsNotChosen(t *testing.T) {
	for lacks, want := range map[int64]int{lagLimit - 1: 1, lagLimit: 2} {
		t.Run(fmt.Sprint(lacks), func(t *testing.T) {
			withFakeNodes(t, 2, 20, func(b *poolTest) {
				b.nodes[0].tip -= lacks
				for range 2 {
					_ = b.nodes[1].DemoteOnError(b.Context(), errors.New("x"))
				}
				b.expectChoice(want)
				b.nodes[0].tip = 20
				<-time.After(b.Timing.HealthyAge)
				b.expectChoice(1) // it caught up
			})
		})
	}
}

// TestLeadOfTwoBlocksNeedsAFreshCheckOfTheOtherNode: a branch of two blocks or more past another
// node's tip counts only after this node was checked again, however recent its last check is. For
// one block, and for blocks that count already, it is not checked.
func TestLeadOfTwoBlocksNeedsAFreshCheckOfTheOtherNode(t *testing.T) {
	withFakeNodes(t, 2, 7, func(b *poolTest) {
		liar, witness := b.nodes[0], b.nodes[1]
		b.expectChoice(1)
		witness.tip, liar.tip = 8, 8
		if b.expectChoice(1); b.rule.(*forks).lastTip.Hash != "a8" {
			b.Errorf("tip %v, want the own block of node 1", b.rule.(*forks).lastTip)
		}
		liar.tip = 9
		if _, err := b.expectChoice(0); err == nil || !strings.Contains(err.Error(), "disagree") {
			b.Errorf("error %v, want a dispute", err)
		}
		witness.tip, witness.lastShared = 9, 0
		witness.branch = ""
		liar.lastShared, liar.tip = 9, 9
		b.expectChoice(1)
		before := witness.LastView().At
		<-time.After(time.Second)
		liar.lastShared, liar.tip = 10, 10
		if b.expectChoice(1); !witness.LastView().At.Equal(before) {
			b.Error("it was checked for one block")
		}
		liar.lastShared, liar.tip = 11, 11
		if b.expectChoice(1); !witness.LastView().At.After(before) {
			b.Error("it wasn't checked for two blocks")
		}
		before = witness.LastView().At
		<-time.After(time.Second)
		if b.expectChoice(1); !witness.LastView().At.Equal(before) {
			b.Error("it was checked again for the same blocks")
		}
	})
}
