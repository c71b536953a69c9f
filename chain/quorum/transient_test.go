package quorum

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/node"
)

// TestOnlyMissingAnswersAreTransient: missing answers are transient. Silence, wrong answers and
// overload are not. This holds for the wrapped error of a node, too.
func TestOnlyMissingAnswersAreTransient(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		cause := errors.New("the cause")
		for _, c := range []struct {
			err  error
			want bool
		}{
			{node.UnreachableError(cause), true}, {node.BrokenConnectionError(cause), true}, {node.ServerError(502), true},
			{node.SilentError(time.Second), false}, {node.AnswerTooLongError(), false},
			{node.UnexpectedAnswerError("a node", cause), false},
			{node.DamagedDataError("a block", cause), false},
			{node.NewFailure(cause, "is overloaded."), false},
		} {
			a.err, b.err = c.err, node.NewFailure(nil, "is old.")
			p.CheckAll(t.Context())
			for _, err := range []error{c.err, p.nodes[0].WrapProblem(c.err), p.NoUsableNodeError()} {
				if got := chain.IsTransient(err); got != c.want {
					t.Errorf("%v: %v, want %v", err, got, c.want)
				}
			}
		}
	})
}

// TestTransientNeedsAMissingAnswerAndNoSilentNode: the failure of several nodes is transient if at
// least one missed an answer and none is silent, in any order.
func TestTransientNeedsAMissingAnswerAndNoSilentNode(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		cause := errors.New("the cause")
		for _, c := range []struct {
			one, other error
			want       bool
		}{
			{node.UnreachableError(cause), node.ServerError(502), true},
			{node.UnreachableError(cause), node.NewFailure(nil, "is old."), true},
			{node.UnreachableError(cause), errors.New("unknown"), true},
			{node.UnreachableError(cause), node.SilentError(time.Second), false},
			{node.SilentError(time.Second), node.NewFailure(nil, "is old."), false},
			{node.NewFailure(nil, "is ill."), node.NewFailure(nil, "is old."), false},
		} {
			for _, order := range [][2]error{{c.one, c.other}, {c.other, c.one}} {
				a.err, b.err = order[0], order[1]
				p.CheckAll(t.Context())
				if got := chain.IsTransient(p.NoUsableNodeError()); got != c.want {
					t.Errorf("%v: %v, want %v", order, got, c.want)
				}
			}
		}
	})
}
