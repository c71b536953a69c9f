package money

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
)

// Coin is a cryptocurrency by its symbol.
type Coin string

// The coins of interface section 2.1.
const (
	BTC  Coin = "BTC"
	ETH  Coin = "ETH"
	USDT Coin = "USDT"
	XRP  Coin = "XRP"
	DOGE Coin = "DOGE"
)

// Chain names the kind of network a coin lives on.
type Chain string

// The chains, by the codes that settings and the API use. ETH and USDT are on the EVM chains.
const (
	Bitcoin  Chain = "bitcoin"
	Ethereum Chain = "ethereum"
	XRPL     Chain = "xrp"
	Dogecoin Chain = "dogecoin"
	BSC      Chain = "bsc"
	Polygon  Chain = "polygon"
	Arbitrum Chain = "arbitrum"
	Celo     Chain = "celo"
	Base     Chain = "base"
)

// Chains lists the chains that payments are made on, in the order pages show them.
func Chains() []Chain { return []Chain{Bitcoin, Ethereum, XRPL, Dogecoin} }

// Method is a payment_method code of the interface.
type Method string

// The payment methods of interface section 2.1.
const (
	CryptoBitcoin  Method = "crypto_bitcoin"
	CryptoEthereum Method = "crypto_ethereum"
	CryptoTether   Method = "crypto_tether"
	CryptoRipple   Method = "crypto_ripple"
	CryptoDogecoin Method = "crypto_dogecoin"
)

// UnknownMethod is said of a method that isn't one of the five.
var UnknownMethod = fault.NewMessage(
	"Must be one of crypto_bitcoin, crypto_ethereum, crypto_tether, crypto_ripple, crypto_dogecoin.")

// CoinInfo holds the constants of a coin.
type CoinInfo struct {
	Coin    Coin
	Method  Method
	Chain   Chain
	Name    string // as people say it
	Network string // what its network is called on pages
	Unit    int    // decimals of the smallest unit
	Display int    // decimals a quote is rounded up to and shown with (contract, Initiation rules)
	// DustLimit is the smallest output, in smallest units, that the network carries; 0 for no
	// limit (contract, Initiation rules).
	DustLimit int64
}

var coins = []CoinInfo{
	{BTC, CryptoBitcoin, Bitcoin, "Bitcoin", "Bitcoin", 8, 8, 546},
	{ETH, CryptoEthereum, Ethereum, "Ether", ethereumMainnet.Label, 18, 8, 0},
	{USDT, CryptoTether, Ethereum, "Tether USD", ethereumMainnet.TokenLabel(), 6, 6, 0},
	{XRP, CryptoRipple, XRPL, "XRP", "XRP Ledger", 6, 6, 0},
	{DOGE, CryptoDogecoin, Dogecoin, "Dogecoin", "Dogecoin", 8, 8, 1_000_000},
}

// Coins lists the constants of every coin, in the interface's order.
func Coins() []CoinInfo { return append([]CoinInfo(nil), coins...) }

// Info returns the constants of the coin; an unknown coin has a zero Info.
func (c Coin) Info() CoinInfo {
	for _, info := range coins {
		if info.Coin == c {
			return info
		}
	}
	return CoinInfo{}
}

// Chains lists the codes of the networks that payments in the coin are made on, its first one first.
func (c CoinInfo) Chains() []Chain {
	if c.Chain != Ethereum {
		return []Chain{c.Chain}
	}
	var codes []Chain
	for _, n := range evmNetworks {
		if n.Name == MainNetwork && n.carriesCoin(c.Coin) {
			codes = append(codes, n.Chain)
		}
	}
	if c.Coin == USDT {
		codes = slices.Insert(codes, 1, Tron)
	}
	return codes
}

// On returns the constants of the coin on one of its networks that has addresses of its own.
func (c CoinInfo) On(code Chain) CoinInfo {
	if facts, known := FindNetworkFacts(code); known {
		c.Chain, c.Network = code, facts.CoinLabel(c.Coin)
	}
	return c
}

