package ethereum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/chain/node"
)

// maxFinalityLag is how far the finalized block may be behind before people are told:
// 6 hours, where two slots' epochs (13 minutes) are usual.
const maxFinalityLag = 6 * time.Hour

// finalizedHeight is the height up to which all nodes that are well, and that say it, call
// blocks finalized: none of those makes something final alone. While nobody says, it
// is the first block, so that what must be final waits. It is never -1, which would
// mean that the network has no finality, and that nothing needs to wait for it.
func (s *Source) finalizedHeight() (height int64) {
	said := false
	for _, n := range s.healthyOthers(nil) {
		n.mu.Lock()
		if n.saysFinalized && (!said || n.finalized < height) {
			said, height = true, n.finalized
		}
		n.mu.Unlock()
	}
	return height
}

// finalityNote is what people should know of what the nodes that are well call final, or "".
func (s *Source) finalityNote() (late string) {
	said := false
	for _, n := range s.healthyOthers(nil) {
		n.mu.Lock()
		said, late = said || n.saysFinalized, cmp.Or(late, n.stalledNote())
		n.mu.Unlock()
	}
	if !said {
		return "No node says which blocks are final, so payments above 100 USD stay Processing, and ether that contracts send on is found by trace=blocks only. Connect the node's consensus client, " +
			"or use a provider that answers for the block tag finalized."
	}
	return late
}

// stalledNote says since when nothing was finalized, where that takes too long. The
// server's lock is held.
func (n *server) stalledNote() string {
	if late := n.clock().Sub(n.finalizedTime); n.params.Stale > 0 && late > maxFinalityLag && !n.finalizedTime.IsZero() {
		return fmt.Sprintf("The network has finalized no block for %d hours. Larger payments stay Processing until it does; nothing is lost.", int(late.Hours()))
	}
	return ""
}

// missingFinalityNote names the node where it is well and doesn't say which blocks are final. The server's
// lock is held.
func (n *server) missingFinalityNote() string {
	if n.saysFinalized || !n.Seen().Healthy() {
		return ""
	}
	return n.Sentence(n.Problem(node.Troubled(nil, "doesn't say which blocks are final: others' word counts then, and without any, payments above 100 USD wait. "+
		"Connect its consensus client, or use a provider that answers for the block tag finalized.")))
}

// collectNotes is what people should know although the node can be used.
func (n *server) collectNotes() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return joinSentences(n.token.describeState(), n.confirmFailure, n.balanceDispute, n.stalledNote(), n.missingFinalityNote())
}

// joinSentences are those that aren't empty, as one text.
func joinSentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), " ")
}
