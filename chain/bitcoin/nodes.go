package bitcoin

import (
	"context"

	"cointill/chain"
)

// NodeStatus is the state of one node, for operators.
type NodeStatus = chain.NodeStatus

// Nodes checks every node now and returns their statuses in the configured order.
func (s *Source) Nodes(ctx context.Context) []NodeStatus { return s.nodes.CheckNodes(ctx) }

// chooseServer chooses the node to ask.
func (s *Source) chooseServer(ctx context.Context) (*server, chain.Header, error) {
	n, tip, err := s.nodes.ChooseNode(ctx)
	if err != nil {
		return nil, tip, err
	}
	return s.servers[n.Number-1], tip, nil
}
