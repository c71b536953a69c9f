package quorum

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"cointill/chain"
)

// TestConfirmAsksUntilOneNodeDecides: the first node that confirms or contradicts decides. Nodes that lag are
// skipped, and why others can't say is kept until a node that comes later decides without them.
func TestConfirmAsksUntilOneNodeDecides(t *testing.T) {
	failure := errors.New("failure")
	for name, c := range map[string]struct {
		answers  [2]error
		asked    int
		failures int
		want     string // in the error; "" for none
		kept     [2]bool
	}{
		"confirmed": {[2]error{nil, failure}, 1, 0, "", [2]bool{}},
		"contradicted": {[2]error{errors.ErrUnsupported, nil}, 1, 0, "Servers 1 and 2 of 2 disagree about it.",
			[2]bool{}},
		"behind, then confirmed":  {[2]error{ErrBehind, nil}, 2, 0, "", [2]bool{}},
		"both behind":             {[2]error{ErrBehind, ErrBehind}, 2, 0, "", [2]bool{}},
		"failed, then confirmed":  {[2]error{failure, nil}, 2, 0, "", [2]bool{true, false}},
		"failed, then contradict": {[2]error{failure, errors.ErrUnsupported}, 2, 0, "disagree", [2]bool{true, false}},
		"both failed":             {[2]error{failure, failure}, 2, 2, "", [2]bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
				asked := 0
				failures, err := p.Confirm(t.Context(), p.Members, func(*fakeAdapter) error {
					asked++
					if answer := c.answers[asked-1]; answer != errors.ErrUnsupported {
						return answer
					}
					return a.DescribeDisagreement(b.Node, " about it.", 5)
				})
				if asked != c.asked || len(failures) != c.failures || (err == nil) != (c.want == "") ||
					err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("after %d questions failures %v and error %v; want %d questions, %d failures, error %q",
						asked, failures, err, c.asked, c.failures, c.want)
				}
				for i, n := range p.Members {
					if kept := n.ConfirmFailure() != nil; kept != c.kept[i] {
						t.Errorf("a failure of node %d is kept: %v, want %v", i+1, kept, c.kept[i])
					}
				}
				if _, err := p.Confirm(t.Context(), p.Members, func(*fakeAdapter) error { return nil }); err != nil ||
					a.ConfirmFailure() != nil || b.ConfirmFailure() != nil {
					t.Errorf("after a confirmation error %v, failures %v and %v are kept, want none", err,
						a.ConfirmFailure(), b.ConfirmFailure())
				}
			})
		})
	}
}

// TestConfirmCountsNoAnswerAfterTheEnd: an answer after the end of the context confirms nothing. The end of
// the time counts against the node, and the end by the caller doesn't.
func TestConfirmCountsNoAnswerAfterTheEnd(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, _ *fakeAdapter, _ *bytes.Buffer) {
		for _, answer := range []error{nil, ErrBehind, errors.New("failure")} {
			for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
				ctx, cancel := context.WithTimeout(t.Context(), demotionTime)
				asked := 0
				failures, err := p.Confirm(ctx, p.Members, func(*fakeAdapter) error {
					if asked++; want == context.Canceled {
						cancel()
					}
					<-ctx.Done()
					return answer
				})
				cancel()
				late := want == context.DeadlineExceeded
				if asked != 1 || !errors.Is(err, want) || (len(failures) == 1) != late || (a.ConfirmFailure() != nil) != late {
					t.Errorf("%v after the end (%v): asked %d, failures %v, error %v", answer, want, asked, failures, err)
				}
				a.recordConfirmation(nil)
			}
		}
	})
}

// TestAgreeNeedsTwoEqualAnswers: two nodes that answer must agree. Nodes that fail are skipped, and the only
// node that answers is trusted alone.
func TestAgreeNeedsTwoEqualAnswers(t *testing.T) {
	t.Parallel()
	first, second, differs := errors.New("first"), errors.New("second"), chain.Problem("They differ.")
	type answer struct {
		said int
		err  error
	}
	for name, c := range map[string]struct {
		answers []answer
		want    answer
		asked   int
	}{
		"equal":              {[]answer{{5, nil}, {5, nil}, {6, nil}}, answer{5, nil}, 2},
		"different":          {[]answer{{5, nil}, {6, nil}, {5, nil}}, answer{5, differs}, 2},
		"one fails":          {[]answer{{5, nil}, {0, first}, {5, nil}}, answer{5, nil}, 3},
		"one fails, differ":  {[]answer{{5, nil}, {0, first}, {6, nil}}, answer{5, differs}, 3},
		"only one answers":   {[]answer{{0, first}, {5, nil}, {0, second}}, answer{5, nil}, 3},
		"there is only one":  {[]answer{{5, nil}}, answer{5, nil}, 1},
		"none answers":       {[]answer{{0, first}, {0, second}}, answer{0, first}, 2},
		"the others are bad": {[]answer{{5, nil}, {0, first}}, answer{5, nil}, 2},
	} {
		asked := 0
		said, err := Agree(t.Context(), c.answers, func(a answer) (int, error) { asked++; return a.said, a.err },
			func(a, b int) bool { return a == b }, func(answer, answer) error { return differs })
		if said != c.want.said || err != c.want.err || asked != c.asked {
			t.Errorf("%s: %d and %v after %d questions, want %+v after %d", name, said, err, asked, c.want, c.asked)
		}
	}
}
