// Package quorum holds what several nodes of a network must agree about, for all adapters: which of
// them can be used, which one is asked, and what counts while they differ.
package quorum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/node"
)

// demotionTime is how long other nodes are preferred to a node that failed a question.
const demotionTime = 15 * time.Second

// quarantineTime is how long a node isn't asked at all after it claimed a tip without proving it.
// Asking for the proof again takes time.
const quarantineTime = time.Minute

// identityTime is how long an address is trusted to lead to the same node.
const identityTime = 10 * time.Minute

// errCheckTimeout is the cause of checks that ran into their time limit.
var errCheckTimeout = errors.New("the check took too long")

// Adapter is the adapter's side of a node.
type Adapter interface {
	// Handshake verifies that the node follows the right network and has caught up.
	Handshake(ctx context.Context) (View, error)
	// Forget drops every verified fact about the node. It is called when the node failed, because
	// another node may answer at its address now.
	Forget()
	// base is implemented by the Node that the adapter's type embeds.
	baseNode() *Node
}

// Node is one node of a pool and its state.
type Node struct {
	Number   int    // its position in the configuration, from 1
	Host     string // for the log and for operators only
	calls    *node.CallCounter
	pool     *pool
	adapter  Adapter
	checking chan struct{} // holds one token while a check runs

	mu               sync.Mutex
	view             View
	demotedUntil     time.Time // other nodes are preferred until then
	singleFailure    bool      // one question failed since other nodes were last preferred
	quarantinedUntil time.Time // it isn't used until then
	quarantineReason error     // why it is quarantined
	identifiedAt     time.Time // when the adapter last verified which node it is
	confirmFailure   error     // why it could not confirm what another node showed
	lagging          bool      // left out because it lags; guarded by ChoiceMu
}

func (n *Node) baseNode() *Node { return n }

// IsIdentified reports whether the adapter verified lately which node answers.
func (n *Node) IsIdentified() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pool.Clock().Sub(n.identifiedAt) <= identityTime
}

// SetIdentified stores that the adapter verified which node answers.
func (n *Node) SetIdentified() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.identifiedAt = n.pool.Clock()
}

// Forget implements Adapter for adapters that keep no other fact.
func (n *Node) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.identifiedAt = time.Time{}
}

// View is the result of the last check of a node.
type View struct {
	At               time.Time // zero before the first check
	Err              error     // why it can't be used; a chain.Problem where an operator can act on it
	Tip              chain.Header
	Dialect, Version string
}

// Healthy reports whether the node was checked and can be used.
func (v View) Healthy() bool { return !v.At.IsZero() && v.Err == nil }

// LastView returns the result of the last check.
func (n *Node) LastView() View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// Check checks the node now. If another check is running, it waits for its end and then runs its
// own. A check that takes too long is a failure of the node; the end of the context is not.
func (n *Node) Check(ctx context.Context) error {
	select {
	case n.checking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-n.checking }()
	return n.runCheck(ctx)
}

// startCheck starts a check in the background unless one is running, and closes the returned
// channel when it has ended. The end of the context does not stop the check.
func (n *Node) startCheck(ctx context.Context) <-chan struct{} {
	ended := make(chan struct{})
	select {
	case n.checking <- struct{}{}:
	default:
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		defer func() { <-n.checking }()
		_ = n.runCheck(context.WithoutCancel(ctx)) // a context without cancelation gives no error
	}()
	return ended
}

// CanceledByCaller reports whether the caller ended a check with this context. Such a check says nothing
// about the node, unlike one that ran into the check's own time limit.
func CanceledByCaller(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errCheckTimeout)
}

// IsChecking reports whether a check is running.
func (n *Node) IsChecking() bool { return len(n.checking) > 0 }

// runCheck asks the node and records the view. Its error is the error of the context.
func (n *Node) runCheck(ctx context.Context) error {
	limit := n.pool.Timing.CheckTimeout
	within, cancel := context.WithTimeoutCause(ctx, limit, errCheckTimeout)
	defer cancel()
	v, err := n.adapter.Handshake(within)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		v, err = View{}, node.SilentError(limit)
	}
	if err == nil {
		err = n.quarantineError()
	}
	if err != nil {
		v.Err = n.WrapProblem(err)
	}
	n.recordView(v)
	return nil
}

// quarantine leaves the node out for quarantineTime, even if its checks succeed.
func (n *Node) quarantine(err error) {
	n.mu.Lock()
	n.quarantinedUntil, n.quarantineReason = n.pool.Clock().Add(quarantineTime), err
	n.mu.Unlock()
	n.markFailed(err)
}

// quarantineError returns why the node is quarantined, or nil.
func (n *Node) quarantineError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.quarantinedUntil) {
		return n.quarantineReason
	}
	return nil
}

// markFailed records that the node can't be used.
func (n *Node) markFailed(err error) { n.recordView(View{Err: n.WrapProblem(err)}) }

// recordView stores a view, and logs when the node becomes unusable or usable again.
func (n *Node) recordView(v View) {
	v.At = n.pool.Clock()
	if v.Err != nil {
		n.adapter.Forget()
	}
	n.mu.Lock()
	before := n.view
	if v.Err != nil {
		v.Dialect, v.Version = before.Dialect, before.Version
	}
	n.view = v
	n.mu.Unlock()
	log := n.pool.Log.With("network", n.pool.Network, n.pool.Kind, n.Number, "host", n.Host)
	switch {
	case v.Err != nil && n.ProblemSentence(v.Err) != n.ProblemSentence(before.Err):
		log.Warn("a "+n.pool.Kind+" can't be used", "error", v.Err)
	case v.Err == nil && before.Err != nil:
		log.Info("a " + n.pool.Kind + " can be used again")
	}
}

// DemoteOnError turns the error of a question about the chain into the error that the follower gets, and
// demotes the node: other nodes are preferred for demotionTime.
func (n *Node) DemoteOnError(ctx context.Context, err error) error {
	var problem chain.Problem // a problem that is not this node's fault
	if err == nil || errors.Is(err, chain.ErrNoBlock) || errors.As(err, &problem) ||
		errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	n.mu.Lock()
	now := n.pool.Clock()
	n.singleFailure = !now.Before(n.demotedUntil)
	n.demotedUntil = now.Add(demotionTime)
	n.mu.Unlock()
	return n.WrapProblem(err)
}

// DemotedUntil returns until when other nodes are preferred to this one, or zero.
func (n *Node) DemotedUntil() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.demotedUntil) {
		return n.demotedUntil
	}
	return time.Time{}
}

// failedOnce reports whether the node is demoted for a single failed question.
func (n *Node) failedOnce() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.singleFailure
}

// WrapProblem wraps an error about the node for operators. The sentence names the node by its position
// in the configuration; only the log shows its address.
func (n *Node) WrapProblem(err error) error {
	var t *node.Failure
	if !errors.As(err, &t) {
		return fmt.Errorf("%s: %w", n.Host, err)
	}
	return fmt.Errorf("%w (%s: %w)", chain.Problem(n.displayName()+" "+t.Sentence()), n.Host, err)
}

// displayName returns the name of the node in sentences: "Node 1 of 2".
func (n *Node) displayName() string {
	if len(n.pool.nodes) == 1 {
		return "The " + n.pool.Kind
	}
	return fmt.Sprintf("%s %d of %d", capitalizeFirst(n.pool.Kind), n.Number, len(n.pool.nodes))
}

// ProblemSentence returns the text that operators read for an error about the node.
func (n *Node) ProblemSentence(err error) string {
	var p chain.Problem
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return string(p)
	}
	return "The " + n.pool.Kind + " can't be read now; the log says why."
}
