package quorum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cointill/chain"
	"cointill/chain/node"
)

// testConfig returns a configuration whose log goes to a buffer.
func testConfig(kind string) (node.Config, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return node.Config{Kind: kind, Network: "till", Clock: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

// fakeAdapter is a node whose answers a test sets.
type fakeAdapter struct {
	*Node
	mu        sync.Mutex
	err       error
	delay     time.Duration // time for one check
	checks    int
	forgotten int
}

func (s *fakeAdapter) Handshake(ctx context.Context) (View, error) {
	s.mu.Lock()
	s.checks++
	takes, err := s.delay, s.err
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return View{}, ctx.Err()
	case <-time.After(takes):
	}
	if err != nil {
		return View{}, err
	}
	return View{Tip: chain.Header{BlockID: chain.BlockID{Height: 7, Hash: "h"}}, Dialect: "test", Version: "1"}, nil
}

func (s *fakeAdapter) Forget() { s.forgotten++ }

func (s *fakeAdapter) ReadParent(context.Context, chain.Header) (chain.Header, error) {
	return chain.Header{}, errors.New("no header")
}

// withTwoNodes runs a test in a synctest bubble with a pool of two nodes.
func withTwoNodes(t *testing.T, test func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, log *bytes.Buffer)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, log := testConfig("server")
		p := NewForkPool[*fakeAdapter](config)
		a, b := new(fakeAdapter), new(fakeAdapter)
		a.Node, b.Node = p.AddNode("host:1", nil, a), p.AddNode("host:2", nil, b)
		test(t, p, a, b, log)
	})
}

// TestStatusesNameProblemsBySentence: statuses show each node's problem as a sentence, and the log
// shows each change once.
func TestStatusesNameProblemsBySentence(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, log *bytes.Buffer) {
		if st := p.describeNodes(nil)[0]; st.Problem != "The server wasn't reached in time." || st.Host != "host:1" {
			t.Errorf("%+v", st)
		}
		p.CheckAll(t.Context())
		well := chain.NodeStatus{Host: "host:2", Dialect: "test", Version: "1", Height: 7, Hash: "h"}
		if all := p.describeNodes(nil); all[1] != well {
			t.Errorf("%+v", all)
		}
		a.err, b.err = node.NewFailure(errors.New("canary"), "is ill. Help it."), errors.New("canary")
		p.CheckAll(t.Context())
		p.CheckAll(t.Context())
		p.Dispute = "They disagree."
		all := p.describeNodes(nil)
		if all[0].Problem != "Server 1 of 2 is ill. Help it." || all[0].Version != "1" || all[0].Hash != "" ||
			all[1].Problem != "The server can't be read now; the log says why." {
			t.Errorf("%+v", all)
		}
		if a.forgotten != 2 {
			t.Errorf("Forget was called %d times", a.forgotten)
		}
		a.err = nil
		p.CheckAll(t.Context())
		if all := p.describeNodes(nil); all[0].Problem != "They disagree." {
			t.Errorf("%+v", all)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 3 || !strings.Contains(log.String(), "canary") ||
			!strings.Contains(log.String(), "can be used again") {
			t.Errorf("the log shows other changes than the three:\n%s", log)
		}
	})
}

// TestNoUsableNodeListsEveryProblem: with several nodes every problem is listed; with one node only
// its own sentence is shown.
func TestNoUsableNodeListsEveryProblem(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		a.err, b.err = node.NewFailure(nil, "is ill."), node.NewFailure(nil, "is old.")
		p.CheckAll(t.Context())
		var problem chain.Problem
		if err := p.NoUsableNodeError(); !errors.As(err, &problem) ||
			problem != "No server can be used. Server 1 of 2 is ill. Server 2 of 2 is old." {
			t.Errorf("two nodes: error %v, want a problem that names both", err)
		}
		p.nodes = p.nodes[:1]
		p.CheckAll(t.Context())
		if err := p.NoUsableNodeError(); !errors.As(err, &problem) || problem != "The server is ill." {
			t.Errorf("one node: error %v, want its own problem", err)
		}
	})
}

