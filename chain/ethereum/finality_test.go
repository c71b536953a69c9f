package ethereum

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"cointill/chain/ethereum/rpc"
)

// openFinality opens a source of two nodes. The returned function gives the finalized height, the
// network's note and the second node's note.
func openFinality(t *testing.T, first, second *fakeNode) func() (height int64, note, second string) {
	s := first.openSource(t, second)
	return func() (int64, string, string) {
		t.Helper()
		view, err := s.At(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		note, _, err := s.Notes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return view.Tip.Finalized, note, s.Nodes(t.Context())[1].Note
	}
}

// TestFinalNeedsEveryHealthyNode (ETH-11) checks that a block is final if every healthy node that
// reports finality calls it finalized. A node that reports none is named in a note and delays
// nothing. If no node reports finality, the finalized block is the first one, never -1, and a note
// explains why larger payments wait.
func TestFinalNeedsEveryHealthyNode(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.finalized = -1
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	final := openFinality(t, first, second)
	c.mineBlocks(9)
	const none, one = "No node says which blocks are final, so payments above 100 USD stay Processing",
		"Node 2 of 2 doesn't say which blocks are final"
	if height, note, its := final(); height != 0 || !strings.HasPrefix(note, none) || !strings.HasPrefix(its, one) {
		t.Errorf("nobody says, and final is %d, the notes %q and %q", height, note, its)
	}
	c.finalized = 2
	if height, note, its := final(); height != 7 || note != "" || its != "" {
		t.Errorf("final is %d, the notes %q and %q", height, note, its)
	}
	second.setBehaviour(func(n *fakeNode) { n.unfinal = true })
	if height, note, its := final(); height != 7 || note != "" || !strings.HasPrefix(its, one) {
		t.Errorf("one doesn't say, and final is %d, the notes %q and %q", height, note, its)
	}
	first.setBehaviour(func(n *fakeNode) { n.hidden = 1 })
	second.setBehaviour(func(n *fakeNode) { n.unfinal = false })
	if height, note, its := final(); height != 6 || note != "" || its != "" {
		t.Errorf("the first node says 6, and final is %d, the notes %q and %q", height, note, its)
	}
	second.setBehaviour(answerAll(500, ""))
	if height, note, its := final(); height != 6 || note != "" || its != "" {
		t.Errorf("the second is down, and final is %d, the notes %q and %q", height, note, its)
	}
	if _, _, its := openFinality(t, first, second)(); its != "" {
		t.Errorf("it was down all the time, and the note is %q", its)
	}
}

// TestFinalIsAskedOnceForEachBlock checks that a public network's node is asked what is final when it has a new block
// and not before, but as long as it doesn't say it; and at first, whether it is downloading the chain.
func TestFinalIsAskedOnceForEachBlock(t *testing.T) {
	t.Parallel()
	p := testParams()
	p.Private, p.Stale = false, 24*time.Hour
	c := newFakeChain(t)
	n := newFakeNode(t, c)
	s := openNetwork(t, p, slog.New(slog.DiscardHandler), n.URL)
	c.mineBlocks(9)
	expect := func(what string, want int64, calls int) {
		t.Helper()
		before := countCalls(n)
		view, err := s.At(t.Context())
		if got := countCalls(n) - before; err != nil || view.Tip.Finalized != want || got != calls {
			t.Errorf("%s: final is %d after %d calls, error %v, want %d after %d", what, view.Tip.Finalized, got, err, want,
				calls)
		}
	}
	n.setBehaviour(answerMethod("eth_syncing", map[string]string{"currentBlock": "0x1", "highestBlock": "0x9"}))
	if _, err := s.At(t.Context()); err == nil || !strings.Contains(err.Error(), "still downloading the chain") {
		t.Errorf("while the node is downloading the chain: %v", err)
	}
	n.setBehaviour(func(n *fakeNode) { n.tamper = nil })
	if _, err := s.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("the same block", 6, 1)
	c.mineBlocks(1)
	expect("a new block", 7, 2)
	expect("the same block again", 7, 1)
	n.setBehaviour(func(n *fakeNode) { n.unfinal = true })
	c.mineBlocks(1)
	expect("a new block, and no word", 0, 2)
	expect("still no word", 0, 2)
	n.setBehaviour(func(n *fakeNode) { n.unfinal = false })
	expect("the word for that block", 8, 2)
}

// TestFinalizedNeverExceedsTip checks that a node that is ahead of the current one makes no block
// final that the current one has not shown.
func TestFinalizedNeverExceedsTip(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	c.finalized = 0
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	first.unfinal = true
	c.mineBlocks(5)
	final := openFinality(t, first, second)
	if height, _, _ := final(); height != 5 {
		t.Errorf("final is %d", height)
	}
	first.setBehaviour(func(n *fakeNode) { n.hidden = 1 })
	if height, _, _ := final(); height != 4 {
		t.Errorf("final is %d, and the asked node is at 4", height)
	}
}

// TestFinalizedMayBeAboveTip checks that a node of a fast network, which finalizes a block that came after its tip was
// read, is used all the same. Nothing above that tip is final.
func TestFinalizedMayBeAboveTip(t *testing.T) {
	t.Parallel()
	p := testParams()
	p.Private, p.Stale = false, 24*time.Hour
	c := newFakeChain(t)
	c.mineBlocks(9)
	n := newFakeNode(t, c)
	n.script = func(q rpc.Request) any {
		if q.Method == "eth_getBlockByNumber" && q.Params[0] == "finalized" {
			return blockJSON(&c.blocks[len(c.blocks)-1], false)
		}
		return nil
	}
	s := openNetwork(t, p, slog.New(slog.DiscardHandler), n.URL)
	for _, hidden := range []int{2, 1} { // asked together with the tip, and after it
		n.setBehaviour(func(n *fakeNode) { n.hidden = hidden })
		want := int64(9 - hidden)
		if view, err := s.At(t.Context()); err != nil || view.Tip.Height != want || view.Tip.Finalized != want {
			t.Errorf("block 9 is finalized, and at block %d the tip is %d, final %d, error %v; want no error", want,
				view.Tip.Height, view.Tip.Finalized, err)
		}
	}
}

// TestStalledFinalityIsNoted (ETH-12) checks that a note is shown if finality stalls on one node,
// whichever node is asked, because payments wait for the lowest finalized block.
func TestStalledFinalityIsNoted(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).openSource(t, newFakeNode(t, c)))
	c.mineBlocks(5)
	b.followToTip()
	for _, n := range b.source.nodes.Members {
		n.params.Stale = time.Hour
		for _, c := range []struct {
			usual, after time.Duration
			words        string
		}{
			{13 * time.Minute, 52 * time.Minute, ""}, // four times as long as usual
			{13 * time.Minute, 52*time.Minute + time.Second, "finalized no block for 52 minutes"},
			{5 * time.Second, 30 * time.Minute, ""}, // half an hour at least
			{5 * time.Second, 30*time.Minute + time.Second, "finalized no block for 30 minutes"},
			{13 * time.Minute, 2 * time.Hour, "finalized no block for 2 hours"},
		} {
			n.params.Finality.Usual, n.finalizedTime = c.usual, testTime().Add(-c.after)
			network, _, err := b.source.Notes(t.Context())
			if note := n.collectNotes(); err != nil || note != network || !strings.Contains(note, c.words) ||
				(note == "") != (c.words == "") {
				t.Errorf("%s after a finalized block, where it takes %s: the node's note is %q, the network's %q, error %v, "+
					"want %q", c.after, c.usual, note, network, err, c.words)
			}
		}
		n.finalizedTime = testTime().Add(-7*time.Hour - time.Minute)
		if note := n.collectNotes(); !strings.Contains(note, "finalized no block for 7 hours") {
			t.Errorf("the note is %q", note)
		}
		if network, token, err := b.source.Notes(t.Context()); err != nil ||
			!strings.Contains(network, "finalized no block") || token != "" {
			t.Errorf("of the network %q, of the token %q, %v", network, token, err)
		}
		n.finalizedTime = testTime()
	}
	if network, _, err := b.source.Notes(t.Context()); err != nil || network != "" {
		t.Errorf("network note %q, error %v, want none", network, err)
	}
	for _, n := range b.source.nodes.Members {
		n.params.Stale, n.clock = 24*time.Hour, func() time.Time { return testTime().Add(7 * time.Hour) }
	}
	for _, n := range b.source.Nodes(t.Context()) { // as on the System page
		if !strings.Contains(n.Note, "finalized no block") {
			t.Errorf("of the node %+v", n)
		}
	}
}
