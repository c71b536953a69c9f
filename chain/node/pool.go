package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/clock"
)

// Most bounds how many nodes one network may have.
const Most = 8

// Config is what is common to all nodes of a network.
type Config struct {
	Kind    string // what people call one: "node" or "server"
	Network chain.Network
	Clock   clock.Clock
	Log     *slog.Logger
}

// URLs reads the nodes' URLs, the preferred one first, and refuses too many and
// the same one twice. Read gives what tells a node from others. Errors say which
// URL is wrong, by its place; they hold no more of its text than read's do.
func URLs(kind string, urls []string, read func(url string) (base string, err error)) error {
	if len(urls) == 0 || len(urls) > Most {
		return fmt.Errorf("a network has 1 to %d %ss", Most, kind)
	}
	listed := map[string]bool{}
	for i, url := range urls {
		base, err := read(url)
		switch {
		case err != nil:
			return fmt.Errorf("%s %d of %d: %w", kind, i+1, len(urls), err)
		case listed[base]:
			return fmt.Errorf("%s %d of %d is listed twice: two %ss check each other only when they are two", kind, i+1, len(urls), kind)
		}
		listed[base] = true
	}
	return nil
}

// Pace is how patient a pool is; tests have less time.
type Pace struct {
	Moment time.Duration // how long a look at a healthy node that isn't asked is remembered
	Pause  time.Duration // how long one at an unhealthy node is
	Grace  time.Duration // what such a look may delay a choice by
	// Most is what any look may take: then the node is one that says nothing. Two of them
	// fit into the time that a follower waits for an answer, so that one node after the
	// other can be given up while somebody waits.
	Most time.Duration
}

// UsualPace is a pool's, unless its adapter says otherwise.
var UsualPace = Pace{Moment: 2 * time.Second, Pause: 5 * time.Second, Grace: 250 * time.Millisecond, Most: 12 * time.Second}

// Pool is the nodes of a network, in the configured order. Which of them is asked
// and what makes two contradict each other is for the adapter to say.
type Pool struct {
	Config
	Pace  Pace
	nodes []*Node

	Choosing sync.Mutex // one choice of a node at a time; guards what follows
	Chosen   *Node      // the one that is asked; nil when there is none
	Disputed string     // the sentence while nodes disagree
}

// NewPool makes a pool without nodes.
func NewPool(c Config) *Pool { return &Pool{Config: c, Pace: UsualPace} }

// Add adds a node, before anything is asked.
func (p *Pool) Add(host string, subject Subject) *Node {
	n := &Node{Number: len(p.nodes) + 1, Host: host, pool: p, subject: subject, checking: make(chan struct{}, 1)}
	p.nodes = append(p.nodes, n)
	return n
}

// CheckAll looks at every node now.
func (p *Pool) CheckAll(ctx context.Context) {
	p.checkAndWait(ctx, p.nodes, map[*Node]bool{}) // the end of the context: what was seen before is told
}

// Statuses tells how each node does as far as it was seen. Which one is in use is
// left to the caller.
func (p *Pool) Statuses() []chain.NodeStatus {
	p.Choosing.Lock()
	disputed := p.Disputed
	p.Choosing.Unlock()
	all := make([]chain.NodeStatus, len(p.nodes))
	for i, n := range p.nodes {
		v := n.Seen()
		st := chain.NodeStatus{Host: n.Host, Dialect: v.Dialect, Version: v.Version, Height: v.Tip.Height, Hash: v.Tip.Hash, Problem: n.Sentence(v.Err)}
		switch {
		case v.At.IsZero():
			st.Problem = "The " + p.Kind + " wasn't reached in time."
		case st.Problem == "":
			st.Problem = disputed
		}
		all[i] = st
	}
	return all
}

