package ethereum

import (
	"context"
	"errors"
	"slices"

	"cointill/chain"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/core/money"
)

// mostRefusals is how often a node may refuse a range of blocks until one that it was halved to is given.
const mostRefusals = 8

// readsLogs reports whether several blocks are read by their logs of tokens alone: the node is set to it, the network's
// own coin pays nothing, and no spend key is watched, which only whole blocks show.
func (v *view) readsLogs(watch chain.Watch) bool {
	set, ok := watch.(interface{ HasSpends() bool })
	return v.node.endpoint.idleLogs && v.params.Native != money.ETH && ok && !set.HasSpends()
}

// fetchByLogs reads the blocks by the logs of all tokens in them, which show the hashes of their blocks. It asks for
// the header of the first and the last block, and of blocks without logs of USDT. It reads a block whole if a log
// concerns the watch, or if its bloom may contain logs of a token and the node shows none. A block that is known by
// its logs alone has the time of the block before.
func (n blockRange) fetchByLogs(ctx context.Context) ([]chain.Block, error) {
	found, err := n.fetchLogs(ctx)
	if err != nil {
		return nil, err
	}
	shown := map[int64]logs{} // by height
	for _, some := range found {
		height := int64(some[0].Number)
		if shown[height] != nil { // the logs are of two branches
			return nil, errRangeRefused
		}
		shown[height] = some
	}
	headers, err := n.fetchHeaders(ctx, shown)
	if err != nil {
		return nil, err
	}
	concerns := func(l logEntry) bool { return l.concerns(n.watch) }
	var all []chain.Block
	for height := n.from; height <= n.to; height++ {
		some, known := shown[height], headers[height]
		block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: height}}}
		switch {
		case slices.ContainsFunc(some, concerns) || known != nil && n.lacksLogs(*known, some):
			if block, err = n.fetchBlock(ctx, height, n.watch, false); err != nil {
				return nil, err
			}
		case known != nil:
			block.Header, _ = known.toChainHeader() // fetchHeaders checked it
		default:
			last := all[len(all)-1] // the first header is known
			block.Hash, block.Parent, block.Time = some[0].Block.String(), last.Hash, last.Time
		}
		if len(some) > 0 && some[0].Block.String() != block.Hash { // the chain changed meanwhile
			return nil, errRangeRefused
		}
		all = append(all, block)
	}
	return all, nil
}

// fetchHeaders returns the headers of the first and the last block, and of blocks without logs of USDT.
func (n blockRange) fetchHeaders(ctx context.Context, shown map[int64]logs) (map[int64]*header, error) {
	var requests []rpc.Request
	var heights []int64
	for height := n.from; height <= n.to; height++ {
		if height == n.from || height == n.to || !n.showsToken(shown[height]) {
			requests = append(requests, rpc.NewRequest("eth_getBlockByNumber", encodeHeight(height), false))
			heights = append(heights, height)
		}
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, err
	}
	headers := map[int64]*header{}
	for i, r := range responses {
		if err := findMissing(r, heights[i]); err != nil {
			return nil, err
		}
		h := new(header)
		if err := r.DecodeInto(h); err != nil {
			return nil, asRefusal(err)
		}
		if err := h.checkHeight(heights[i]); err != nil {
			return nil, err
		}
		headers[heights[i]] = h
	}
	return headers, nil
}

// showsToken reports whether logs have one of USDT.
func (n blockRange) showsToken(some logs) bool {
	return slices.ContainsFunc(some, func(l logEntry) bool { return l.Address == account(n.params.Token) })
}

// lacksLogs reports whether a block's bloom may contain logs of a token, and none is shown.
func (n blockRange) lacksLogs(h header, some logs) bool {
	seen := map[account]bool{}
	for i := range some {
		seen[some[i].Address] = true
	}
	finder := n.newFinder(nil)
	lacks := !seen[finder.token] && h.mayHaveTokenLogs(finder.token)
	for contract := range finder.others {
		lacks = lacks || !seen[contract] && h.mayHaveTokenLogs(contract)
	}
	return lacks
}

// fetchPieces reads the blocks by logs, as many at once as the node allows.
func (n blockRange) fetchPieces(ctx context.Context) (all []chain.Block, err error) {
	for refusals := 0; n.from <= n.to; {
		piece := n
		piece.to = min(n.to, n.from+n.rangeLimit()-1)
		some, err := piece.fetchByLogs(ctx)
		switch {
		case errors.Is(err, errRangeRefused) && refusals < mostRefusals:
			refusals++
			continue
		case err != nil:
			return nil, err
		}
		all, n.from = append(all, some...), piece.to+1
	}
	return all, nil
}

// confirmLogs has a second node confirm blocks that were read by their logs, as confirmBlock does, by its own logs.
func (v *view) confirmLogs(ctx context.Context, n *server, blocks []chain.Block, watch chain.Watch) error {
	first, last := blocks[0], blocks[len(blocks)-1]
	_, err := v.nodes.Confirm(ctx, v.nodes.HealthyOthers(n.Node), func(other *server) error {
		within, cancel := context.WithTimeout(ctx, v.nodes.Timing.CheckTimeout)
		defer cancel()
		var said []chain.Block
		err := quorum.PollUntil(within, v.confirmTimeout, func() (more bool, err error) {
			said, err = blockRange{server: other, from: first.Height, to: last.Height, watch: watch}.fetchPieces(within)
			return errors.Is(err, errMissingBlock) && other.IsAboutToHave(last.Height), err
		})
		switch {
		case errors.Is(err, errMissingBlock):
			return quorum.ErrBehind
		case within.Err() != nil:
			return other.WrapProblem(node.SilentError(v.nodes.Timing.CheckTimeout))
		case err != nil:
			return other.WrapProblem(err)
		case said[len(said)-1].Hash != last.Hash:
			return quorum.ErrBehind
		}
		for i := range blocks {
			if !sameTransfers(blocks[i], said[i]) {
				return describeDispute(n, other, blocks[i].Header)
			}
			blocks[i].DropDisputed(said[i])
		}
		return nil
	})
	return err
}
