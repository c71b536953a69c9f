package params

import (
	"fmt"
	"strings"
	"testing"

	"cointill/core/money"
)

// TestAddTokens checks which tokens an operator may add to a network.
func TestAddTokens(t *testing.T) {
	t.Parallel()
	network, err := Lookup(money.Ethereum, "mainnet", "")
	if err != nil {
		t.Fatal(err)
	}
	const pyusd, usdc, dai = "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x6B175474E89094C44Da98b954EedeAC495271d0F"
	known := "DAI " + dai + " 18, USDC " + usdc + " 6"
	many := map[string]string{}
	for i := range maxOtherTokens + 1 {
		many[fmt.Sprint("T", i)] = fmt.Sprintf("0x%040x/6", i+1)
	}
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  string // the tokens, or a part of the refusal
	}{
		{"none", nil, known},
		{"one more", map[string]string{"PYUSD": pyusd + "/6"}, "DAI " + dai + " 18, PYUSD " + pyusd + " 6, USDC " + usdc + " 6"},
		{"another contract of a known name", map[string]string{"DAI": pyusd + "/0"}, "DAI " + pyusd + " 0, USDC " + usdc + " 6"},
		{"36 decimals", map[string]string{"DAI": dai + "/36"}, "DAI " + dai + " 36, USDC " + usdc + " 6"},
		{"37 decimals", map[string]string{"DAI": dai + "/37"}, "decimals up to 36"},
		{"no decimals", map[string]string{"DAI": dai}, "decimals up to 36"},
		{"negative decimals", map[string]string{"DAI": dai + "/-1"}, "decimals up to 36"},
		{"no address", map[string]string{"DAI": "dai.example/18"}, "no address"},
		{"a mistyped address", map[string]string{"DAI": strings.Replace(dai, "6B", "6b", 1) + "/18"}, "checksum"},
		{"the contract of USDT", map[string]string{"USDX": "0xdAC17F958D2ee523a2206206994597C13D831ec7/6"}, "contract of USDT"},
		{"the name of a coin", map[string]string{"usdt": pyusd + "/6"}, "no coin that is accepted"},
		{"a long name", map[string]string{"ABCDEFGHIJKLM": pyusd + "/6"}, "up to 12 letters"},
		{"a name with a space", map[string]string{"US D": pyusd + "/6"}, "up to 12 letters"},
		{"an empty name", map[string]string{"": pyusd + "/6"}, "up to 12 letters"},
		{"one contract twice", map[string]string{"USDX": usdc + "/6"}, "the same contract"},
		{"too many", many, "more than 50"},
	} {
		p, err := network.AddTokens(c.texts)
		var got []string
		for _, o := range p.Others {
			got = append(got, fmt.Sprintf("%s %s %d", o.Name, o.Contract, o.Decimals))
		}
		text := strings.Join(got, ", ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
	if len(network.Others) != 2 {
		t.Errorf("the network itself has %d other tokens now, want 2", len(network.Others))
	}
}
