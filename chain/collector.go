package chain

import (
	"context"
	"math/big"

	"cointill/core/money"
)

// Collector is a network of accounts. A merchant's money is collected from many of them to one.
type Collector interface {
	BatchSigner
	// FetchCollectTerms asks a node what transfers to one destination cost now.
	FetchCollectTerms(ctx context.Context, q CollectQuery) (CollectTerms, error)
	// FetchSenders asks a node about the accounts that orders are paid from, in the order of the orders.
	FetchSenders(ctx context.Context, orders []Order) ([]Sender, error)
	// BuildNumbered returns the unsigned transaction that makes an order. It asks no node.
	BuildNumbered(o Order, n NumberedTerms) (NumberedTransaction, error)
}

// CollectQuery names the accounts of a collection.
type CollectQuery struct {
	Destination string
	GasPayer    string // pays for gas; "" for none
	// Tokens are orders to estimate the gas of a token's transfer with: the first counts that isn't refused. Native
	// is the same for the network's own coin. None where nothing of it is moved.
	Tokens, Native []Order
}

// CollectTerms are what transfers to one destination cost at most.
type CollectTerms struct {
	MaxFee, Priority money.Amount // of a unit of gas
	// L1Fee is what a transaction takes besides its gas, for the cost of another network.
	L1Fee money.Amount
	// TokenGas, NativeGas and FundingGas are the gas of a transfer of the token and of the network's own coin to the
	// destination, and of that coin to an address. 0 where a contract refuses the transfer, or where none was asked for.
	TokenGas, NativeGas, FundingGas uint64
	// Contract says that the destination is a contract, such as a Safe.
	Contract bool
	Payer    GasPayer
}

// GasPayer is the state of the account that pays for gas.
type GasPayer struct {
	Contract bool // it is a contract: numbers and fees are its own
	Nonce    uint64
	Held     money.Amount
}

// ComputeFee returns the most that a transaction with some gas costs.
func (t CollectTerms) ComputeFee(gas uint64) money.Amount {
	return money.FromBig(new(big.Int).Mul(t.MaxFee.Big(), new(big.Int).SetUint64(gas))).Add(t.L1Fee)
}

// Sender is the state of an account that an order is paid from.
type Sender struct {
	Nonce   uint64 // of its next transaction
	Waiting bool   // transactions of it wait for a block, so that its balance is about to change
	Refused bool   // the token's contract refuses the order
}

// NumberedTerms are what a transaction has beside its order.
type NumberedTerms struct {
	Nonce, Gas       uint64
	MaxFee, Priority money.Amount
}

// NumberedTransaction is an unsigned transaction in two forms.
type NumberedTransaction struct {
	JSON []byte // the object that wallet libraries take
	Raw  string // the transaction without signature, as the network encodes it
}