// ListNetworks lists the codes of all networks that payments are made on, each once, in the order of the coins.
func ListNetworks() (codes []Chain) {
	for _, coin := range coins {
		for _, code := range coin.Chains() {
			if !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// Label returns what a network is called, without a coin: "BNB Smart Chain" for bsc.
func (c Chain) Label() string {
	if facts, known := FindNetworkFacts(c); known {
		return facts.Label
	}
	for _, coin := range coins {
		if coin.Chain == c {
			return coin.Network
		}
	}
	return string(c)
}

// FeeCoin returns the coin in which a network of the coin takes its fees. It may be one that isn't paid with, such as
// BNB.
func (c CoinInfo) FeeCoin(code Chain) Coin {
	if facts, known := FindNetworkFacts(code); known {
		return facts.Native
	}
	return c.Coin
}

// Carries reports whether the coin's network can carry an output of an amount.
func (c CoinInfo) Carries(a Amount) bool { return a.Cmp(Units(c.DustLimit)) >= 0 }

// MinimumFiat returns the smallest whole fiat amount that the coin's network can carry at price
// (fiat units per whole coin): its quote, which FromFiat rounds up, is the smallest output.
func (c CoinInfo) MinimumFiat(price decimal.Decimal) decimal.Decimal {
	if c.DustLimit == 0 {
		return decimal.NewFromInt(1)
	}
	return decimal.New(c.DustLimit-1, -int32(c.Unit)).Mul(price).Floor().Add(decimal.NewFromInt(1))
}

// FormatDustLimit writes the smallest amount that the coin's network carries, with its symbol.
func (c CoinInfo) FormatDustLimit() string {
	return c.Coin.Format(Units(c.DustLimit)) + " " + string(c.Coin)
}

// Format writes an amount of the coin with its display decimals, or more where it has more.
func (c Coin) Format(a Amount) string {
	info := c.findDecimals()
	return a.Format(info.Unit, info.Display)
}

// Decimals returns how many decimals the coin has, also one that only pays fees, such as BNB.
func (c Coin) Decimals() int { return c.findDecimals().Unit }

// findDecimals returns the coin's facts. Of the coins that only pay fees TRX has the decimals of XRP, the others have
// as many as ether.
func (c Coin) findDecimals() CoinInfo {
	switch {
	case c == TRX:
		return XRP.Info()
	case slices.Contains(ListFeeCoins(), c):
		return ETH.Info()
	}
	return c.Info()
}

// Parse reads whole coins in decimal notation, exactly: text with more
// decimals than the coin has is refused.
func (c Coin) Parse(text string) (Amount, error) {
	d, err := decimal.NewFromString(text)
	if err != nil || len(text) > maxDigits+2 || strings.ContainsAny(text, "eE") {
		return Amount{}, fmt.Errorf("%w: %q", ErrAmount, text)
	}
	d = d.Shift(int32(c.Info().Unit))
	if !d.IsInteger() {
		return Amount{}, fmt.Errorf("%w: %q has more than %d decimals", ErrAmount, text, c.Info().Unit)
	}
	return FromBig(d.BigInt()), nil
}

// FromFiat is the coin amount for a fiat amount at price (fiat units per whole
// coin), rounded up to the coin's display precision, so that a quote never
// undercharges. The price must be positive.
func (c Coin) FromFiat(fiat, price decimal.Decimal) Amount {
	info := c.Info()
	// ceil(fiat·10^display / price), then scaled to smallest units: exact integers throughout.
	num, den := fiat.Shift(int32(info.Display)).Rat(), price.Rat()
	quotient := new(big.Rat).Quo(num, den)
	whole, rest := new(big.Int).QuoRem(quotient.Num(), quotient.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(info.Unit-info.Display)), nil)
	return FromBig(whole.Mul(whole, scale))
}

// ToFiat is what an amount of the coin is worth at price (fiat units per whole
// coin), rounded half up to the currency's two decimals.
func (c Coin) ToFiat(a Amount, price decimal.Decimal) decimal.Decimal {
	return decimal.NewFromBigInt(&a.n, -int32(c.Info().Unit)).Mul(price).Round(2)
}

// Info returns the constants of the method's coin.
func (m Method) Info() (CoinInfo, bool) {
	for _, info := range coins {
		if info.Method == m {
			return info, true
		}
	}
	return CoinInfo{}, false
}
