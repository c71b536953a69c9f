package collect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/wallet"
)

const (
	treasury = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
	payer    = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
)

// fund is an address that holds some wei and millionths of a USDT.
func fund(name string, wei, tokens int64) wallet.Sweep {
	return wallet.Sweep{Address: name, Path: "0/" + name, Key: "xpub", Held: wallet.Held{Native: money.Units(wei),
		Token: money.Units(tokens)}}
}

// barred is a fund whose tokens are frozen.
func barred(f wallet.Sweep) wallet.Sweep { f.Barred = true; return f }

// terms cost 2 wei for a unit of gas: 20 for tokens, 10 for ether, 12 for gas that is sent.
func terms() chain.CollectTerms {
	return chain.CollectTerms{MaxFee: money.Units(2), Priority: money.Units(1), TokenGas: 10, NativeGas: 5,
		FundingGas: 6, Payer: chain.GasPayer{Nonce: 7, Held: money.Units(1000)}}
}

// newInput has an ether that is worth as many dollars as there are wei in it, so that a wei is worth a dollar.
func newInput(funds ...wallet.Sweep) collect.Input {
	return collect.Input{Funds: funds, Terms: terms(), Native: money.ETH, Destination: treasury, GasPayer: payer,
		Prices: collect.Prices{Native: decimal.New(1, 18), Token: decimal.NewFromInt(1)}}
}

// describe writes a plan down: each step's transfers as sender, amount, nonce; then what stays.
func describe(p collect.Plan) string {
	var parts []string
	for i, step := range [][]collect.Transfer{p.Gas, p.Tokens, p.Natives} {
		for _, t := range step {
			name := t.From
			if i == 0 {
				name = t.To
			}
			parts = append(parts, fmt.Sprintf("%d:%s=%s#%d", i+1, name, t.Amount, t.Nonce))
		}
	}
	for _, l := range p.Left {
		parts = append(parts, fmt.Sprintf("left %s %s %s %s", l.Address, l.Coin, l.Amount, l.Why))
	}
	return strings.Join(parts, ", ")
}

