package ethereum

import (
	"context"
	"fmt"
	"math/big"

	"cointill/core/money"
)

// Holding is what an address holds now.
type Holding struct {
	Ether, Token money.Amount
	Barred       bool // the token's contract doesn't let it send any
}

// tokenGas is what sending the token takes at most, by its contract's usual ways.
const tokenGas = 65_000

var (
	balanceCall     = functionSelector("balanceOf(address)")
	blacklistedCall = functionSelector("isBlackListed(address)")
)

// Holdings are what addresses hold at the tip, in their order, and what sending the
// token once costs now: half as much again as the node says, as that changes with
// every block.
func (s *Source) Holdings(ctx context.Context, addresses []string) (held []Holding, fee money.Amount, err error) {
	n, _, err := s.current.Now(ctx)
	if err != nil {
		return nil, fee, err
	}
	contract := n.params.Token.String()
	requests := []request{newRequest("eth_gasPrice")}
	for _, address := range addresses {
		to := encodeArgument(address)
		requests = append(requests, newRequest("eth_getBalance", address, "latest"),
			newRequest("eth_call", map[string]string{"to": contract, "data": balanceCall + to}, "latest"),
			newRequest("eth_call", map[string]string{"to": contract, "data": blacklistedCall + to}, "latest"))
	}
	responses, err := n.callAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, fee, n.Blame(ctx, err)
	}
	var price wei
	if err := responses[0].decodeInto(&price); err != nil {
		return nil, fee, n.Blame(ctx, asRefusal(err))
	}
	fee = money.FromBig(new(big.Int).Mul(price.toAmount().Big(), big.NewInt(tokenGas*3/2)))
	for r := responses[1:]; len(r) > 0; r = r[3:] {
		var ether wei
		if err := r[0].decodeInto(&ether); err != nil {
			return nil, fee, n.Blame(ctx, asRefusal(err))
		}
		token, ok := decodeWord(r[1])
		if !ok {
			return nil, fee, n.Blame(ctx, refusedError(fmt.Errorf("balanceOf: %v", r[1].Error)))
		}
		barred, said := decodeWord(r[2])
		held = append(held, Holding{Ether: ether.toAmount(), Token: token.toAmount(), Barred: said && !barred.isZero()})
	}
	return held, fee, nil
}

// Barred tells of addresses, in their order, whether the token's contract lets them
// send none now. A contract that can bar nobody has barred nobody.
func (s *Source) Barred(ctx context.Context, addresses []string) ([]bool, error) {
	n, _, err := s.current.Now(ctx)
	if err != nil {
		return nil, err
	}
	requests := make([]request, len(addresses))
	for i, address := range addresses {
		requests[i] = newRequest("eth_call", map[string]string{"to": n.params.Token.String(), "data": blacklistedCall + encodeArgument(address)}, "latest")
	}
	responses, err := n.callAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.Blame(ctx, err)
	}
	barred := make([]bool, len(responses))
	for i, r := range responses {
		answer, said := decodeWord(r)
		barred[i] = said && !answer.isZero()
	}
	return barred, nil
}

// encodeArgument is an address as calldata holds it.
func encodeArgument(address string) string { return fmt.Sprintf("%064x", codec{}.Address(address)) }
