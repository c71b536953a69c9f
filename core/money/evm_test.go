package money_test

import (
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	ethereum "cointill/chain/ethereum/params"
	"cointill/core/money"
)

// TestEVMNetworksAreComplete checks each entry of the registry by itself and against the others: a wrong
// contract or a wrong number of decimals would credit what isn't USDT.
func TestEVMNetworksAreComplete(t *testing.T) {
	t.Parallel()
	ids, names, contracts := map[int64]string{}, map[string]bool{}, map[string]string{}
	for _, n := range money.EVMNetworks() {
		name := n.Network()
		if other, taken := ids[n.ChainID]; taken || n.ChainID < 1 {
			t.Errorf("%s has chain id %d, want one above 0 that %q doesn't have", name, n.ChainID, other)
		}
		if names[name] || !regexp.MustCompile(`^[a-z]+-[a-z]+$`).MatchString(name) {
			t.Errorf("the name %q is there twice, or is not two words of letters with a hyphen between", name)
		}
		ids[n.ChainID], names[name] = name, true
		if found, ok := money.FindNetwork(name); !ok || found.ChainID != n.ChainID {
			t.Errorf("FindNetwork(%s) = chain id %d, %t, want %d", name, found.ChainID, ok, n.ChainID)
		}
		if n.Test == (n.Name == money.MainNetwork) {
			t.Errorf("%s has Test = %t, want the main network to have value and no other", name, n.Test)
		}
		if raw, err := hex.DecodeString(strings.TrimPrefix(n.Genesis, "0x")); err != nil || n.Genesis != "" && len(raw) != 32 ||
			n.Genesis == "" && !n.Test {
			t.Errorf("%s has the first block %q, want 32 bytes, and a main network to have one", name, n.Genesis)
		}
		if n.Label == "" || n.Native == "" || n.BlockTime < 100*time.Millisecond || n.BlockTime > time.Minute {
			t.Errorf("%s: label %q, coin %q, a block every %s: want all, and blocks within a minute", name, n.Label, n.Native, n.BlockTime)
		}
		if n.Finality.Depth < 2 || n.Finality.Depth > 200 || n.Finality.Usual <= 0 {
			t.Errorf("%s is final after %+v, want 2 to 200 confirmations and a time", name, n.Finality)
		}
		checkTokens(t, n, contracts)
		checkSources(t, n)
	}
	for _, n := range money.EVMNetworks() {
		if !n.Chain.IsEVM() {
			t.Errorf("%s has no main network in the registry", n.Chain)
		}
		if !slices.ContainsFunc(money.EVMNetworks(), func(o money.EVMNetwork) bool { return o.Chain == n.Chain && o.Test }) {
			t.Errorf("%s has no test network in the registry: its settings have a default for one", n.Chain)
		}
	}
	for _, c := range []money.Chain{money.Bitcoin, money.Dogecoin, money.XRPL, "tron"} {
		if c.IsEVM() {
			t.Errorf("%s is a network of Ethereum's kind, want it not to be", c)
		}
	}
}

// checkTokens checks the contracts of a network; contracts has those of all networks before it.
func checkTokens(t *testing.T, n money.EVMNetwork, contracts map[string]string) {
	tokens := n.Others
	main, _ := money.FindEVMNetwork(n.Chain, money.MainNetwork)
	switch {
	case n.Token.Decimals != main.Token.Decimals:
		t.Errorf("%s has USDT with %d decimals, want %d as on the main network", n.Network(), n.Token.Decimals, main.Token.Decimals)
	case n.Token.Contract != "":
		tokens = append([]money.EVMToken{n.Token}, tokens...)
		if n.Token.Name != string(money.USDT) || len(n.Token.Symbols) == 0 || n.Token.Decimals < money.USDT.Info().Unit {
			t.Errorf("%s has the token %+v, want USDT with its symbols and at least %d decimals", n.Network(), n.Token, money.USDT.Info().Unit)
		}
	case n.Token.Name != "" || n.Token.Symbols != nil:
		t.Errorf("%s names the token %+v without a contract", n.Network(), n.Token)
	}
	for _, token := range tokens {
		address, err := ethereum.ParseAddress(token.Contract)
		if err != nil || address.String() != token.Contract {
			t.Errorf("%s of %s is at %s, want an address with the checksum of EIP-55: %v", token.Name, n.Network(), token.Contract, err)
		}
		if token.Decimals < 6 || token.Decimals > 18 {
			t.Errorf("%s of %s has %d decimals, want 6 to 18", token.Name, n.Network(), token.Decimals)
		}
		if other, taken := contracts[token.Contract]; taken && other != token.Name {
			t.Errorf("%s of %s has the address of %s on another network", token.Name, n.Network(), other)
		}
		contracts[token.Contract] = token.Name
	}
}

