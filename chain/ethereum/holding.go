package ethereum

import (
	"context"
	"fmt"
	"math/big"

	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// Holding is the current balance of an address.
type Holding struct {
	Ether, Token money.Amount
	Barred       bool // the token's contract does not let the address send any
}

// tokenGas is the gas that a usual transfer of the token uses at most.
const tokenGas = 65_000

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
	contract := n.params.Token.String()
	requests := []rpc.Request{rpc.NewRequest("eth_gasPrice")}
	for _, address := range addresses {
		to := encodeArgument(address)
		requests = append(requests, rpc.NewRequest("eth_getBalance", address, "latest"),
			rpc.NewRequest("eth_call", map[string]string{"to": contract, "data": balanceCall + to}, "latest"),
			rpc.NewRequest("eth_call", map[string]string{"to": contract, "data": blacklistedCall + to}, "latest"))
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, fee, n.DemoteOnError(ctx, err)
	}
	var price wei
	if err := responses[0].DecodeInto(&price); err != nil {
		return nil, fee, n.DemoteOnError(ctx, asRefusal(err))
	}
	fee = money.FromBig(new(big.Int).Mul(price.toAmount().Big(), big.NewInt(tokenGas*3/2)))
	for r := responses[1:]; len(r) > 0; r = r[3:] {
		var ether wei
		if err := r[0].DecodeInto(&ether); err != nil {
			return nil, fee, n.DemoteOnError(ctx, asRefusal(err))
		}
		token, ok := decodeWord(r[1])
		if !ok {
			return nil, fee, n.DemoteOnError(ctx, rpc.RefusedError(fmt.Errorf("balanceOf: %v", r[1].Error)))
		}
		barred, said := decodeWord(r[2])
		held = append(held, Holding{Ether: ether.toAmount(), Token: s.params.FromTokenUnits(token.toAmount()),
			Barred: said && !barred.isZero()})
	}
	return held, fee, nil
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
		requests[i] = rpc.NewRequest("eth_call", map[string]string{"to": n.params.Token.String(),
			"data": blacklistedCall + encodeArgument(address)}, "latest")
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.DemoteOnError(ctx, err)
	}
	barred := make([]bool, len(responses))
	for i, r := range responses {
		answer, said := decodeWord(r)
		barred[i] = said && !answer.isZero()
	}
	return barred, nil
}

// encodeArgument encodes an address as an argument in calldata.
func encodeArgument(address string) string { return fmt.Sprintf("%064x", codec{}.Address(address)) }
