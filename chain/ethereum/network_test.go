package ethereum

import (
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// registryParams returns the main networks of the registry, without what no fake chain can have: their first
// block and the present time.
func registryParams(t testing.TB) (all []params.Params) {
	for _, n := range money.EVMNetworks() {
		if n.Test {
			continue
		}
		p, err := params.Lookup(n.Chain, n.Name, "")
		if err != nil {
			t.Fatalf("Lookup(%s): %v", n.Network(), err)
		}
		p.Genesis, p.Stale = "", 0
		all = append(all, p)
	}
	return all
}

// newRegistryNode starts a fake node of a network of the registry.
func newRegistryNode(t testing.TB, p params.Params) (*fakeChain, *fakeNode) {
	c := newFakeChain(t)
	c.params = p
	n := newFakeNode(t, c)
	n.id = p.ChainID
	n.views = nil
	if p.HasToken() {
		n.views = map[string]string{decimalsCall: fmt.Sprintf("0x%064x", p.TokenDecimals),
			symbolCall: encodeText(p.TokenSymbols[0])}
	}
	return c, n
}

// outputOf returns an output of an amount in the contract's smallest unit.
func outputOf(address string, amount *big.Int) chain.Output {
	return chain.Output{Destination: chain.Destination{Address: address}, Amount: money.FromBig(amount)}
}

// TestEveryNetworkIsRead checks for each main network of the registry which transfers are found, and in which
// amounts: USDT in millionths, whatever decimals its contract has; ether where it pays the fees; another
// coin of the network and other tokens by name, because they pay nothing.
func TestEveryNetworkIsRead(t *testing.T) {
	t.Parallel()
	for _, p := range registryParams(t) {
		for name, limit := range map[string]func(*fakeNode){"receipts of blocks": func(*fakeNode) {},
			"single receipts": limitMethods} {
			t.Run(string(p.Network())+" "+name, func(t *testing.T) {
				t.Parallel()
				c, n := newRegistryNode(t, p)
				limit(n)
				b := newFixture(t, c, openNetwork(t, p, slog.New(slog.NewTextHandler(t.Output(), nil)), n.URL))
				b.followToTip()
				to := b.watchNewAddress()
				native := c.sendTx(&fakeTx{To: mustParseAccount(t, to), Value: "0x16345785d8a0000"}) // 0.1
				other := p.Others[0]
				data := big.NewInt(1_000_000).FillBytes(make([]byte, 32))
				third := c.sendTx(&fakeTx{To: (*account)(&other.Contract), Logs: []fakeLog{tokenLog(account(other.Contract),
					c.newAccount(),
					*mustParseAccount(t, to), data)}})
				usdt := ""
				if p.HasToken() {
					whole := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p.TokenDecimals)), nil)
					half := new(big.Int).Div(whole, big.NewInt(2))
					usdt = c.sendTokens(outputOf(to, whole.Add(whole, half)))
				}
				c.mineBlocks(1)
				b.followToTip()
				all := b.ledger.Transfers()
				asset, amount := "ETH", "100000000000000000"
				if p.Native != money.ETH {
					asset, amount = "0.1 "+string(p.Native), "0"
				}
				if rows := all[native]; len(rows) != 1 || rows[0].Asset != asset || rows[0].Amount.String() != amount {
					t.Errorf("0.1 of the network's coin = %+v, want %s of %s", rows, amount, asset)
				}
				if rows := all[third]; len(rows) != 1 || !strings.HasSuffix(rows[0].Asset, " "+other.Name) ||
					rows[0].Amount.Sign() != 0 {
					t.Errorf("%s = %+v, want one that pays nothing", other.Name, rows)
				}
				if rows := all[usdt]; p.HasToken() && (len(rows) != 1 || rows[0].Asset != "USDT" ||
					rows[0].Amount.String() != "1500000") {
					t.Errorf("1.5 USDT = %+v, want 1500000 millionths", rows)
				}
				if p.HasToken() != (len(all) == 3) {
					t.Errorf("%d transactions are recorded, want 3 with USDT and 2 without", len(all))
				}
			})
		}
	}
}

// TestLessThanAMillionthIsNothing checks that USDT below its smallest unit here makes no transfer.
func TestLessThanAMillionthIsNothing(t *testing.T) {
	t.Parallel()
	p, err := params.Lookup(money.BSC, money.MainNetwork, "")
	if err != nil {
		t.Fatal(err)
	}
	p.Genesis, p.Stale = "", 0
	c, n := newRegistryNode(t, p)
	b := newFixture(t, c, openNetwork(t, p, nil, n.URL))
	b.followToTip()
	to := b.watchNewAddress()
	dust := c.sendTokens(outputOf(to, big.NewInt(999_999_999_999)))
	least := c.sendTokens(outputOf(to, big.NewInt(1_000_000_000_000)))
	c.mineBlocks(1)
	b.followToTip()
	all := b.ledger.Transfers()
	if len(all[dust]) != 0 || len(all[least]) != 1 || all[least][0].Amount.String() != "1" {
		t.Errorf("transfers %+v, want one millionth by %s and nothing by %s", all, least, dust)
	}
}