// TestPlan checks which money moves, by which transactions, and what stays for which reason.
func TestPlan(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000
	for _, c := range []struct {
		name   string
		funds  []wallet.Sweep
		change func(*collect.Input)
		want   string
	}{
		{"nothing", nil, nil, ""},
		{"tokens without gas are sent all that lacks", []wallet.Sweep{fund("a", 0, 100*dollar)}, nil,
			"1:a=20#7, 2:a=100000000#0"},
		{"tokens with some gas are sent the rest", []wallet.Sweep{fund("a", 19, 100*dollar)}, nil,
			"1:a=1#7, 2:a=100000000#0"},
		{"tokens with exactly their gas need none", []wallet.Sweep{fund("a", 20, 100*dollar)}, nil,
			"2:a=100000000#0"},
		{"numbers of the payer are in order", []wallet.Sweep{fund("a", 0, 100*dollar), fund("b", 5, 90*dollar)}, nil,
			"1:a=20#7, 1:b=15#8, 2:a=100000000#0, 2:b=90000000#0"},
		{"a Safe numbers for itself", []wallet.Sweep{fund("a", 0, 100*dollar), fund("b", 5, 90*dollar)},
			func(in *collect.Input) { in.Terms.Payer.Contract = true },
			"1:a=20#0, 1:b=15#0, 2:a=100000000#0, 2:b=90000000#0"},
		{"ether moves but for its fee", []wallet.Sweep{fund("a", 1000, 0)}, nil, "3:a=990#0"},
		{"ether beside tokens leaves the gas of both", []wallet.Sweep{fund("a", 1000, 100*dollar)}, nil,
			"2:a=100000000#0, 3:a=970#1"},
		{"numbers of an address go on from its own", []wallet.Sweep{fund("a", 1000, 100*dollar)},
			func(in *collect.Input) { in.Senders = map[string]chain.Sender{"a": {Nonce: 4}} },
			"2:a=100000000#4, 3:a=970#5"},
		{"what arrives is worth no more than the fee", []wallet.Sweep{fund("a", 20, 0)}, nil,
			"left a ETH 20 not_worth"},
		{"what arrives is worth a wei more than the fee", []wallet.Sweep{fund("a", 21, 0)}, nil, "3:a=11#0"},
		{"tokens worth no more than their fee", []wallet.Sweep{fund("a", 20, 20*dollar)}, nil,
			"left a USDT 20000000 not_worth, left a ETH 20 not_worth"},
		{"tokens worth a little more than their fee", []wallet.Sweep{fund("a", 20, 20*dollar+1)}, nil,
			"2:a=20000001#0"},
		{"tokens worth no more than their fee and the gas sent first", []wallet.Sweep{fund("a", 0, 32*dollar)}, nil,
			"left a USDT 32000000 not_worth"},
		{"tokens worth a little more than both", []wallet.Sweep{fund("a", 0, 32*dollar+1)}, nil,
			"1:a=20#7, 2:a=32000001#0"},
		{"ether that tokens don't need moves without them", []wallet.Sweep{fund("a", 1000, dollar)}, nil,
			"3:a=990#0, left a USDT 1000000 not_worth"},
		{"no price of tokens", []wallet.Sweep{fund("a", 20, 1)},
			func(in *collect.Input) { in.Prices.Token = decimal.Zero }, "2:a=1#0"},
		{"no price of ether", []wallet.Sweep{fund("a", 20, 1)},
			func(in *collect.Input) { in.Prices.Native = decimal.Zero }, "2:a=1#0"},
		{"nobody pays for gas", []wallet.Sweep{fund("a", 19, 100*dollar), fund("b", 20, 100*dollar)},
			func(in *collect.Input) { in.GasPayer = "" },
			"2:b=100000000#0, left a USDT 100000000 no_gas, left a ETH 19 no_gas"},
		{"the payer can't send gas", []wallet.Sweep{fund("a", 0, 100*dollar)},
			func(in *collect.Input) { in.Terms.FundingGas = 0 }, "left a USDT 100000000 no_gas"},
		{"frozen tokens", []wallet.Sweep{barred(fund("a", 1000, 100*dollar))}, nil,
			"3:a=990#0, left a USDT 100000000 barred"},
		{"the token refuses one address", []wallet.Sweep{fund("a", 20, 100*dollar), fund("b", 20, 100*dollar)},
			func(in *collect.Input) { in.Senders = map[string]chain.Sender{"a": {Refused: true}, "b": {}} },
			"2:b=100000000#0, left a USDT 100000000 refused, left a ETH 20 not_worth"},
		{"the token refuses everyone", []wallet.Sweep{fund("a", 20, 100*dollar)},
			func(in *collect.Input) { in.Terms.TokenGas = 0 }, "left a USDT 100000000 refused, left a ETH 20 not_worth"},
		{"the destination refuses ether", []wallet.Sweep{fund("a", 1000, 0)},
			func(in *collect.Input) { in.Terms.NativeGas = 0 }, "left a ETH 1000 refused"},
		{"transactions wait", []wallet.Sweep{fund("a", 1000, 100*dollar)},
			func(in *collect.Input) { in.Senders = map[string]chain.Sender{"a": {Waiting: true}} },
			"left a USDT 100000000 waiting, left a ETH 1000 waiting"},
		{"an address that was not looked up waits for another plan", []wallet.Sweep{fund("a", 20, 100*dollar),
			fund("b", 20, 100*dollar)},
			func(in *collect.Input) { in.Senders = map[string]chain.Sender{"b": {}} }, "2:b=100000000#0"},
		{"the fee of another network counts for each transaction", []wallet.Sweep{fund("a", 1000, 100*dollar),
			fund("b", 0, 100*dollar)}, func(in *collect.Input) { in.Terms.L1Fee = money.Units(3) },
			"1:b=23#7, 2:a=100000000#0, 2:b=100000000#0, 3:a=964#1"},
		{"a coin that only pays fees stays", []wallet.Sweep{fund("a", 1000, 100*dollar), fund("b", 1000, 0)},
			func(in *collect.Input) { in.Native = "BNB" },
			"2:a=100000000#0, left b BNB 1000 fee_coin, left a BNB 980 fee_coin"},
	} {
		in := newInput(c.funds...)
		if c.change != nil {
			c.change(&in)
		}
		got := strings.Split(describe(collect.Make(in)), ", ")
		want := strings.Split(c.want, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
	}
}

// TestMoneyIsConserved checks that what arrives, what is kept for fees and what stays is all that there was.
func TestMoneyIsConserved(t *testing.T) {
	t.Parallel()
	funds := []wallet.Sweep{fund("a", 1000, 100_000_000), fund("b", 3, 70_000_001), fund("c", 0, 5),
		fund("d", 21, 0), barred(fund("e", 77, 9))}
	p := collect.Make(newInput(funds...))
	var had, left [2]money.Amount
	for _, f := range funds {
		had[0], had[1] = had[0].Add(f.Token), had[1].Add(f.Native)
	}
	for _, l := range p.Left {
		i := 0
		if l.Coin == money.ETH {
			i = 1
		}
		left[i] = left[i].Add(l.Amount)
	}
	tokens, tokenFees := collect.Sum(p.Tokens)
	natives, nativeFees := collect.Sum(p.Natives)
	sent, gasFees := collect.Sum(p.Gas)
	if got := tokens.Add(left[0]); got.Cmp(had[0]) != 0 {
		t.Errorf("%s USDT move or stay, want %s", got, had[0])
	}
	if got := natives.Add(left[1]).Add(tokenFees).Add(nativeFees).Sub(sent); got.Cmp(had[1]) != 0 {
		t.Errorf("%s wei move, pay fees or stay, want %s", got, had[1])
	}
	if got := p.Fees(); got.Cmp(tokenFees.Add(nativeFees).Add(gasFees)) != 0 {
		t.Errorf("fees are %s, want those of the three steps", got)
	}
}

// TestPlanHasABound checks that addresses above the bound wait for another plan, and dust takes no place.
func TestPlanHasABound(t *testing.T) {
	t.Parallel()
	var funds []wallet.Sweep
	for i := range collect.MaxAddresses + 3 {
		funds = append(funds, fund(fmt.Sprint("dust", i), 1, 0), fund(fmt.Sprint(i), 1000, 0))
	}
	p := collect.Make(newInput(funds...))
	if len(p.Natives) != collect.MaxAddresses || p.Later != 3 || len(p.Left) != len(funds)/2 {
		t.Errorf("%d transactions, %d addresses later, %d left; want %d, 3 and %d", len(p.Natives), p.Later,
			len(p.Left), collect.MaxAddresses, len(funds)/2)
	}
}

// TestPayerIsShort checks how much the address that pays for gas lacks.
func TestPayerIsShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held     int64
		contract bool
		want     string
	}{{32, false, "0"}, {31, false, "1"}, {20, true, "0"}, {19, true, "1"}} {
		in := newInput(fund("a", 0, 100_000_000))
		in.Terms.Payer.Held, in.Terms.Payer.Contract = money.Units(c.held), c.contract
		if got := collect.Make(in).Short.String(); got != c.want {
			t.Errorf("a payer with %d, contract %v, lacks %s, want %s", c.held, c.contract, got, c.want)
		}
	}
	in := newInput(fund("a", 1000, 0))
	in.Terms.Payer.Held = money.Amount{}
	if short := collect.Make(in).Short; short.Sign() != 0 {
		t.Errorf("a payer that pays nothing lacks %s, want nothing", short)
	}
}

