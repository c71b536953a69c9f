package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"cointill/chain"
	"cointill/chain/node"
)

// ErrBehind is the answer of a node that can't confirm what another one shows because it lags, or follows
// another branch, which its tip shows.
var ErrBehind = errors.New("the node doesn't have that block")

// Problem is the problem of several nodes: they contradict each other, none of them can be used, or none
// confirms what another one shows.
type Problem struct {
	chain.Problem
	details   string // for the log
	transient bool
}

// Error returns the sentence with the details.
func (p *Problem) Error() string { return string(p.Problem) + " (" + p.details + ")" }

// Unwrap gives access to the sentence for users.
func (p *Problem) Unwrap() error { return p.Problem }

// Transient implements the interface that chain.IsTransient looks for.
func (p *Problem) Transient() bool { return p.transient }

// DescribeDisagreement returns the problem while two nodes contradict each other. rest continues the sentence
// "Nodes 1 and 2 of 3 disagree"; details are for the log.
func (n *Node) DescribeDisagreement(other *Node, rest string, details ...any) *Problem {
	sentence := fmt.Sprintf("%ss %d and %d of %d disagree%s", capitalizeFirst(n.pool.Kind), min(n.Number, other.Number),
		max(n.Number, other.Number), len(n.pool.nodes), rest)
	return &Problem{chain.Problem(sentence), fmt.Sprintf("%s, %s: %v", n.Host, other.Host, details), false}
}

// DescribeUnconfirmed returns the problem of what only this node shows, with the failures of the nodes that
// were to confirm it.
func (n *Node) DescribeUnconfirmed(what string, failures []error) *Problem {
	return n.pool.joinFailures(fmt.Sprintf("Only %s %d of %d shows %s, and no second one confirms it. Nothing is "+
		"counted until one does; they are asked again. If this continues, repair the one that doesn't, or remove "+
		"it from the configuration.", n.pool.Kind, n.Number, len(n.pool.nodes), what), failures)
}

// joinFailures adds the problems of nodes to a sentence about all of them.
func (p *pool) joinFailures(sentence string, failures []error) *Problem {
	for _, err := range failures {
		sentence += " " + p.nodes[0].ProblemSentence(err)
	}
	return &Problem{chain.Problem(sentence), fmt.Sprint(errors.Join(failures...)), node.AreTransient(failures)}
}

// Confirm has nodes confirm what another one showed, one after the other, until one of them confirms it
// or contradicts it. ask returns nil if the node shows the same, the disagreement, ErrBehind, or why
// the node can't say. The result is the contradiction, or why none of the nodes could say. The end
// of the context is an error, too.
func (p *Pool[N]) Confirm(ctx context.Context, nodes []N, ask func(N) error) (failures []error, err error) {
	for i, one := range nodes {
		err := ask(one)
		var contradiction *Problem
		decided := err == nil || errors.As(err, &contradiction)
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return nil, ctx.Err()
		case decided && ctx.Err() == nil:
			for _, rest := range nodes[i:] {
				rest.baseNode().recordConfirmation(nil) // the nodes after it are not needed
			}
			return nil, err
		case decided:
			err = ctx.Err() // the answer was too slow
		case errors.Is(err, ErrBehind) && ctx.Err() == nil:
			continue
		}
		one.baseNode().recordConfirmation(err)
		if failures = append(failures, err); ctx.Err() != nil {
			return failures, ctx.Err() // no time is left for the other nodes
		}
	}
	return failures, nil
}

// Agree asks nodes in their order until two give the same answer, and returns it. Nodes that fail are
// skipped. If only one node can answer, it is trusted alone; if none can, the first failure is
// returned. contradict makes the error for two nodes with different answers.
func Agree[N, T any](ctx context.Context, nodes []N, ask func(N) (T, error), same func(a, b T) bool,
	contradict func(a, b N) error) (answer T, err error) {
	answered := -1
	for i, one := range nodes {
		said, failed := ask(one)
		switch {
		case ctx.Err() != nil:
			return answer, ctx.Err()
		case failed != nil:
			err = cmp.Or(err, failed)
		case answered < 0:
			answered, answer = i, said
		case same(answer, said):
			return answer, nil
		default:
			return answer, contradict(nodes[answered], one)
		}
	}
	if answered >= 0 {
		err = nil
	}
	return answer, err
}

// ConfirmFailure returns why the node could not confirm what another one showed, or nil.
func (n *Node) ConfirmFailure() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.confirmFailure
}

// recordConfirmation stores why the node could not confirm what another one showed, or nil if it could
// or wasn't needed for it. It logs a change.
func (n *Node) recordConfirmation(err error) {
	n.mu.Lock()
	before := n.confirmFailure
	n.confirmFailure = err
	n.mu.Unlock()
	log := n.pool.Log.With("network", n.pool.Network, n.pool.Kind, n.Number, "host", n.Host)
	switch {
	case err != nil && n.ProblemSentence(err) != n.ProblemSentence(before):
		log.Warn("a "+n.pool.Kind+" doesn't confirm what another one shows", "error", err)
	case err == nil && before != nil:
		log.Info("a " + n.pool.Kind + " confirms again, or isn't needed for it")
	}
}
