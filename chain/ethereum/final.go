package ethereum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/chain/node"
)

// stalled is how far the finalized block may be behind before people are told:
// 6 hours, where two slots' epochs (13 minutes) are usual.
const stalled = 6 * time.Hour

// final is the height up to which all nodes that are well, and that say it, call
// blocks finalized: none of those makes something final alone. While nobody says, it
// is the first block, so that what must be final waits. It is never -1, which would
// mean that the network has no finality, and that nothing needs to wait for it.
func (s *Source) final() (height int64) {
	said := false
	for _, n := range s.others(nil) {
		n.mu.Lock()
		if n.says && (!said || n.finalized < height) {
			said, height = true, n.finalized
		}
		n.mu.Unlock()
	}
	return height
}

// finality is what people should know of what the nodes that are well call final, or "".
func (s *Source) finality() (late string) {
	said := false
	for _, n := range s.others(nil) {
		n.mu.Lock()
		said, late = said || n.says, cmp.Or(late, n.stalls())
		n.mu.Unlock()
	}
	if !said {
		return "No node says which blocks are final, so payments above 100 USD stay Processing, and ether that contracts send on is found by trace=blocks only. Connect the node's consensus client, " +
			"or use a provider that answers for the block tag finalized."
	}
	return late
}

// stalls says since when nothing was finalized, where that takes too long. The
// server's lock is held.
func (n *server) stalls() string {
	if late := n.clock().Sub(n.ends); n.params.Stale > 0 && late > stalled && !n.ends.IsZero() {
		return fmt.Sprintf("The network has finalized no block for %d hours. Larger payments stay Processing until it does; nothing is lost.", int(late.Hours()))
	}
	return ""
}

// unsaid names the node where it is well and doesn't say which blocks are final. The server's
// lock is held.
func (n *server) unsaid() string {
	if n.says || !n.Seen().Healthy() {
		return ""
	}
	return n.Sentence(n.Problem(node.Troubled(nil, "doesn't say which blocks are final: others' word counts then, and without any, payments above 100 USD wait. "+
		"Connect its consensus client, or use a provider that answers for the block tag finalized.")))
}

// note is what people should know although the node can be used.
func (n *server) note() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return sentences(n.token.note(), n.muted, n.doubt, n.stalls(), n.unsaid())
}

// sentences are those that aren't empty, as one text.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), " ")
}