// Look looks at the chosen node, or at all when there is none, and waits for
// them. Others whose look is too old are looked at, too, but hold nothing up for
// longer than a moment: what hangs shall not slow down what works. Where none is
// chosen that holds for those that hung last, too, unless they are all that is left.
// Nodes that were waited for are added to fresh; those in it are not looked at again.
// The error is the context's.
func (p *Pool) Look(ctx context.Context, fresh map[*Node]bool) error {
	var waited, background, silent []*Node
	for _, n := range p.nodes {
		v := n.Seen()
		age, limit := p.Clock().Sub(v.At), p.Pace.Moment
		if v.Err != nil {
			limit = p.Pace.Pause
		}
		switch {
		case fresh[n]:
		case p.Chosen == nil && isSilent(v.Err):
			silent = append(silent, n)
		case n == p.Chosen || p.Chosen == nil || v.At.IsZero():
			waited = append(waited, n)
		case age >= limit:
			background = append(background, n)
		}
	}
	pending := p.startChecks(ctx, background)
	p.checkAndWait(ctx, waited, fresh)
	if slices.ContainsFunc(p.nodes, func(n *Node) bool { return n.Seen().Healthy() }) {
		pending = append(pending, p.startChecks(ctx, silent)...)
	} else {
		p.checkAndWait(ctx, silent, fresh)
	}
	if len(pending) == 0 {
		return ctx.Err()
	}
	grace := time.NewTimer(p.Pace.Grace)
	defer grace.Stop()
	for _, ended := range pending {
		select {
		case <-ended:
		case <-grace.C:
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// checkAndWait looks at nodes and waits for all of them.
func (p *Pool) checkAndWait(ctx context.Context, nodes []*Node, fresh map[*Node]bool) {
	var checks sync.WaitGroup
	for _, n := range nodes {
		fresh[n] = true
		checks.Go(func() { _ = n.Check(ctx) }) // the context's end is for the caller to see
	}
	checks.Wait()
}

// startChecks looks at nodes that nobody waits for, and tells when each look has ended.
func (p *Pool) startChecks(ctx context.Context, nodes []*Node) (all []<-chan struct{}) {
	for _, n := range nodes {
		all = append(all, n.startCheck(ctx))
	}
	return all
}

// ErrAgain asks for another round of looking and comparing.
var ErrAgain = errors.New("look again")

// Compare asks a node what it is compared with others by, within bounded time. One
// that can't tell is not asked any more until it was looked at anew: ErrAgain.
func (p *Pool) Compare(ctx context.Context, n *Node, ask func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, p.Pace.Most)
	defer cancel()
	err := ask(within)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	n.markFailed(err)
	return ErrAgain
}

// Unstable is the problem when rounds of looking and comparing find no end.
func (p *Pool) Unstable() error {
	return chain.Problem("The " + p.Kind + "s change too fast to be compared. They are asked again.")
}

// Nobody is the problem when no node can be used.
func (p *Pool) Nobody() error {
	if len(p.nodes) == 1 {
		return p.nodes[0].Seen().Err
	}
	text, causes := "No "+p.Kind+" can be used.", make([]error, 0, len(p.nodes))
	for _, n := range p.nodes {
		if err := n.Seen().Err; err != nil {
			text += " " + n.Sentence(err)
			causes = append(causes, err)
		}
	}
	return noUsableNode{fmt.Errorf("%w (%w)", chain.Problem(text), errors.Join(causes...)), Passing(causes)}
}

// noUsableNode is why no node can be used.
type noUsableNode struct {
	error
	transient bool
}

// Unwrap lets people read the sentence.
func (n noUsableNode) Unwrap() error { return n.error }

// Passing is for all nodes together: see chain.Follower.
func (n noUsableNode) Passing() bool { return n.transient }

// Asked is the node that the last Tip read, as the adapter knows it: it answers
// all other questions until the next Tip.
type Asked[N any] struct {
	Choose func(ctx context.Context) (N, chain.Header, error)

	mu     sync.Mutex
	chosen bool // the last choice went well
	node   N
	tip    chain.Header
}

// maxChoiceTime bounds a choice for whoever has no bound of their own: others wait for it.
const maxChoiceTime = 30 * time.Second

// Tip chooses the node that is asked from now on, and gives its tip.
func (a *Asked[N]) Tip(ctx context.Context) (N, chain.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, maxChoiceTime)
	defer cancel()
	n, tip, err := a.Choose(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.node, a.tip, a.chosen = n, tip, err == nil
	return n, tip, err
}

// Now is the node that is asked, and the tip that it had when it was chosen. It
// chooses one where the last choice failed or nobody asked for the tip yet.
func (a *Asked[N]) Now(ctx context.Context) (N, chain.Header, error) {
	a.mu.Lock()
	n, tip, chosen := a.node, a.tip, a.chosen
	a.mu.Unlock()
	if chosen {
		return n, tip, ctx.Err()
	}
	return a.Tip(ctx)
}

// capitalizeFirst is a word at the beginning of a sentence.
func capitalizeFirst(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
