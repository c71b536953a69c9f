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

// shunning is how long a node that failed a question is asked last.
const shunning = 15 * time.Second

// barring is how long a node isn't asked at all that made a claim and didn't show it:
// to find that out again takes time.
const barring = time.Minute

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
	Number  int    // its place in the configuration, from 1
	Host    string // for the log and for operators only
	pool    *Pool
	subject Subject
	looking chan struct{} // holds one token while a look runs

	mu      sync.Mutex
	view    View
	shunned time.Time // until then other nodes are preferred
	once    bool      // it failed once only since it was last asked first
	barred  time.Time // until then it can't be used
	claim   error     // why it is barred
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
	case n.looking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-n.looking }()
	return n.look(ctx)
}

// checkLater starts a look unless one runs, and tells when it has ended. It goes on
// after the context has ended.
func (n *Node) checkLater(ctx context.Context) <-chan struct{} {
	ended := make(chan struct{})
	select {
	case n.looking <- struct{}{}:
	default:
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		defer func() { <-n.looking }()
		_ = n.look(context.WithoutCancel(ctx)) // which doesn't end
	}()
	return ended
}

// BrokenOff reports whether a look with this context was ended by who asked for it: then
// it tells nothing, as one does that the node let run out of time.
func BrokenOff(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent)
}

// Busy reports whether a look runs.
func (n *Node) Busy() bool { return len(n.looking) > 0 }

// look asks the node and notes what it finds; the error is the context's.
func (n *Node) look(ctx context.Context) error {
	most := n.pool.Pace.Most
	within, cancel := context.WithTimeoutCause(ctx, most, errSilent)
	defer cancel()
	v, err := n.subject.Handshake(within)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		v, err = View{}, Silent(most)
	}
	if err == nil {
		err = n.bars()
	}
	if err != nil {
		v.Err = n.Problem(err)
	}
	n.note(v)
	return nil
}

// bar leaves the node out for a while, however well it answers when it is looked at.
func (n *Node) bar(err error) {
	n.mu.Lock()
	n.barred, n.claim = n.pool.Clock().Add(barring), err
	n.mu.Unlock()
	n.fail(err)
}

// bars is why the node is barred, or nil.
func (n *Node) bars() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.barred) {
		return n.claim
	}
	return nil
}

// fail notes that the node can't be used.
func (n *Node) fail(err error) { n.note(View{Err: n.Problem(err)}) }

// note remembers a view, and tells the log when it changes for good or bad.
func (n *Node) note(v View) {
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
	tell := n.pool.Log.With("network", n.pool.Network, n.pool.Kind, n.Number, "host", n.Host)
	switch {
	case v.Err != nil && n.Sentence(v.Err) != n.Sentence(before.Err):
		tell.Warn("a "+n.pool.Kind+" can't be used", "error", v.Err)
	case v.Err == nil && before.Err != nil:
		tell.Info("a " + n.pool.Kind + " can be used again")
	}
}

// Blame turns an error of a question about the chain into what the follower
// gets, and lets other nodes be asked first for a while.
func (n *Node) Blame(ctx context.Context, err error) error {
	var told chain.Problem // a problem of nobody's fault
	if err == nil || errors.Is(err, chain.ErrNoBlock) || errors.As(err, &told) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	n.mu.Lock()
	now := n.pool.Clock()
	n.once = !now.Before(n.shunned)
	n.shunned = now.Add(shunning)
	n.mu.Unlock()
	return n.Problem(err)
}

// Shunned is until when the node is asked last; zero when it isn't.
func (n *Node) Shunned() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.Clock().Before(n.shunned) {
		return n.shunned
	}
	return time.Time{}
}

// failedOnce reports whether the node is shunned for no more than one question.
func (n *Node) failedOnce() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.once
}

// Problem is an error about the node as people read it: the node by its place in
// the configuration, never by its address, which only the log has.
func (n *Node) Problem(err error) error {
	var t *Trouble
	if !errors.As(err, &t) {
		return fmt.Errorf("%s: %w", n.Host, err)
	}
	return fmt.Errorf("%w (%s: %w)", chain.Problem(n.name()+" "+t.sentence), n.Host, err)
}

// name is how sentences call the node.
func (n *Node) name() string {
	if len(n.pool.nodes) == 1 {
		return "The " + n.pool.Kind
	}
	return fmt.Sprintf("%s %d of %d", capital(n.pool.Kind), n.Number, len(n.pool.nodes))
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
