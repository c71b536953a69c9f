package signing

import (
	"fmt"
	"math/big"

	"cointill/chain"
	"cointill/core/money"
)

// leastTip is the priority fee where a node suggests none.
var leastTip = money.Units(1_000_000)

const weiPerGwei = 1_000_000_000

// Terms are what a transaction has beside its order.
type Terms struct {
	Nonce    uint64       `json:"nonce"`
	Gas      uint64       `json:"gas"`
	MaxFee   money.Amount `json:"max_fee_per_gas"`
	Priority money.Amount `json:"max_priority_fee_per_gas"`
	// Contract says that the account that pays is a contract, such as a Safe: it has a number and fees of its own.
	Contract bool `json:"contract,omitempty"`
}

// Facts are what a node says about an order.
type Facts struct {
	Confirmed, Next uint64 // nonces: of the next transaction in a block, and beside those that wait
	Ether, Held     money.Amount
	BaseFee, Tip    money.Amount
	L1Fee           money.Amount // taken besides the gas, for the cost of another network
	Gas             uint64       // 0 for a transfer that the token's contract refuses
	Contract        bool         // the recipient has code
	PayerCode       bool         // the account that pays is a contract
}

// ComputeTerms returns the terms for a transaction now: twice the fee of the last block, so that it
// is taken while fees rise. native is the coin of the fee. A Refusal names the money that lacks.
func (f Facts) ComputeTerms(o chain.Order, native money.Coin) (Terms, error) {
	most, tip := f.ComputePrices()
	if limit := MaxGasPrice(native); most.Cmp(money.Units(weiPerGwei).MulDiv(limit, 1)) > 0 {
		asked := most.MulDiv(1, weiPerGwei)
		return Terms{}, chain.Refusal(fmt.Sprintf("The network's node asks for %s gwei a unit of gas; a "+
			"transaction is prepared for at most %d. Try again later, or set up another node.", asked, limit))
	}
	terms := Terms{Nonce: f.Next, Gas: f.Gas, MaxFee: most, Priority: tip}
	if f.PayerCode {
		terms = Terms{Contract: true}
	}
	fee := terms.ComputeFee().Add(f.L1Fee)
	coin := money.Coin(o.Asset)
	switch {
	case f.Contract && coin == money.ETH:
		return terms, chain.Refusal("The address is a contract's. Ether that a contract doesn't expect can be " +
			"lost, so it isn't sent there. Ask for an address of a person's wallet.")
	case f.Held.Cmp(o.Amount) < 0:
		return terms, chain.Refusal(fmt.Sprintf("The wallet %s has %s %s; this send takes %s %s.", o.From,
			coin.Format(f.Held), coin, coin.Format(o.Amount), coin))
	case f.Gas == 0 && coin == money.ETH:
		return terms, chain.Refusal("The address delegates to a contract, and that refuses ether. Ask for another address.")
	case f.Gas == 0:
		return terms, chain.Refusal("The token's contract refuses this transfer. The token's issuer may have blocked " +
			"one of the two addresses.")
	case f.Ether.Cmp(fee) < 0, coin == money.ETH && f.Ether.Cmp(o.Amount.Add(fee)) < 0:
		return terms, chain.Refusal(fmt.Sprintf("The wallet %s has %s %s; the network's fee takes up to "+
			"%s %s beside the amount. Add %s to it.", o.From, native.Format(f.Ether), native, native.Format(fee), native,
			native))
	}
	return terms, nil
}

// ComputePrices returns the highest price of gas, and the tip in it.
func (f Facts) ComputePrices() (most, tip money.Amount) {
	if tip = f.Tip; tip.Sign() == 0 {
		tip = leastTip
	}
	return f.BaseFee.Add(f.BaseFee).Add(tip), tip
}

// ComputeFee returns the most that the network takes, in wei.
func (t Terms) ComputeFee() money.Amount {
	return money.FromBig(new(big.Int).Mul(t.MaxFee.Big(), new(big.Int).SetUint64(t.Gas)))
}
