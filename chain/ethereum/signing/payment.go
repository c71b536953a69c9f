// Package signing builds the transactions of Ethereum networks that a merchant's wallet signs, and
// compares a signed transaction with the payment that was approved. It holds no key and makes no
// request.
package signing

import (
	"errors"
	"math/big"

	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// Payment is an approved payment of ether or of a token.
type Payment struct {
	ChainID  uint64
	From, To string
	Token    string       // the token's contract; "" means ether
	Amount   money.Amount // that To receives, in the smallest unit
	// The rest is for transactions, not for links and Safe files.
	Nonce, GasLimit                    uint64
	MaxFeePerGas, MaxPriorityFeePerGas money.Amount // wei
}

// ErrPayment rejects a payment that no transaction can make.
var ErrPayment = errors.New("no transaction can make this payment")

// minGas is what each transaction uses at least.
const minGas = 21000

// transfer is what a payment moves, in binary form.
type transfer struct {
	chainID  uint64
	from, to params.Address
	token    *params.Address // nil means ether
	amount   *big.Int
}

// parseTransfer reads and checks everything but nonce, gas and fees.
func (p Payment) parseTransfer() (transfer, error) {
	t := transfer{chainID: p.ChainID, amount: p.Amount.Big()}
	var err, err2, err3 error
	t.from, err = params.ParseAddress(p.From)
	t.to, err2 = params.ParseAddress(p.To)
	if p.Token != "" {
		t.token = new(params.Address)
		*t.token, err3 = params.ParseAddress(p.Token)
	}
	switch {
	case err != nil, err2 != nil, err3 != nil, p.ChainID == 0, t.to == params.Address{},
		t.token != nil && *t.token == t.to, // the tokens would be lost
		t.amount.Sign() <= 0, t.amount.BitLen() > 256:
		return transfer{}, ErrPayment
	}
	return t, nil
}

// parse reads and checks everything.
func (p Payment) parse() (transfer, error) {
	if p.GasLimit < minGas || p.MaxFeePerGas.Sign() <= 0 || p.MaxFeePerGas.Big().BitLen() > 256 ||
		p.MaxPriorityFeePerGas.Sign() < 0 || p.MaxPriorityFeePerGas.Cmp(p.MaxFeePerGas) > 0 {
		return transfer{}, ErrPayment
	}
	return p.parseTransfer()
}

// receiver returns the transaction's own destination, which for tokens is their contract.
func (t transfer) receiver() params.Address {
	if t.token != nil {
		return *t.token
	}
	return t.to
}

// value returns the ether that the transaction moves.
func (t transfer) value() *big.Int {
	if t.token != nil {
		return new(big.Int)
	}
	return t.amount
}

// calldata returns what the token's contract is called with; nothing for ether.
func (t transfer) calldata() []byte {
	if t.token == nil {
		return nil
	}
	return abi.EncodeTransfer(t.to, t.amount)
}

// MaxGasPrice returns the highest price of gas that a transaction is prepared for, in gwei. One of the other coins is
// worth less than an ether. Without a bound a node could have a wallet pay any fee.
func MaxGasPrice(native money.Coin) int64 {
	if native == money.ETH {
		return 5_000
	}
	return 100_000
}
