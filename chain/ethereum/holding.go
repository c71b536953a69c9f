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
	balanceCall = selector("balanceOf(address)")
	barredCall  = selector("isBlackListed(address)")
)

// Holdings are what addresses hold at the tip, in their order, and what sending the
// token once costs now: half as much again as the node says, as that changes with
// every block.
func (s *Source) Holdings(ctx context.Context, addresses []string) (held []Holding, fee money.Amount, err error) {
	n, _, err := s.asked.Now(ctx)
	if err != nil {
		return nil, fee, err
	}
	contract := n.params.Token.String()
	questions := []question{ask("eth_gasPrice")}
	for _, address := range addresses {
		to := argument(address)
		questions = append(questions, ask("eth_getBalance", address, "latest"),
			ask("eth_call", map[string]string{"to": contract, "data": balanceCall + to}, "latest"),
			ask("eth_call", map[string]string{"to": contract, "data": barredCall + to}, "latest"))
	}
	replies, err := n.all(ctx, smallAnswer, questions...)
	if err != nil {
		return nil, fee, n.Blame(ctx, err)
	}
	var price wei
	if err := replies[0].into(&price); err != nil {
		return nil, fee, n.Blame(ctx, fault(err))
	}
	fee = money.FromBig(new(big.Int).Mul(price.amount().Big(), big.NewInt(tokenGas*3/2)))
	for r := replies[1:]; len(r) > 0; r = r[3:] {
		var ether wei
		if err := r[0].into(&ether); err != nil {
			return nil, fee, n.Blame(ctx, fault(err))
		}
		token, ok := word(r[1])
		if !ok {
			return nil, fee, n.Blame(ctx, refused(fmt.Errorf("balanceOf: %v", r[1].Error)))
		}
		barred, said := word(r[2])
		held = append(held, Holding{Ether: ether.amount(), Token: token.amount(), Barred: said && !barred.zero()})
	}
	return held, fee, nil
}

// Barred tells of addresses, in their order, whether the token's contract lets them
// send none now. A contract that can bar nobody has barred nobody.
func (s *Source) Barred(ctx context.Context, addresses []string) ([]bool, error) {
	n, _, err := s.asked.Now(ctx)
	if err != nil {
		return nil, err
	}
	questions := make([]question, len(addresses))
	for i, address := range addresses {
		questions[i] = ask("eth_call", map[string]string{"to": n.params.Token.String(), "data": barredCall + argument(address)}, "latest")
	}
	replies, err := n.all(ctx, smallAnswer, questions...)
	if err != nil {
		return nil, n.Blame(ctx, err)
	}
	barred := make([]bool, len(replies))
	for i, r := range replies {
		answer, said := word(r)
		barred[i] = said && !answer.zero()
	}
	return barred, nil
}

// argument is an address as calldata holds it.
func argument(address string) string { return fmt.Sprintf("%064x", codec{}.Address(address)) }