// checkSources checks that a network's facts name where they were looked up, and when.
func checkSources(t *testing.T, n money.EVMNetwork) {
	for _, text := range append(n.Sources, n.Explorer) {
		address, _, _ := strings.Cut(text, " ")
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s names %q, want an address with https", n.Network(), text)
		}
	}
	if !strings.HasSuffix(n.Explorer, "/tx/") {
		t.Errorf("%s has the explorer %q, want one whose address ends with /tx/", n.Network(), n.Explorer)
	}
	if len(n.Sources) == 0 || n.Token.Contract != "" && len(n.Sources) < 3 {
		t.Errorf("%s names %d sources, want one, and three with a token", n.Network(), len(n.Sources))
	}
	if _, err := time.Parse(time.DateOnly, n.Checked); err != nil {
		t.Errorf("%s was checked on %q, want a date", n.Network(), n.Checked)
	}
}

// TestTokenDecimalsDiffer: USDT has 18 decimals on BNB Smart Chain and 6 elsewhere, and a whole coin is a
// million of the units that are counted here.
func TestTokenDecimalsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain         money.Chain
		onChain, here string
		back          string
	}{
		{money.Ethereum, "1500000", "1500000", "1500000"},
		{money.BSC, "1500000000000000000", "1500000", "1500000000000000000"},
		{money.BSC, "1500000999999999999", "1500000", "1500000000000000000"}, // less than a millionth is left out
		{money.BSC, "999999999999", "0", "0"},
		{money.BSC, "115792089237316195423570985008687907853269984665640564039457584007913129639935",
			"115792089237316195423570985008687907853269984665640564039457584007", "115792089237316195423570985008687907853269984665640564039457584007000000000000"},
		{money.Celo, "1", "1", "1"},
	} {
		p, err := ethereum.Lookup(c.chain, money.MainNetwork, "")
		if err != nil {
			t.Fatalf("Lookup(%s): %v", c.chain, err)
		}
		amount, err := money.ParseUnits(c.onChain)
		if err != nil {
			t.Fatal(err)
		}
		got := p.FromTokenUnits(amount)
		if back := p.ToTokenUnits(got); got.String() != c.here || back.String() != c.back {
			t.Errorf("%s of %s are %s here and %s there, want %s and %s", c.onChain, c.chain, got, back, c.here, c.back)
		}
	}
}

// TestFeeCoinsHaveTheirDecimals: coins that only pay fees are written with the decimals of their networks.
func TestFeeCoinsHaveTheirDecimals(t *testing.T) {
	t.Parallel()
	for coin, want := range map[money.Coin]string{"BNB": "0.0000000000015", money.TRX: "1.500000", "POL": "0.0000000000015", money.XRP: "1.500000"} {
		if got := coin.Format(money.Units(1_500_000)); got != want {
			t.Errorf("%s: 1,500,000 units are %s, want %s", coin, got, want)
		}
		if want := map[bool]int{true: 6, false: 18}[coin == money.TRX || coin == money.XRP]; coin.Decimals() != want {
			t.Errorf("%s has %d decimals, want %d", coin, coin.Decimals(), want)
		}
	}
	if !slices.Contains(money.ListFeeCoins(), money.TRX) {
		t.Errorf("the coins that pay fees are %v, want TRX among them", money.ListFeeCoins())
	}
}
