package node

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

// teller is a node that names headers: those of a chain that all have, and from some
// height on those of a branch.
type teller struct {
	*Node
	branch string
	parts  int64 // the last height that all have
	tip    int64
	takes  time.Duration // one header
	told   int
}

func (n *teller) at(height int64) chain.Header {
	name := func(height int64) string {
		if height > n.parts {
			return fmt.Sprint(n.branch, height)
		}
		return fmt.Sprint(height)
	}
	return chain.Header{BlockID: chain.BlockID{Height: height, Hash: name(height)}, Parent: name(height - 1)}
}

func (n *teller) Handshake(context.Context) (View, error) { return View{Tip: n.at(n.tip)}, nil }
func (n *teller) Forget()                                 {}

func (n *teller) parent(ctx context.Context, h chain.Header) (chain.Header, error) {
	select {
	case <-ctx.Done():
		return chain.Header{}, ctx.Err()
	case <-time.After(n.takes):
	}
	n.told++
	return n.at(h.Height - 1), nil
}

// branching is a pool of tellers as its followers ask it.
type branching struct {
	*testing.T
	*Branching
	nodes []*teller
}

// tellers runs a test with nodes that all have one chain up to a height, in a bubble.
func tellers(t *testing.T, nodes int, tip int64, test func(b *branching)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, _ := testConfig("node")
		b := &branching{T: t, Branching: NewBranching(config)}
		for i := range nodes {
			n := &teller{branch: string(rune('a' + i)), parts: tip, tip: tip}
			n.Node = b.Join(fmt.Sprint("host:", i+1), n, n.parent)
			b.nodes = append(b.nodes, n)
		}
		test(b)
	})
}

// choose expects a node to be chosen, 0 is none, within the time that a follower waits.
func (b *branching) choose(want int) (took time.Duration, err error) {
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

// problems are what people read of each node.
func (b *branching) problems() (all []string) {
	for _, st := range b.Nodes(b.Context()) {
		all = append(all, st.Problem)
	}
	return all
}

// TestFalseClaim: a node names a tip far ahead of what is counted, and never comes to the
// end of showing how it follows that. It is the one that is left out, and the other goes on.
func TestFalseClaim(t *testing.T) {
	for name, c := range map[string]struct {
		ahead int64
		first time.Duration // what the first choice takes
	}{"far": {1_000_000, 0}, "near": {1500, UsualPace.Most}} {
		t.Run(name, func(t *testing.T) {
			tellers(t, 2, 7, func(b *branching) {
				b.choose(1)
				liar := b.nodes[1]
				liar.tip, liar.takes = 7+c.ahead, 20*time.Millisecond
				<-time.After(b.Pace.Moment)
				if took, _ := b.choose(1); took < c.first || took > c.first+time.Second {
					b.Errorf("a choice takes %s", took)
				}
				told := liar.told
				for range 5 {
					<-time.After(b.Pace.Pause)
					if took, _ := b.choose(1); took > time.Second {
						b.Errorf("a choice takes %s", took)
					}
				}
				if liar.told != told {
					b.Errorf("it is asked for %d more headers", liar.told-told)
				}
				if all := b.problems(); all[0] != "" || !strings.Contains(all[1], fmt.Sprintf("Node 2 of 2 names block %d as its last, and doesn't show", liar.tip)) {
					b.Errorf("%q", all)
				}
				liar.tip = 10
				<-time.After(barring)
				b.choose(2)
			})
		})
	}
}

// TestNothingShown: as long as nothing is counted a node that shows no header at all is
// left out as well.
func TestNothingShown(t *testing.T) {
	tellers(t, 2, 7, func(b *branching) {
		b.nodes[1].tip, b.nodes[1].takes = 20, time.Hour
		b.choose(1)
	})
}

// TestFirstClaim: nothing is counted yet, so nobody knows whether a node that is far ahead
// lies, or the other. None is believed before it is shown, which later choices go on with.
func TestFirstClaim(t *testing.T) {
	tellers(t, 2, 7, func(b *branching) {
		liar := b.nodes[1]
		liar.tip, liar.takes = 1_000_000, 20*time.Millisecond
		if _, err := b.choose(0); err == nil || !strings.Contains(err.Error(), "Node 2 of 2 names block 1000000 as its last, and doesn't show") {
			b.Error(err)
		}
		for i, told := range b.problems() {
			if strings.Contains(told, "behind") || !strings.Contains(told, "Node 2 of 2 names block 1000000") {
				b.Errorf("node %d: %s", i+1, told)
			}
		}
	})
}

// TestLongLead: an honest node that is far ahead shows it in as many choices as it needs,
// also when the other one comes nearer meanwhile.
func TestLongLead(t *testing.T) {
	for name, nearer := range map[string]func(reached int64) int64{
		"stays":       func(int64) int64 { return 7 },
		"comes to it": func(reached int64) int64 { return reached },
		"comes past":  func(reached int64) int64 { return reached + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			tellers(t, 2, 2500, func(b *branching) {
				b.nodes[0].tip, b.nodes[1].takes = 7, 20*time.Millisecond
				b.choose(0)
				b.choose(0)
				b.nodes[0].tip = nearer(b.walks[[2]int{2, 1}].to.Height)
				for n := 0; b.Chosen == nil; n++ {
					if n == 5 {
						b.Fatal("it isn't chosen")
					}
					_, _, _ = b.Choose(b.Context())
					synctest.Wait()
				}
				if b.Chosen.Number != 2 || b.Disputed != "" || b.nodes[1].told > 2600 {
					b.Errorf("node %d is asked, after %d headers; %s", b.Chosen.Number, b.nodes[1].told, b.Disputed)
				}
			})
		})
	}
}