// TestChoiceWaitsOnlyForTheChosenNode: without a chosen node every check is waited for, with one
// only its own. Recent views are not renewed, and silent checks are given up.
func TestChoiceWaitsOnlyForTheChosenNode(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		look := func(want time.Duration, looks ...int) {
			t.Helper()
			began := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			if err := p.RefreshViews(ctx, map[*Node]bool{}); err != nil {
				t.Error(err)
			}
			cancel() // checks in the background go on
			synctest.Wait()
			if took := time.Since(began); took != want || a.checks != looks[0] || b.checks != looks[1] {
				t.Errorf("%s, %d and %d looks; want %s, %v", took, a.checks, b.checks, want, looks)
			}
		}
		a.delay, b.delay = time.Millisecond, time.Second
		look(time.Second, 1, 1)
		p.Chosen = p.nodes[0]
		look(a.delay, 2, 1)
		<-time.After(p.Timing.HealthyAge)
		b.delay = time.Hour
		look(a.delay+p.Timing.Grace, 3, 2)
		look(a.delay+0, 4, 2) // one check is running and gives no view yet
		if !p.nodes[1].IsChecking() || !p.nodes[1].LastView().Healthy() {
			t.Error("the view before is lost")
		}
		<-time.After(p.Timing.CheckTimeout)
		synctest.Wait()
		if v := p.nodes[1].LastView(); v.Healthy() || !strings.Contains(v.Err.Error(), "says nothing for 12s") {
			t.Errorf("%+v", v)
		}
		b.delay = 0
		<-time.After(p.Timing.HealthyAge)
		look(a.delay, 5, 2) // it failed a moment ago
		<-time.After(p.Timing.UnhealthyAge - p.Timing.HealthyAge)
		look(a.delay, 6, 3)
		if !p.nodes[1].LastView().Healthy() {
			t.Error("it isn't healthy again")
		}
		fresh := map[*Node]bool{p.nodes[0]: true}
		if err := p.RefreshViews(t.Context(), fresh); err != nil || a.checks != 6 {
			t.Error("it was checked twice in one round")
		}
	})
}

// TestSilentNodesAreLeftOutWithinOneTimeout: nodes that send nothing, from the start or after they
// were chosen, are left out one after the other within a follower's timeout, and a healthy node is
// then found at once. They are waited for again only if no other node is left.
func TestSilentNodesAreLeftOutWithinOneTimeout(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		setNode := func(s *fakeAdapter, takes time.Duration, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.delay, s.err = takes, err
		}
		timeout := chain.NewFollower(chain.FollowerConfig{}).Timeout
		look := func(want time.Duration, well ...bool) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			began := time.Now()
			err := p.RefreshViews(ctx, map[*Node]bool{})
			if took := time.Since(began); err != nil || took != want {
				t.Errorf("%v after %s, want %s", err, took, want)
			}
			for i, n := range p.nodes {
				if n.LastView().Healthy() != well[i] || n.LastView().At.IsZero() {
					t.Errorf("node %d: %+v", n.Number, n.LastView())
				}
			}
		}
		if timeout <= 2*p.Timing.CheckTimeout || p.Timing.CheckTimeout <= node.MaxSilence {
			t.Errorf("%s are not enough to give up two nodes after %s, or those are less than what one may be "+
				"silent for", timeout, p.Timing.CheckTimeout)
		}
		setNode(a, time.Hour, nil)
		look(p.Timing.CheckTimeout, false, true)
		look(p.Timing.Grace, false, true)
		<-time.After(p.Timing.CheckTimeout)
		setNode(a, 0, nil)
		setNode(b, time.Hour, nil)
		// It was healthy, so it is waited for; the other one recovered meanwhile.
		look(p.Timing.CheckTimeout, true, false)
		p.Chosen = p.nodes[0]
		setNode(a, time.Hour, nil)
		look(p.Timing.CheckTimeout, false, false)
		p.Chosen = nil
		setNode(b, 0, nil)
		<-time.After(p.Timing.CheckTimeout)
		look(p.Timing.CheckTimeout, false, true) // only silent nodes were left
		setNode(b, 0, errors.New("x"))
		look(p.Timing.CheckTimeout, false, false)
	})
}

