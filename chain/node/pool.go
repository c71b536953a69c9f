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

// MaxNodes bounds the number of nodes of a network.
const MaxNodes = 8

// Config is common to all nodes of a network.
type Config struct {
	Kind    string // the word for a node in sentences: "node" or "server"
	Network chain.Network
	Clock   clock.Clock
	Log     *slog.Logger
}

// CheckURLs reads the nodes' URLs, the preferred one first. It refuses more than Most, none, and
// duplicates. read parses one URL and returns the part that identifies the node. Errors give the
// position of the wrong URL and no more of its text than the errors of read do.
func CheckURLs(kind string, urls []string, read func(url string) (base string, err error)) error {
	if len(urls) == 0 || len(urls) > MaxNodes {
		return fmt.Errorf("a network has 1 to %d %ss", MaxNodes, kind)
	}
	listed := map[string]bool{}
	for i, url := range urls {
		base, err := read(url)
		switch {
		case err != nil:
			return fmt.Errorf("%s %d of %d: %w", kind, i+1, len(urls), err)
		case listed[base]:
			return fmt.Errorf("%s %d of %d is listed twice: two %ss check each other only when they are two", kind,
				i+1, len(urls), kind)
		}
		listed[base] = true
	}
	return nil
}

// Timing holds the time limits of a pool; tests use shorter ones.
type Timing struct {
	HealthyAge   time.Duration // how long the view of a healthy node that isn't in use stays valid
	UnhealthyAge time.Duration // how long the view of an unhealthy node stays valid
	Grace        time.Duration // how long such a check may delay a choice
	// CheckTimeout is the time limit of a check; after it the node counts as silent. A follower's timeout
	// allows for two of them, so that two silent nodes can be given up one after the other within
	// one question.
	CheckTimeout time.Duration
}

// DefaultTiming is the default of a pool.
var DefaultTiming = Timing{HealthyAge: 2 * time.Second, UnhealthyAge: 5 * time.Second, Grace: 250 * time.Millisecond,
	CheckTimeout: 12 * time.Second}

// Pool is the nodes of a network, in the configured order. The adapter decides which one is asked
// and when two nodes contradict each other.
type Pool struct {
	Config
	Timing Timing
	nodes  []*Node

	ChoiceMu sync.Mutex // held while a node is chosen; guards the fields below
	Chosen   *Node      // the node in use; nil when there is none
	Dispute  string     // the sentence of the dispute while nodes disagree
}

// NewPool makes a pool without nodes.
func NewPool(c Config) *Pool { return &Pool{Config: c, Timing: DefaultTiming} }

// AddNode adds a node. It is called before the first question.
func (p *Pool) AddNode(host string, adapter Adapter) *Node {
	n := &Node{Number: len(p.nodes) + 1, Host: host, pool: p, adapter: adapter, checking: make(chan struct{}, 1)}
	p.nodes = append(p.nodes, n)
	return n
}

// CheckAll checks every node now.
func (p *Pool) CheckAll(ctx context.Context) {
	p.checkAndWait(ctx, p.nodes, map[*Node]bool{}) // if the context ends, the statuses show the views before
}

