package collect

import (
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/wallet"
)

// MaxAddresses is from how many addresses one plan moves money at most.
const MaxAddresses = 500

// Reason is why money is left where it is.
type Reason string

// The reasons.
const (
	NotWorth   Reason = "not_worth" // moving it costs more than it is worth
	NoGas      Reason = "no_gas"    // the address lacks gas, and no address pays for it
	Barred     Reason = "barred"    // the token's issuer has frozen the address
	Refused    Reason = "refused"   // a contract refuses the transfer: the token's, or the destination
	Waiting    Reason = "waiting"   // transactions of the address wait for a block
	FeeCoin    Reason = "fee_coin"  // a coin that only pays fees stays for the next collection
	notDecided Reason = ""
)

// Prices are of one coin in US dollars. One that isn't known is zero.
type Prices struct{ Native, Token decimal.Decimal }

// Input is what a plan is made from.
type Input struct {
	Funds []wallet.Sweep // the addresses that hold something, in their order
	// Senders are the states of addresses; nil before they were looked up. Then only addresses among them are used.
	Senders map[string]chain.Sender
	Terms   chain.CollectTerms
	// Native is the network's own coin.
	Native      money.Coin
	Prices      Prices
	Destination string
	GasPayer    string // "" for none
}

// Transfer is one transaction of a plan.
type Transfer struct {
	From, To string
	Path     string // of the sender below its key, or its number in a list; "" for the gas payer
	Key      string // the key or list, as entered
	Coin     money.Coin
	Amount   money.Amount
	Nonce    uint64
	Gas      uint64
	Fee      money.Amount // the most that it costs, in the network's own coin
}

// LeftOut is money that stays at an address.
type LeftOut struct {
	Address, Path, Key string
	Coin               money.Coin
	Amount             money.Amount
	Cost               money.Amount // of moving it, at most, in the network's own coin
	Why                Reason
}

// Plan is a collection in three steps, which are signed and sent in this order.
type Plan struct {
	Input   Input
	Network Network
	Safe    bool       // the first step is written for a Safe, too, or only for one
	At      time.Time  // when it was made
	Gas     []Transfer // from the gas payer to addresses that lack it
	Tokens  []Transfer
	Natives []Transfer
	Left    []LeftOut
	// Later is how many further addresses have money to move, for another plan.
	Later int
	// Short is how much the gas payer lacks for the first step.
	Short money.Amount
	// Unpriced are the coins without a price, so that nothing of them is left out for what moving it costs.
	Unpriced []money.Coin
}

// Make plans a collection. It moves the whole token balance of each address, and of the network's own coin all that
// the transactions of the address don't need, wherever the amount that arrives is worth more than moving it costs.
func Make(in Input) Plan {
	p := Plan{Input: in}
	used := 0
	for _, f := range in.Funds {
		m := in.decideMoves(f)
		if !m.hasMoves() {
			p.Left = append(p.Left, m.left...)
			continue
		}
		if _, known := in.Senders[f.Address]; used == MaxAddresses || in.Senders != nil && !known {
			p.Later++
			continue
		}
		used++
		p.Left = append(p.Left, m.left...)
		p.addMoves(f, m)
	}
	p.Short = p.computeShort()
	p.Unpriced = p.listUnpriced()
	return p
}

// moves is what happens to the money at one address.
type moves struct {
	token, native, funding money.Amount // 0 for none
	left                   []LeftOut
}

func (m moves) hasMoves() bool { return m.token.Sign() > 0 || m.native.Sign() > 0 }

// decideMoves decides about the money at one address.
func (in Input) decideMoves(f wallet.Sweep) (m moves) {
	sender := in.Senders[f.Address]
	fee := in.Terms.ComputeFee(in.Terms.TokenGas)
	rest, keep := f.Native, notDecided
	if f.Token.Sign() > 0 {
		lack := fee.Sub(f.Native)
		cost := fee
		if lack.Sign() > 0 {
			cost = cost.Add(in.Terms.ComputeFee(in.Terms.FundingGas))
		}
		why := in.judgeToken(f, sender, lack, cost)
		switch {
		case why != notDecided:
			m.leaveMoney(f, money.USDT, f.Token, cost, why)
		default:
			m.token, rest = f.Token, rest.Sub(fee)
			if lack.Sign() > 0 {
				m.funding, rest = lack, money.Amount{}
			}
		}
		if why == NoGas {
			keep = NoGas // it is part of the gas
		}
	}
	if rest.Sign() <= 0 {
		return m
	}
	cost := in.Terms.ComputeFee(in.Terms.NativeGas)
	arriving := rest.Sub(cost)
	if keep == notDecided {
		keep = in.judgeNative(sender, arriving, cost)
	}
	if keep != notDecided {
		m.leaveMoney(f, in.Native, rest, cost, keep)
		return m
	}
	m.native = arriving
	return m
}

// leaveMoney leaves money of an address where it is.
func (m *moves) leaveMoney(f wallet.Sweep, coin money.Coin, amount, cost money.Amount, why Reason) {
	m.left = append(m.left, LeftOut{f.Address, f.Path, f.Key, coin, amount, cost, why})
}

