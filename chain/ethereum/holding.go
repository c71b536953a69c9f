package ethereum

import (
	"context"
	"fmt"

	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// Holding is the current balance of an address, in the network's own coin and in USDT.
type Holding struct {
	Native, Token money.Amount
	Barred        bool // the token's contract does not let the address send any
}

const (
	// tokenGas is the gas that a usual transfer of the token uses at most. l1TokenGas is added to it where gas
	// includes the cost of another network.
	tokenGas   = 65_000
	l1TokenGas = 45_000
)

var (
	balanceCall     = functionSelector("balanceOf(address)")
	blacklistedCall = functionSelector("isBlackListed(address)")
)

// Holdings returns the balances of addresses at the tip, in the order of the addresses, and the
// current fee of one token transfer. The fee is 1.5 times the node's gas price, because the price
// changes with every block.
func (s *Source) Holdings(ctx context.Context, addresses []string) (held []Holding, fee money.Amount, err error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return nil, fee, err
	}
	requests := []rpc.Request{rpc.NewRequest("eth_gasPrice")}
	for _, address := range addresses {
		requests = append(requests, rpc.NewRequest("eth_getBalance", address, "latest"))
	}
	if s.params.HasToken() {
		for _, address := range addresses {
			requests = append(requests, newTokenCall(s.params, balanceCall, address),
				newTokenCall(s.params, blacklistedCall, address))
		}
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, fee, n.DemoteOnError(ctx, err)
	}
	l1Fee, err := n.fetchL1Fee(ctx, s.params)
	if err != nil {
		return nil, fee, n.DemoteOnError(ctx, err)
	}
	var price wei
	if err := responses[0].DecodeInto(&price); err != nil {
		return nil, fee, n.DemoteOnError(ctx, asRefusal(err))
	}
	fee = price.ToAmount().MulDiv(usualTokenGas(s.params)*3/2, 1).Add(l1Fee)
	for i := range addresses {
		var native wei
		if err := responses[1+i].DecodeInto(&native); err != nil {
			return nil, fee, n.DemoteOnError(ctx, asRefusal(err))
		}
		held = append(held, Holding{Native: native.ToAmount()})
	}
	for i, r := 0, responses[1+len(addresses):]; len(r) > 0; i, r = i+1, r[2:] {
		token, ok := decodeWord(r[0])
		if !ok {
			return nil, fee, n.DemoteOnError(ctx, rpc.RefusedError(fmt.Errorf("balanceOf: %v", r[0].Error)))
		}
		barred, said := decodeWord(r[1])
		held[i].Token, held[i].Barred = s.params.FromTokenUnits(token.ToAmount()), said && !barred.IsZero()
	}
	return held, fee, nil
}

// usualTokenGas returns the gas of a usual transfer of the token on a network.
func usualTokenGas(p params.Params) int64 {
	if p.CountsL1Gas && !p.Private {
		return tokenGas + l1TokenGas
	}
	return tokenGas
}

// newTokenCall returns the request that asks the token's contract about an address.
func newTokenCall(p params.Params, function, address string) rpc.Request {
	return rpc.NewRequest("eth_call", map[string]string{"to": p.Token.String(),
		"data": function + encodeArgument(address)}, "latest")
}

// Barred reports for each address, in order, whether the token's contract currently forbids it to
// send. A contract without a blacklist forbids none.
func (s *Source) Barred(ctx context.Context, addresses []string) ([]bool, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return nil, err
	}
	requests := make([]rpc.Request, len(addresses))
	for i, address := range addresses {
		requests[i] = newTokenCall(s.params, blacklistedCall, address)
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.DemoteOnError(ctx, err)
	}
	barred := make([]bool, len(responses))
	for i, r := range responses {
		answer, said := decodeWord(r)
		barred[i] = said && !answer.IsZero()
	}
	return barred, nil
}

// encodeArgument encodes an address as an argument in calldata.
func encodeArgument(address string) string { return fmt.Sprintf("%064x", codec{}.Address(address)) }
