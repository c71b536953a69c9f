package ethereum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/chain/node"
)

// minFinalityLag is how old the finalized block is at least when a note is shown, however fast the network is.
const minFinalityLag = 30 * time.Minute

// finalizedHeight returns the lowest height that a healthy node reports as finalized, so that no
// single node can make a block final. Nodes that report none are left out. If no node reports one,
// the result is 0, the first block, so that payments that need finality wait. It is never -1,
// which would mean that the network has no finality and that no payment has to wait.
func (s *Source) finalizedHeight() (height int64) {
	said := false
	for _, n := range s.nodes.HealthyOthers(nil) {
		n.mu.Lock()
		if n.saysFinalized && (!said || n.finalized < height) {
			said, height = true, n.finalized
		}
		n.mu.Unlock()
	}
	return height
}

// finalityNote returns a note if no healthy node reports finality or if finality is late, or "".
func (s *Source) finalityNote() (late string) {
	said := false
	for _, n := range s.nodes.HealthyOthers(nil) {
		n.mu.Lock()
		said, late = said || n.saysFinalized, cmp.Or(late, n.stalledNote())
		n.mu.Unlock()
	}
	if !said {
		return "No node says which blocks are final, so payments above 100 USD stay Processing, and ether sent by " +
			"contracts is found only with trace=blocks. Connect the node's consensus client, or use a provider that " +
			"answers for the block tag finalized."
	}
	return late
}

// stalledNote returns since when no block was finalized, if that is four times as long as usual on the network. The
// caller holds the server's lock.
func (n *server) stalledNote() string {
	late := n.clock().Sub(n.finalizedTime)
	if n.params.Stale == 0 || n.finalizedTime.IsZero() || late <= max(4*n.params.Finality.Usual, minFinalityLag) {
		return ""
	}
	since := fmt.Sprintf("%d minutes", int(late.Minutes()))
	if late >= 2*time.Hour {
		since = fmt.Sprintf("%d hours", int(late.Hours()))
	}
	return fmt.Sprintf("The network has finalized no block for %s. Larger payments stay Processing until it does; "+
		"nothing is lost.", since)
}

// missingFinalityNote returns a note if the node is healthy but does not report which blocks are
// final. The caller holds the server's lock.
func (n *server) missingFinalityNote() string {
	if n.saysFinalized || !n.LastView().Healthy() {
		return ""
	}
	return n.ProblemSentence(n.WrapProblem(node.NewFailure(nil,
		"doesn't say which blocks are final. The other nodes decide; if none of them says it, payments above 100 USD "+
			"wait. Connect its consensus client, or use a provider that answers for the block tag finalized.")))
}

// collectNotes returns all notes about a node that can still be used.
func (n *server) collectNotes() string {
	unconfirmed := ""
	if err := n.ConfirmFailure(); err != nil {
		unconfirmed = "Blocks are counted without its confirmation: " + n.ProblemSentence(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return joinSentences(n.token.describeState(), unconfirmed, n.balanceDispute, n.stalledNote(),
		n.missingFinalityNote())
}

// joinSentences joins the sentences that are not empty.
func joinSentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), " ")
}
