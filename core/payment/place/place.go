// Package place describes where and how a payment is to be paid.
package place

import (
	"strings"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
)

// SandboxChainID and SandboxToken stand for Ethereum's chain id and the USDT
// contract in the sandbox: wallets know no such chain, so nothing real can be sent by mistake.
const (
	SandboxChainID = 1337
	SandboxToken   = "0x5a4Db0C5a4dB0c5A4db0C5a4DB0C5A4dB0C5a4Db"
)

// Contract is what wallets need to know of a network of Ethereum's kind.
type Contract struct {
	ChainID int64
	Token   string // contract of USDT; never a place to send to
	// Decimals are the token's; 0 for as many as USDT has here.
	Decimals int
}

// Pay is where and how the rest of a payment is to be paid.
type Pay struct {
	Address  string
	Tag      *int64
	URI      string // what a wallet opens; "" where wallets know no such request
	XAddress string // XRP only: address and tag in one
	Network  string // for people
}

// Describe returns where and how an amount of a payment is to be paid; without an address before the payment was
// opened. merchant is the name that wallets show.
func Describe(p models.Payment, amount money.Amount, contract Contract, merchant string) Pay {
	coin := money.Coin(p.Coin)
	pay := Pay{Address: p.Address, Tag: p.Tag, Network: NameNetwork(coin, p.Network)}
	if p.Address == "" {
		return pay
	}
	to := wallet.Place{Address: p.Address}
	if p.Tag != nil {
		tag := uint32(*p.Tag)
		to.Tag = &tag
		if x, err := wallet.XAddress(p.Address, &tag, p.Domain == string(scope.Test)); err == nil {
			pay.XAddress = x
		}
	}
	if chain.Network(p.Network).Code() == money.Tron { // its wallets know no request for an amount
		return pay
	}
	if contract == (Contract{}) { // the sandbox, or a network that isn't set up any more
		contract = Contract{ChainID: SandboxChainID, Token: SandboxToken}
	}
	pay.URI = wallet.Asked{Coin: coin, Place: to, Amount: contract.inUnits(coin, amount), Label: merchant,
		Message: p.Reference, ChainID: contract.ChainID, Token: contract.Token}.URI()
	return pay
}

// inUnits converts an amount of USDT to the units of the contract.
func (c Contract) inUnits(coin money.Coin, amount money.Amount) money.Amount {
	if coin != money.USDT {
		return amount
	}
	scale := int64(1)
	for range c.Decimals - money.USDT.Info().Unit {
		scale *= 10
	}
	return amount.MulDiv(scale, 1)
}

// FeeCoin returns the coin in which a network of a coin takes its fees.
func FeeCoin(coin money.Coin, network string) money.Coin {
	return coin.Info().FeeCoin(chain.Network(network).Code())
}

// NameNetwork names a network for people, as wallets and exchanges do when a coin is sent, and says which test
// network it is where real wallets could mix it up with the main one.
func NameNetwork(coin money.Coin, network string) string {
	info, code := coin.Info(), chain.Network(network).Code()
	label := info.Network
	if facts, known := money.FindNetworkFacts(code); known {
		label = facts.CoinLabel(coin)
	} else {
		code = info.Chain
	}
	if name, real := strings.CutPrefix(network, string(code)+"-"); real && name != money.MainNetwork {
		return label + " " + name
	}
	return label
}
