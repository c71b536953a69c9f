// Package node is what every adapter does alike with the nodes that it asks: it
// opens connections that are bounded in every way, keeps those that push, looks at
// how each node does, and says in words for people what is wrong with one. What is
// asked, and what makes an answer true, is the adapter's.
package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cointill/chain"
)

// demotionTime is how long a node that failed a question is asked last.
const demotionTime = 15 * time.Second

// quarantineTime is how long a node isn't asked at all that made a claim and didn't show it:
// to find that out again takes time.
const quarantineTime = time.Minute

// Subject is a node as its adapter knows it.
type Subject interface {
	// Handshake checks that the node follows the right network and is at its end.
	Handshake(ctx context.Context) (View, error)
	// Forget drops what was proved of the node: it failed, and behind its address
	// there may be another one by now.
	Forget()
}

// Node is one node of a pool and how it does.
type Node struct {
	Number   int    // its place in the configuration, from 1
	Host     string // for the log and for operators only
	pool     *Pool
	subject  Subject
	checking chan struct{} // holds one token while a look runs

	mu               sync.Mutex
	view             View
	demotedUntil     time.Time // until then other nodes are preferred
	singleFailure    bool      // it failed once only since it was last asked first
	quarantinedUntil time.Time // until then it can't be used
	quarantineReason error     // why it is barred
}

// View is what the last look at a node found.
type View struct {
	At               time.Time // zero: nobody looked yet
	Err              error     // why it can't be used; a chain.Problem where it is known what to do
	Tip              chain.Header
	Dialect, Version string
}

// Healthy reports whether the node was looked at and can be used.
func (v View) Healthy() bool { return !v.At.IsZero() && v.Err == nil }

// Seen is the last view.
func (n *Node) Seen() View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// Check looks at the node anew, or waits until another look has ended and then
// does. A look that takes too long is one that failed; the end of the context is no
// news about the node.
func (n *Node) Check(ctx context.Context) error {
	select {
	case n.checking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-n.checking }()
	return n.runCheck(ctx)
}

// startCheck starts a look unless one runs, and tells when it has ended. It goes on
// after the context has ended.
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
		_ = n.runCheck(context.WithoutCancel(ctx)) // which doesn't end
	}()
	return ended
}

// BrokenOff reports whether a look with this context was ended by who asked for it: then
// it tells nothing, as one does that the node let run out of time.
func BrokenOff(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent)
}

// Busy reports whether a look runs.
func (n *Node) Busy() bool { return len(n.checking) > 0 }

// runCheck asks the node and notes what it finds; the error is the context's.
func (n *Node) runCheck(ctx context.Context) error {
	limit := n.pool.Pace.Most
	within, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	v, err := n.subject.Handshake(within)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		v, err = View{}, Silent(limit)
	}
	if err == nil {
		err = n.quarantineError()
	}
	if err != nil {
		v.Err = n.Problem(err)
	}
	n.recordView(v)
	return nil
}

// quarantine leaves the node out for a while, however well it answers when it is looked at.
func (n *Node) quarantine(err error) {
	n.mu.Lock()
	n.quarantinedUntil, n.quarantineReason = n.pool.Clock().Add(quarantineTime), err
	n.mu.Unlock()
	n.markFailed(err)
}

// quarantineError is why the node is barred, or nil.
func (n *Node) quarantineError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.quarantinedUntil) {
		return n.quarantineReason
	}
	return nil
}

// markFailed notes that the node can't be used.
func (n *Node) markFailed(err error) { n.recordView(View{Err: n.Problem(err)}) }

// recordView remembers a view, and tells the log when it changes for good or bad.
func (n *Node) recordView(v View) {
	v.At = n.pool.Clock()
	if v.Err != nil {
		n.subject.Forget()
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
	case v.Err != nil && n.Sentence(v.Err) != n.Sentence(before.Err):
		log.Warn("a "+n.pool.Kind+" can't be used", "error", v.Err)
	case v.Err == nil && before.Err != nil:
		log.Info("a " + n.pool.Kind + " can be used again")
	}
}

// Blame turns an error of a question about the chain into what the follower
// gets, and lets other nodes be asked first for a while.
func (n *Node) Blame(ctx context.Context, err error) error {
	var problem chain.Problem // a problem of nobody's fault
	if err == nil || errors.Is(err, chain.ErrNoBlock) || errors.As(err, &problem) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	n.mu.Lock()
	now := n.pool.Clock()
	n.singleFailure = !now.Before(n.demotedUntil)
	n.demotedUntil = now.Add(demotionTime)
	n.mu.Unlock()
	return n.Problem(err)
}

// Shunned is until when the node is asked last; zero when it isn't.
func (n *Node) Shunned() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.demotedUntil) {
		return n.demotedUntil
	}
	return time.Time{}
}

// failedOnce reports whether the node is shunned for no more than one question.
func (n *Node) failedOnce() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.singleFailure
}

// Problem is an error about the node as people read it: the node by its place in
// the configuration, never by its address, which only the log has.
func (n *Node) Problem(err error) error {
	var t *Trouble
	if !errors.As(err, &t) {
		return fmt.Errorf("%s: %w", n.Host, err)
	}
	return fmt.Errorf("%w (%s: %w)", chain.Problem(n.displayName()+" "+t.sentence), n.Host, err)
}

// displayName is how sentences call the node.
func (n *Node) displayName() string {
	if len(n.pool.nodes) == 1 {
		return "The " + n.pool.Kind
	}
	return fmt.Sprintf("%s %d of %d", capitalizeFirst(n.pool.Kind), n.Number, len(n.pool.nodes))
}

// Sentence is what people read of an error about the node.
func (n *Node) Sentence(err error) string {
	var p chain.Problem
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return string(p)
	}
	return "The " + n.pool.Kind + " can't be read now; the log says why."
}
