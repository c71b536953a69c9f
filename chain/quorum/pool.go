package quorum

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"cointill/chain"
	"cointill/chain/node"
)

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

// Pool is the nodes of a network, in the configured order. N is the adapter's type of a node.
type Pool[N Adapter] struct {
	*pool
	Members []N
}

// AddNode adds a node, whose calls are counted by a counter. It is called before the first question.
func (p *Pool[N]) AddNode(host string, calls *node.CallCounter, member N) *Node {
	n := &Node{Number: len(p.nodes) + 1, Host: host, calls: calls, pool: p.pool, adapter: member,
		checking: make(chan struct{}, 1)}
	p.nodes, p.Members = append(p.nodes, n), append(p.Members, member)
	return n
}

// Choose returns the node to ask from now on, and the end of the chain as far as it counts. The node was
// checked after the call began, is healthy, and is not contradicted by any other healthy node.
func (p *Pool[N]) Choose(ctx context.Context) (n N, tip chain.Header, err error) {
	chosen, tip, err := p.chooseNode(ctx)
	if err == nil {
		n = p.Members[chosen.Number-1]
	}
	return n, tip, err
}

// Current returns what the last choice found. It chooses again if that choice failed, there was none yet, or it
// is older than maxChoiceAge.
func (p *Pool[N]) Current(ctx context.Context) (N, chain.Header, error) {
	p.lastMu.Lock()
	last := p.last
	p.lastMu.Unlock()
	if last.node != nil && p.Clock().Sub(last.at) < maxChoiceAge {
		return p.Members[last.node.Number-1], last.tip, ctx.Err()
	}
	return p.Choose(ctx)
}

// HealthyOthers returns the healthy nodes without one of them, or all of them for nil.
func (p *Pool[N]) HealthyOthers(without *Node) (others []N) {
	for _, n := range p.healthyNodes() {
		if n != without {
			others = append(others, p.Members[n.Number-1])
		}
	}
	return others
}

// rule says what nodes must agree about.
type rule interface {
	// PickBest compares the healthy nodes, and returns the best one to ask with the end of the chain as
	// far as it counts, or nil when there is none. Nodes in fresh were checked since the choice began. The
	// caller holds ChoiceMu.
	PickBest(ctx context.Context, fresh map[*Node]bool) (*Node, chain.Header, error)
	// FindProblem returns the problem of a healthy node that contradicts no other one, or nil.
	FindProblem(n *Node) error
}

// pool is the part of a Pool that doesn't depend on the adapter's type of a node.
type pool struct {
	node.Config
	rule
	Timing Timing
	nodes  []*Node

	ChoiceMu sync.Mutex // held while a node is chosen; guards the fields below
	Chosen   *Node      // the node in use; nil when there is none
	Dispute  string     // the sentence of the dispute while nodes disagree

	lastMu sync.Mutex // guards last
	last   struct {   // the last choice; its node is nil if it failed
		node *Node
		tip  chain.Header
		at   time.Time
	}
}

const (
	// maxChoiceAge is how long Current returns the result of a choice: longer than a follower rests between two.
	maxChoiceAge = 2 * time.Minute
	// maxChoiceTime bounds a choice for callers without a deadline, because other callers wait for it.
	maxChoiceTime = 30 * time.Second
)

// chooseNode chooses the node to ask, and keeps the result for Current.
func (p *pool) chooseNode(ctx context.Context) (*Node, chain.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, maxChoiceTime)
	defer cancel()
	p.ChoiceMu.Lock()
	defer p.ChoiceMu.Unlock()
	n, tip, err := p.findNode(ctx)
	p.lastMu.Lock()
	defer p.lastMu.Unlock()
	p.last.node, p.last.tip, p.last.at = n, tip, p.Clock()
	return n, tip, err
}

// findNode checks and compares nodes until the best one was checked after the call began.
func (p *pool) findNode(ctx context.Context) (*Node, chain.Header, error) {
	fresh := map[*Node]bool{}
	for range 4 * len(p.nodes) { // each round checks a node again, or ends
		if err := p.RefreshViews(ctx, fresh); err != nil {
			return nil, chain.Header{}, err
		}
		n, tip, err := p.PickBest(ctx, fresh)
		if errors.Is(err, errAgain) {
			continue
		}
		waitedForAll := p.Chosen == nil // RefreshViews waited for every node
		p.Chosen = nil
		switch {
		case err != nil:
			return nil, chain.Header{}, err
		case n == nil && waitedForAll:
			return nil, chain.Header{}, p.NoUsableNodeError()
		case n == nil:
			continue
		}
		if p.Chosen = n; fresh[n] {
			return n, tip, nil
		}
	}
	p.Chosen = nil
	return nil, chain.Header{}, chain.Problem("The " + p.Kind +
		"s change too fast to be compared. They are asked again.")
}

