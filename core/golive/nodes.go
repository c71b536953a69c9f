package golive

import (
	"context"
	"sync"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/system"
)

// reportsAge is for how long a report of nodes is given again: members can't make the program ask them more often.
const reportsAge = 5 * time.Second

// nodeReports are the last reports of all nodes.
type nodeReports struct {
	sync.Mutex
	at   time.Time
	list []system.NetworkReport
}

// NodeTest is the result of a test of the nodes that serve a network of a coin.
type NodeTest struct {
	Chain   money.Chain
	Network string // "" where none is configured
	// Simulated says that the sandbox serves the chain: it has no node.
	Simulated bool
	// Answered counts the nodes that answered without a problem, of Nodes; Height is the highest block of theirs, or of
	// the sandbox.
	Answered, Nodes int
	Height          int64
	// Problem is why the network can't be paid on now, as members may know it; "" where it can.
	Problem string
}

// TestNodes asks the nodes of all networks of the scope's domain now. Faults: Forbidden.
func (s *Service) TestNodes(ctx context.Context, sc scope.Scope) (tests []NodeTest, err error) {
	if err := sc.CheckAction(scope.ToggleMethods); err != nil {
		return nil, err
	}
	reports, err := s.askNodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range money.ListNetworks() {
		network, problem := s.Networks.Network(sc.Domain, c)
		t := NodeTest{Chain: c, Network: string(network), Problem: problem.String(), Simulated: network.IsSandbox()}
		for _, report := range reports {
			if report.Name != t.Network {
				continue
			}
			if t.Simulated {
				t.Height = report.Tip
			}
			for _, node := range report.Nodes {
				t.Nodes++
				if node.Problem == "" && node.Height > 0 {
					t.Answered, t.Height = t.Answered+1, max(t.Height, node.Height)
				}
			}
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// askNodes asks the nodes, unless they were asked a moment ago.
func (s *Service) askNodes(ctx context.Context) ([]system.NetworkReport, error) {
	s.asked.Lock()
	defer s.asked.Unlock()
	now := s.Clock()
	if s.asked.list != nil && now.Sub(s.asked.at) < reportsAge {
		return s.asked.list, nil
	}
	list, err := s.System.AskNodes(ctx)
	if err == nil {
		s.asked.at, s.asked.list = now, list
	}
	return list, err
}