// TestUnpricedCoinsAreNamed checks which prices a plan says that it lacked.
func TestUnpricedCoinsAreNamed(t *testing.T) {
	t.Parallel()
	in := newInput(fund("a", 20, 1))
	in.Prices = collect.Prices{}
	if got := fmt.Sprint(collect.Make(in).Unpriced); got != "[USDT ETH]" {
		t.Errorf("without prices the plan names %s, want both coins", got)
	}
	in.Native, in.Prices.Token = "BNB", decimal.NewFromInt(1)
	p := collect.Make(in)
	if got := fmt.Sprint(p.Unpriced); got != "[BNB]" {
		t.Errorf("without a price of BNB the plan names %s, want it", got)
	}
	if _, known := p.Value("BNB", money.Units(1)); known {
		t.Error("an unknown price gives a value")
	}
	if value, known := p.Value(money.USDT, money.Units(1_500_000)); !known || value.String() != "1.5" {
		t.Errorf("1.5 USDT are worth %s, %v, want 1.5", value, known)
	}
	in.Funds = []wallet.Sweep{fund("a", 1000, 0)}
	in.Native = money.ETH
	if got := collect.Make(in).Unpriced; got != nil {
		t.Errorf("a plan without tokens names %s, want no coin: ether's fee is in ether", got)
	}
}