// TestFalseDepth (BTC-9): a node says that its chain ended far below what was counted, on
// a branch of its own. It is not believed while the other takes long to show that.
func TestFalseDepth(t *testing.T) {
	tellers(t, 2, 3000, func(b *branching) {
		b.choose(1)
		liar, honest := b.nodes[0], b.nodes[1]
		liar.tip, liar.parts, honest.takes = 1500, 10, 20*time.Millisecond
		var told chain.Problem
		for range 5 {
			<-time.After(b.Pace.Moment)
			if _, err := b.choose(0); !errors.As(err, &told) {
				b.Error(err)
			}
		}
		if !strings.Contains(string(told), "disagree") {
			b.Error(told)
		}
	})
}

// TestLate: a node that lacks three blocks isn't asked, even where the one that has them
// failed lately; one that lacks two is.
func TestLate(t *testing.T) {
	for lacks, want := range map[int64]int{behind - 1: 1, behind: 2} {
		t.Run(fmt.Sprint(lacks), func(t *testing.T) {
			tellers(t, 2, 20, func(b *branching) {
				b.nodes[0].tip -= lacks
				for range 2 {
					_ = b.nodes[1].Blame(b.Context(), errors.New("x"))
				}
				b.choose(want)
				b.nodes[0].tip = 20
				<-time.After(b.Pace.Moment)
				b.choose(1) // it caught up
			})
		})
	}
}

// TestSinceLooked: a branch of two blocks or more past what another node showed counts only
// once that one was looked at again, however young its last look is; for one block, and for
// what was counted already, it isn't.
func TestSinceLooked(t *testing.T) {
	tellers(t, 2, 7, func(b *branching) {
		liar, witness := b.nodes[0], b.nodes[1]
		b.choose(1)
		witness.tip, liar.tip = 8, 8
		if b.choose(1); b.last.Hash != "a8" {
			b.Errorf("it waits for a race: %v", b.last)
		}
		liar.tip = 9
		if _, err := b.choose(0); err == nil || !strings.Contains(err.Error(), "disagree") {
			b.Error(err)
		}
		witness.tip, witness.parts = 9, 0
		witness.branch = ""
		liar.parts, liar.tip = 9, 9
		b.choose(1)
		before := witness.Seen().At
		<-time.After(time.Second)
		liar.parts, liar.tip = 10, 10
		if b.choose(1); !witness.Seen().At.Equal(before) {
			b.Error("it was looked at for one block")
		}
		liar.parts, liar.tip = 11, 11
		if b.choose(1); !witness.Seen().At.After(before) {
			b.Error("it wasn't looked at")
		}
		before = witness.Seen().At
		<-time.After(time.Second)
		if b.choose(1); !witness.Seen().At.Equal(before) {
			b.Error("it was looked at again for the same blocks")
		}
	})
}