// TestChecksOfOneNodeTakeTurns: two checks of a node don't overlap, and the end of a caller's
// context changes no view.
func TestChecksOfOneNodeTakeTurns(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, _ *fakeAdapter, _ *bytes.Buffer) {
		n := p.nodes[0]
		a.delay = p.Timing.CheckTimeout - time.Second
		began := time.Now()
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- n.Check(t.Context()) }()
		}
		if err := errors.Join(<-ended, <-ended); err != nil || time.Since(began) != 2*a.delay {
			t.Errorf("%s, %v", time.Since(began), err)
		}
		soon := func() error {
			within, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return n.Check(within)
		}
		if err := soon(); err != context.DeadlineExceeded || !n.LastView().Healthy() || n.IsChecking() {
			t.Errorf("%v, %+v", err, n.LastView())
		}
		go func() { ended <- n.Check(t.Context()) }()
		synctest.Wait()
		if err := soon(); err != context.DeadlineExceeded || !n.IsChecking() {
			t.Errorf("%v; want the end of the context while another check runs", err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestChecksAndComparisonsAreBounded: a check and a comparison have a time limit, and a node that
// can't be compared is marked as failed.
func TestChecksAndComparisonsAreBounded(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		p.CheckAll(t.Context())
		a.delay = time.Hour
		if err := p.nodes[0].Check(t.Context()); err != nil || p.nodes[0].LastView().Healthy() {
			t.Errorf("%v, %+v", err, p.nodes[0].LastView())
		}
		ask := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
		if err := p.CompareNode(t.Context(), p.nodes[1], ask(nil)); err != nil || !p.nodes[1].LastView().Healthy() {
			t.Errorf("a node that answers is marked as failed: error %v, view %+v", err, p.nodes[1].LastView())
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.CompareNode(ended, p.nodes[1], ask(errors.New("x"))); err != context.Canceled ||
			!p.nodes[1].LastView().Healthy() {
			t.Error("the end of the context counts against the node")
		}
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		if err := p.CompareNode(t.Context(), p.nodes[1], hang); err != errAgain || p.nodes[1].LastView().Healthy() {
			t.Errorf("a silent node: error %v, want errAgain and a failed view, got %+v", err, p.nodes[1].LastView())
		}
	})
}

// TestFailedQuestionDemotesTheNode: a failed question demotes the node for a while. A missing block
// and the end of the context are not its fault.
func TestFailedQuestionDemotesTheNode(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], _, _ *fakeAdapter, _ *bytes.Buffer) {
		n := p.nodes[1]
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range []error{nil, fmt.Errorf("%w (5)", chain.ErrNoBlock), chain.Problem("told.")} {
			if got := n.DemoteOnError(t.Context(), err); got != err || !n.DemotedUntil().IsZero() {
				t.Errorf("%v became %v", err, got)
			}
		}
		if n.DemoteOnError(canceled, errors.New("x")); !n.DemotedUntil().IsZero() {
			t.Error("it is demoted for the end of the context")
		}
		var problem chain.Problem
		err := n.DemoteOnError(t.Context(), node.DamagedDataError("a block", errors.New("cause")))
		if !errors.As(err, &problem) ||
			!strings.HasPrefix(string(problem), "Server 2 of 2 sent a block that is damaged") ||
			strings.Contains(string(problem), "host:") {
			t.Errorf("error %v, want a problem that names the server by its place", err)
		}
		if n.DemotedUntil() != time.Now().Add(demotionTime) {
			t.Error("it isn't demoted")
		}
		<-time.After(demotionTime)
		if !n.DemotedUntil().IsZero() {
			t.Error("the demotion doesn't end")
		}
	})
}

// TestCurrentNodeStaysUntilTheNextChoice: the node of the last choice is given for a minute without another
// check, and a new one is chosen after a failure.
func TestCurrentNodeStaysUntilTheNextChoice(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		expect := func(what func(context.Context) (*fakeAdapter, chain.Header, error), want *fakeAdapter, checks int) {
			t.Helper()
			n, tip, err := what(t.Context())
			if n != want || (tip.Height == 7) != (want != nil) || (err == nil) != (want != nil) || a.checks != checks {
				t.Errorf("node %p with tip %d after %d checks of the first, error %v; want %p after %d", n, tip.Height,
					a.checks, err, want, checks)
			}
		}
		expect(p.Current, a, 1)
		expect(p.Current, a, 1)
		expect(p.Choose, a, 2)
		<-time.After(maxChoiceAge - time.Second)
		expect(p.Current, a, 2)
		<-time.After(time.Second)
		expect(p.Current, a, 3)
		a.err, b.err = errors.New("x"), errors.New("x")
		expect(p.Choose, nil, 4)
		a.err = nil
		expect(p.Current, a, 5)
	})
}

// TestChoiceWithoutDeadlineIsBounded: a choice ends for callers without a deadline, too, because
// others wait for it.
func TestChoiceWithoutDeadlineIsBounded(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool[*fakeAdapter], a, b *fakeAdapter, _ *bytes.Buffer) {
		p.Timing.CheckTimeout, a.delay, b.delay = time.Hour, time.Hour, time.Hour
		began := time.Now()
		_, _, err := p.Choose(t.Context())
		if err != context.DeadlineExceeded || time.Since(began) != maxChoiceTime {
			t.Errorf("error %v after %s, want a choice that ends after %s", err, time.Since(began), maxChoiceTime)
		}
	})
}