// judgeToken returns why the tokens of an address are left; notDecided where they are moved.
func (in Input) judgeToken(f wallet.Sweep, sender chain.Sender, lack, cost money.Amount) Reason {
	switch {
	case f.Barred:
		return Barred
	case in.Terms.TokenGas == 0 || sender.Refused:
		return Refused
	case sender.Waiting:
		return Waiting
	case !in.isWorth(f.Token, cost):
		return NotWorth
	case lack.Sign() > 0 && (in.GasPayer == "" || in.Terms.FundingGas == 0):
		return NoGas
	}
	return notDecided
}

// judgeNative returns why the network's own coin at an address is left; notDecided where it is moved.
func (in Input) judgeNative(sender chain.Sender, arriving, cost money.Amount) Reason {
	switch {
	case !in.takesNative():
		return FeeCoin
	case in.Terms.NativeGas == 0:
		return Refused
	case sender.Waiting:
		return Waiting
	case arriving.Cmp(cost) <= 0:
		return NotWorth
	}
	return notDecided
}

// takesNative reports whether the network's own coin is one that is paid with, and collected.
func (in Input) takesNative() bool { return in.Native.Info().Coin != "" }

// isWorth reports whether tokens are worth more than a cost, or whether one of the prices isn't known.
func (in Input) isWorth(tokens, cost money.Amount) bool {
	if !in.Prices.Native.IsPositive() || !in.Prices.Token.IsPositive() {
		return true
	}
	value := exactValue(tokens, money.USDT, in.Prices.Token)
	return value.GreaterThan(exactValue(cost, in.Native, in.Prices.Native))
}

// exactValue returns the worth of an amount, without rounding.
func exactValue(a money.Amount, coin money.Coin, price decimal.Decimal) decimal.Decimal {
	return decimal.NewFromBigInt(a.Big(), -int32(coin.Decimals())).Mul(price)
}

// addMoves adds the transactions of one address.
func (p *Plan) addMoves(f wallet.Sweep, m moves) {
	in := p.Input
	from := Transfer{From: f.Address, To: in.Destination, Path: f.Path, Key: f.Key,
		Nonce: in.Senders[f.Address].Nonce}
	if m.funding.Sign() > 0 {
		gas := Transfer{From: in.GasPayer, To: f.Address, Coin: in.Native, Amount: m.funding, Gas: in.Terms.FundingGas}
		if !in.Terms.Payer.Contract {
			gas.Nonce, gas.Fee = in.Terms.Payer.Nonce+uint64(len(p.Gas)), in.Terms.ComputeFee(gas.Gas)
		}
		p.Gas = append(p.Gas, gas)
	}
	if m.token.Sign() > 0 {
		token := from
		token.Coin, token.Amount, token.Gas = money.USDT, m.token, in.Terms.TokenGas
		token.Fee = in.Terms.ComputeFee(token.Gas)
		p.Tokens = append(p.Tokens, token)
		from.Nonce++
	}
	if m.native.Sign() > 0 {
		from.Coin, from.Amount, from.Gas = in.Native, m.native, in.Terms.NativeGas
		from.Fee = in.Terms.ComputeFee(from.Gas)
		p.Natives = append(p.Natives, from)
	}
}

// computeShort returns how much the gas payer lacks.
func (p Plan) computeShort() money.Amount {
	if len(p.Gas) == 0 {
		return money.Amount{}
	}
	amount, fees := Sum(p.Gas)
	if lack := amount.Add(fees).Sub(p.Input.Terms.Payer.Held); lack.Sign() > 0 {
		return lack
	}
	return money.Amount{}
}

// listUnpriced lists the coins that a decision lacked a price of.
func (p Plan) listUnpriced() (coins []money.Coin) {
	if len(p.Tokens) == 0 {
		return nil
	}
	if !p.Input.Prices.Token.IsPositive() {
		coins = append(coins, money.USDT)
	}
	if !p.Input.Prices.Native.IsPositive() {
		coins = append(coins, p.Input.Native)
	}
	return coins
}

// Sum adds up the amounts and the fees of transfers.
func Sum(transfers []Transfer) (amount, fees money.Amount) {
	for _, t := range transfers {
		amount, fees = amount.Add(t.Amount), fees.Add(t.Fee)
	}
	return amount, fees
}

// Transactions lists all transactions in the order of the steps.
func (p Plan) Transactions() []Transfer {
	all := append([]Transfer{}, p.Gas...)
	return append(append(all, p.Tokens...), p.Natives...)
}

// Fees returns what all transactions cost at most, in the network's own coin, without the one of a contract that pays
// for gas.
func (p Plan) Fees() money.Amount {
	_, fees := Sum(p.Transactions())
	return fees
}

// Value returns what an amount is worth in US dollars; false where no price is known.
func (p Plan) Value(coin money.Coin, amount money.Amount) (decimal.Decimal, bool) {
	price := p.Input.Prices.Native
	if coin == money.USDT {
		price = p.Input.Prices.Token
	}
	return exactValue(amount, coin, price).Round(2), price.IsPositive()
}

// Orders returns what the addresses of the plan pay, one order for each: its tokens, or else its own coin.
func (p Plan) Orders() (orders []chain.Order) {
	asked := map[string]bool{}
	for _, t := range append(append([]Transfer{}, p.Tokens...), p.Natives...) {
		if !asked[t.From] {
			asked[t.From] = true
			orders = append(orders, t.Order())
		}
	}
	return orders
}

// Order returns the transfer as the network's adapter takes it.
func (t Transfer) Order() chain.Order {
	return chain.Order{From: t.From, To: chain.Destination{Address: t.To}, Asset: string(t.Coin), Amount: t.Amount}
}