// healthyNodes returns the healthy nodes.
func (p *pool) healthyNodes() (healthy []*Node) {
	for _, n := range p.nodes {
		if n.LastView().Healthy() {
			healthy = append(healthy, n)
		}
	}
	return healthy
}

// CheckAll checks every node now.
func (p *pool) CheckAll(ctx context.Context) {
	p.checkAndWait(ctx, p.nodes, map[*Node]bool{}) // if the context ends, the statuses show the views before
}

// CheckNodes checks every node now and returns their statuses in the configured order.
func (p *pool) CheckNodes(ctx context.Context) []chain.NodeStatus {
	p.CheckAll(ctx)
	inUse, _, _ := p.chooseNode(ctx) // the statuses show every problem, also this one
	return p.describeNodes(inUse)
}

// describeNodes returns the status of each node by its last view.
func (p *pool) describeNodes(inUse *Node) []chain.NodeStatus {
	p.ChoiceMu.Lock()
	disputed := p.Dispute
	p.ChoiceMu.Unlock()
	all := make([]chain.NodeStatus, len(p.nodes))
	for i, n := range p.nodes {
		v := n.LastView()
		st := chain.NodeStatus{Host: n.Host, Dialect: v.Dialect, Version: v.Version, Height: v.Tip.Height,
			Hash: v.Tip.Hash, Problem: n.ProblemSentence(v.Err), InUse: n == inUse, Calls: n.calls.CountDay()}
		switch {
		case v.At.IsZero():
			st.Problem = "The " + p.Kind + " wasn't reached in time."
		case st.Problem == "":
			st.Problem = cmp.Or(disputed, n.ProblemSentence(p.FindProblem(n)))
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
func (p *pool) RefreshViews(ctx context.Context, fresh map[*Node]bool) error {
	var waited, background, silent []*Node
	for _, n := range p.nodes {
		v := n.LastView()
		age, limit := p.Clock().Sub(v.At), p.Timing.HealthyAge
		if v.Err != nil {
			limit = p.Timing.UnhealthyAge
		}
		switch {
		case fresh[n]:
		case p.Chosen == nil && node.IsSilent(v.Err):
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
func (p *pool) checkAndWait(ctx context.Context, nodes []*Node, fresh map[*Node]bool) {
	var checks sync.WaitGroup
	for _, n := range nodes {
		fresh[n] = true
		checks.Go(func() { _ = n.Check(ctx) }) // the caller sees the end of the context
	}
	checks.Wait()
}

// startChecks starts checks in the background. Each returned channel is closed at the end of one.
func (p *pool) startChecks(ctx context.Context, nodes []*Node) (all []<-chan struct{}) {
	for _, n := range nodes {
		all = append(all, n.startCheck(ctx))
	}
	return all
}

// errAgain asks for another round of checks and comparisons.
var errAgain = errors.New("look again")

// CompareNode asks a node for data to compare it with others, within the time limit of a check. A node
// that fails is marked as failed until its next check; the error is errAgain then.
func (p *pool) CompareNode(ctx context.Context, n *Node, ask func(ctx context.Context) error) error {
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
	return errAgain
}

// NoUsableNodeError is the problem when no node can be used.
func (p *pool) NoUsableNodeError() error {
	if len(p.nodes) == 1 {
		return p.nodes[0].LastView().Err
	}
	var failures []error
	for _, n := range p.nodes {
		if err := n.LastView().Err; err != nil {
			failures = append(failures, err)
		}
	}
	return p.joinFailures("No "+p.Kind+" can be used.", failures)
}

// recordDispute keeps the sentence of a problem that stops every node, and returns the problem.
func (p *pool) recordDispute(problem *Problem) error {
	p.Dispute = string(problem.Problem)
	return problem
}

// capitalizeFirst returns a word with an upper-case first letter.
func capitalizeFirst(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