// encodeText returns what a contract answers for a text, as a string of the ABI.
func encodeText(text string) string {
	size := (len(text) + 31) / 32 * 32
	return fmt.Sprintf("0x%064x%064x%x", 32, len(text), append([]byte(text), make([]byte, size-len(text))...))
}

// TestNodeOfAnotherNetworkIsRefused checks for each main network of the registry that a node with another
// chain id, first block, decimals or symbol is refused, with what it said.
func TestNodeOfAnotherNetworkIsRefused(t *testing.T) {
	t.Parallel()
	for _, p := range registryParams(t) {
		faults := map[string]nodeFault{
			"chain id": {words: fmt.Sprintf("follows another network than %s: its chain id is 31337, not %d",
				p.Network(), p.ChainID),
				set: func(n *fakeNode) { n.id = 31337 }},
			"first block": {words: "its first block is another one", set: func(n *fakeNode) {
				n.chain.params.Genesis = "0x" + strings.Repeat("ab", 32)
			}},
		}
		if p.HasToken() {
			view := func(call, answer string) func(*fakeNode) { return func(n *fakeNode) { n.views[call] = answer } }
			faults["decimals"] = nodeFault{words: fmt.Sprintf("other decimals than %d", p.TokenDecimals),
				set: view(decimalsCall, fmt.Sprintf("0x%064x", 24-p.TokenDecimals))}
			faults["symbol"] = nodeFault{words: fmt.Sprintf("the contract of USDT on %s calls itself \"USDC\"", p.Network()),
				set: view(symbolCall, encodeText("USDC"))}
			faults["long symbol"] = nodeFault{words: "calls itself \"USDTUSDT",
				set: view(symbolCall, encodeText(strings.Repeat("USDT", 50)))}
			faults["no symbol"] = nodeFault{words: "isn't USDT's", set: func(n *fakeNode) { delete(n.views, symbolCall) }}
			faults["cut symbol"] = nodeFault{words: "isn't USDT's", set: view(symbolCall, encodeText("USDT")[:2+64+64+6])}
			faults["longer than any"] = nodeFault{words: "isn't USDT's", set: view(symbolCall,
				"0x"+strings.Repeat("0", 62)+"20"+strings.Repeat("f", 64))}
			faults["no text"] = nodeFault{words: "isn't USDT's", set: view(symbolCall, "0x")}
		}
		for name, f := range faults {
			t.Run(string(p.Network())+" "+name, func(t *testing.T) {
				t.Parallel()
				c, n := newRegistryNode(t, p)
				f.set(n)
				newFixture(t, c, openNetwork(t, c.params, slog.New(slog.NewTextHandler(t.Output(), nil)),
					n.URL)).expectStopped(f.words)
			})
		}
	}
}

// TestNamesOfUSDTAreAccepted: Tether has renamed some of its contracts, and old tokens answer in 32 bytes.
func TestNamesOfUSDTAreAccepted(t *testing.T) {
	t.Parallel()
	p := registryParams(t)[0]
	for _, answer := range []string{encodeText("USDT"), encodeText("USD₮"), encodeText("USDT0"), encodeText("USD₮0"),
		fmt.Sprintf("0x%x", append([]byte("USDT"), make([]byte, 28)...))} {
		c, n := newRegistryNode(t, p)
		n.views[symbolCall] = answer
		newFixture(t, c, openNetwork(t, p, nil, n.URL)).followToTip()
	}
}

// TestCallsInTheDocs checks that docs/configuration.md says for each main network how many calls a node gets.
func TestCallsInTheDocs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range money.EVMNetworks() {
		p, _ := params.Find(n.Chain, n.Name)
		if p.Test {
			continue
		}
		source := openNetwork(t, p, nil, "http://node.example")
		idle, awaited := source.CallsADay(p.Interval, 90*time.Second)
		row := fmt.Sprintf("| %s | %s | %s |\n", n.Label, formatHundreds(idle), formatHundreds(awaited))
		if !strings.Contains(string(docs), row) {
			t.Errorf("docs/configuration.md lacks the row %q", row)
		}
	}
}

// formatHundreds rounds up to hundreds and groups the digits.
func formatHundreds(n int64) string {
	n = (n + 99) / 100 * 100
	if n >= 1_000_000 {
		return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