// Statuses returns the status of each node by its last view. The caller sets InUse.
func (p *Pool) Statuses() []chain.NodeStatus {
	p.ChoiceMu.Lock()
	disputed := p.Dispute
	p.ChoiceMu.Unlock()
	all := make([]chain.NodeStatus, len(p.nodes))
	for i, n := range p.nodes {
		v := n.LastView()
		st := chain.NodeStatus{Host: n.Host, Dialect: v.Dialect, Version: v.Version, Height: v.Tip.Height,
			Hash: v.Tip.Hash, Problem: n.ProblemSentence(v.Err)}
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

// RefreshViews checks the chosen node, or every node if none is chosen, and waits for the checks. Other
// nodes whose views are too old are checked as well, but they delay the call by Grace at most, so
// that a silent node doesn't slow down a working one. If none is chosen, this holds for nodes that
// were silent at their last check, too, unless no other node is healthy. Nodes whose checks were
// waited for are added to fresh; nodes in fresh are not checked again. The error is the error of
// the context.
func (p *Pool) RefreshViews(ctx context.Context, fresh map[*Node]bool) error {
	var waited, background, silent []*Node
	for _, n := range p.nodes {
		v := n.LastView()
		age, limit := p.Clock().Sub(v.At), p.Timing.HealthyAge
		if v.Err != nil {
			limit = p.Timing.UnhealthyAge
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
	if slices.ContainsFunc(p.nodes, func(n *Node) bool { return n.LastView().Healthy() }) {
		pending = append(pending, p.startChecks(ctx, silent)...)
	} else {
		p.checkAndWait(ctx, silent, fresh)
	}
	if len(pending) == 0 {
		return ctx.Err()
	}
	grace := time.NewTimer(p.Timing.Grace)
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

// checkAndWait checks nodes and waits for all of them.
func (p *Pool) checkAndWait(ctx context.Context, nodes []*Node, fresh map[*Node]bool) {
	var checks sync.WaitGroup
	for _, n := range nodes {
		fresh[n] = true
		checks.Go(func() { _ = n.Check(ctx) }) // the caller sees the end of the context
	}
	checks.Wait()
}

// startChecks starts checks in the background. Each returned channel is closed at the end of one.
func (p *Pool) startChecks(ctx context.Context, nodes []*Node) (all []<-chan struct{}) {
	for _, n := range nodes {
		all = append(all, n.startCheck(ctx))
	}
	return all
}

// ErrAgain asks for another round of checks and comparisons.
var ErrAgain = errors.New("look again")

// CompareNode asks a node for data to compare it with others, within the time limit of a check. A node
// that fails is marked as failed until its next check; the error is ErrAgain then.
func (p *Pool) CompareNode(ctx context.Context, n *Node, ask func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, p.Timing.CheckTimeout)
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

// UnstableError is the problem when the rounds of checks and comparisons don't end.
func (p *Pool) UnstableError() error {
	return chain.Problem("The " + p.Kind + "s change too fast to be compared. They are asked again.")
}

// NoUsableNodeError is the problem when no node can be used.
func (p *Pool) NoUsableNodeError() error {
	if len(p.nodes) == 1 {
		return p.nodes[0].LastView().Err
	}
	text, causes := "No "+p.Kind+" can be used.", make([]error, 0, len(p.nodes))
	for _, n := range p.nodes {
		if err := n.LastView().Err; err != nil {
			text += " " + n.ProblemSentence(err)
			causes = append(causes, err)
		}
	}
	return noUsableNode{fmt.Errorf("%w (%w)", chain.Problem(text), errors.Join(causes...)), AreTransient(causes)}
}

// noUsableNode is the error that lists the problem of each node.
type noUsableNode struct {
	error
	transient bool
}

// Unwrap gives access to the chain.Problem.
func (n noUsableNode) Unwrap() error { return n.error }

// Transient implements the interface that chain.IsTransient looks for, for all nodes together.
func (n noUsableNode) Transient() bool { return n.transient }

// CurrentNode holds the node that the last Tip chose. This node answers all other questions until the
// next Tip. N is the adapter's type of a node.
type CurrentNode[N any] struct {
	ChooseNode func(ctx context.Context) (N, chain.Header, error)

	mu     sync.Mutex
	chosen bool // the last choice succeeded
	node   N
	tip    chain.Header
}

// maxChoiceTime bounds a choice for callers without a deadline, because other callers wait for it.
const maxChoiceTime = 30 * time.Second

// ChooseAgain chooses the node that is asked from now on, and returns it and its tip.
func (a *CurrentNode[N]) ChooseAgain(ctx context.Context) (N, chain.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, maxChoiceTime)
	defer cancel()
	n, tip, err := a.ChooseNode(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.node, a.tip, a.chosen = n, tip, err == nil
	return n, tip, err
}

// GetOrChoose returns the node in use and the tip that it had when it was chosen. It chooses one if the
// last choice failed or there was none yet.
func (a *CurrentNode[N]) GetOrChoose(ctx context.Context) (N, chain.Header, error) {
	a.mu.Lock()
	n, tip, chosen := a.node, a.tip, a.chosen
	a.mu.Unlock()
	if chosen {
		return n, tip, ctx.Err()
	}
	return a.ChooseAgain(ctx)
}

// capitalizeFirst returns a word with an upper-case first letter.
func capitalizeFirst(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
