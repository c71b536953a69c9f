package dashboard_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/servertest"
)

const (
	usdtAt    = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	collectAt = etherAt + "/collect"
	treasury  = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
	gasPayer  = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
)

// gwei is a price of gas.
const gwei = 1_000_000_000

// collectorNode stands for the node of a network: what it says is set by the test.
type collectorNode struct {
	held  map[string]wallet.Held
	terms chain.CollectTerms
	fails error
}

// hold answers what addresses hold.
func (n *collectorNode) hold(_ context.Context, addresses []string) ([]wallet.Held, money.Amount, error) {
	held := make([]wallet.Held, len(addresses))
	for i, address := range addresses {
		held[i] = n.held[address]
	}
	return held, money.Units(1000 * gwei), nil
}

func (n *collectorNode) FetchCollectTerms(context.Context, chain.CollectQuery) (chain.CollectTerms, error) {
	return n.terms, n.fails
}

func (n *collectorNode) FetchSenders(_ context.Context, orders []chain.Order) ([]chain.Sender, error) {
	return make([]chain.Sender, len(orders)), n.fails
}

func (n *collectorNode) BuildNumbered(o chain.Order, t chain.NumberedTerms) (chain.NumberedTransaction, error) {
	return chain.NumberedTransaction{JSON: fmt.Appendf(nil, `{"nonce":"%d"}`, t.Nonce), Raw: "0x02" + o.To.Address[2:]}, nil
}

func (n *collectorNode) IsContract(context.Context, string) (bool, error) {
	return n.terms.Payer.Contract, nil
}

func (n *collectorNode) BuildBatch(orders []chain.Order, _ time.Time) (chain.SigningFile, error) {
	return chain.SigningFile{Content: fmt.Appendf(nil, `{"transactions":%d}`, len(orders))}, nil
}

// collectWorld is a business with three addresses that were given out, on Ethereum and BNB Smart Chain.
type collectWorld struct {
	*servertest.Server
	sc         scope.Scope
	list       []string
	ether, bnb *collectorNode
}

// newCollectWorld has 25 USDT at the first address, half an ether at the second, and dust at the third, on Ethereum;
// and 7 USDT at the first on BNB Smart Chain. A transaction costs some 0.002 ETH.
func newCollectWorld(t *testing.T, s *servertest.Server) collectWorld {
	t.Helper()
	s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
	w := collectWorld{Server: s, sc: s.CreateBusiness("Ama's Shop", ama), list: []string{
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
		"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"}}
	b := s.SignIn(ama)
	leads(t, b.PostFrom(etherAt, etherAt, url.Values{"key": {strings.Join(w.list, "\n")}, "password": {servertest.Password}}), etherAt)
	for range w.list {
		_, err := s.Payments.OpenByReference(t.Context(), w.sc, s.InitiatePayment(w.sc, servertest.NewRequest(money.CryptoTether)).Reference)
		s.FailOn(err)
	}
	terms := chain.CollectTerms{MaxFee: money.Units(20 * gwei), Priority: money.Units(gwei), TokenGas: 65_000,
		NativeGas: 21_000, FundingGas: 21_000, Payer: chain.GasPayer{Nonce: 4, Held: money.Units(10_000_000 * gwei)}}
	w.ether = &collectorNode{terms: terms, held: map[string]wallet.Held{
		w.list[0]: {Token: money.Units(25_000_000)}, w.list[1]: {Native: money.Units(500_000_000 * gwei)},
		w.list[2]: {Token: money.Units(10_000)}}}
	w.bnb = &collectorNode{terms: terms, held: map[string]wallet.Held{w.list[0]: {Token: money.Units(7_000_000)}}}
	s.Wallets.Holders = map[scope.Domain]map[money.Chain]wallet.Holder{scope.Test: {money.Ethereum: w.ether.hold, money.BSC: w.bnb.hold}}
	s.Collecting.Networks[scope.Test] = []collect.Network{
		{Code: money.Ethereum, Name: "ethereum-sepolia", Native: money.ETH, Token: usdtAt, Collector: w.ether},
		{Code: money.BSC, Name: "bsc-testnet", Native: "BNB", Token: "0x55d398326f99059fF775485246999027B3197955", Collector: w.bnb}}
	s.Collecting.Home = func(string) string { return "ethereum-sepolia" }
	return w
}

// ask is the address of a plan.
func ask(network, to, gas string) string {
	return collectAt + "?" + url.Values{"network": {network}, "address": {to}, "gas": {gas}}.Encode()
}

// TestCollection shows a plan, and downloads its files, on two networks; no business sees another's addresses.
func TestCollection(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		w := newCollectWorld(t, s)
		b := s.SignIn(ama)
		sheet := b.Get(tetherAt + "/sweep")
		expect(t, sheet, 200, "Collect to one address", tetherAt+"/collect", `name="address"`, tetherAt+"/sweep?network=bsc", "BNB Smart Chain")
		expect(t, b.Get(tetherAt+"/sweep?network=bsc"), 200, "7 USDT", "0 BNB", "1 address needs BNB first", "Sending USDT costs a fee in BNB")
		expect(t, b.Get(tetherAt+"/sweep.csv?network=bsc"), 200, "BNB missing for the fee", w.list[0]+",1,", ",7.000000,")
		expect(t, b.Get(tetherAt+"/sweep?network=tron"), 404)

		plan := b.Get(ask("ethereum", strings.ToLower(treasury), gasPayer))
		expect(t, plan, 200, treasury[:21], treasury[21:], gasPayer, "25 USDT and 0.49958 ETH", "3 transactions", "1-gas.json", "2-usdt.json", "3-eth.json",
			"0.0013 ETH", "0.00214 ETH", "What stays where it is", "0.01 USDT", "Moving it costs more than it is worth", "0.00172 ETH")
		lacks(t, plan, "safe.json", "is a contract", ". Add 0")
		without := b.Get(ask("ethereum", treasury, ""))
		expect(t, without, 200, "1 address lacks gas for its USDT", "1 transaction", "0.49958 ETH")
		lacks(t, without, "1-gas.json", "2-usdt.json")

		form := url.Values{"network": {"ethereum"}, "address": {treasury}, "gas": {gasPayer}}
		files := openArchive(t, b.PostFrom(etherAt+"/sweep", collectAt, form))
		if len(files) != 4 {
			t.Errorf("the archive has %d files, want the README and three steps", len(files))
		}
		for name, want := range map[string]string{"1-gas.json": gasPayer + "||" + w.list[0] + "|ETH|0.00130000|4",
			"2-usdt.json": w.list[0] + "|1|" + treasury + "|USDT|25.000000|0", "3-eth.json": w.list[1] + "|2|" + treasury + "|ETH|0.49958000|0"} {
			if got := describeFile(t, files[name]); got != want {
				t.Errorf("%s holds %s, want %s", name, got, want)
			}
		}
		for _, want := range []string{treasury, "2. 2-usdt.json: 1 transaction, 25 USDT. Fees at most 0.0013 ETH.", "HDNodeWallet", w.list[2] + " (3): 0.01 USDT", "Ama's Shop"} {
			if !strings.Contains(files["README.txt"], want) {
				t.Errorf("README.txt lacks %q: %s", want, files["README.txt"])
			}
		}
		again := openArchive(t, b.PostFrom(etherAt+"/sweep", collectAt, form))
		if fmt.Sprint(again) != fmt.Sprint(files) {
			t.Error("the same plan gives other files")
		}

		bnb := b.Get(ask("bsc", treasury, gasPayer))
		expect(t, bnb, 200, "7 USDT", "No price of BNB is known now", "0.0013 BNB")
		lacks(t, bnb, "3-bnb.json")

		s.CreateBusiness("Another Shop", "kofi@shop.example")
		other := s.SignIn("kofi@shop.example").Get(ask("ethereum", treasury, gasPayer))
		expect(t, other, 200, "There is nothing to move")
		lacks(t, other, w.list[0], "25 USDT")
	})
}

// TestCollectionWithASafe gives a Safe that pays for gas its own file, and warns of a destination that is a contract.
func TestCollectionWithASafe(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		w := newCollectWorld(t, s)
		b := s.SignIn(ama)
		form := url.Values{"network": {"ethereum"}, "address": {treasury}, "gas": {gasPayer}, "safe": {"true"}}
		expect(t, b.Get(collectAt+"?"+form.Encode()), 200, "1-gas.json", "1-gas-safe.json", "Use one of the two files")
		files := openArchive(t, b.PostFrom(etherAt+"/sweep", collectAt, form))
		if files["1-gas-safe.json"] != `{"transactions":1}` || files["1-gas.json"] == "" {
			t.Errorf("the archive has %v, want the first step in both forms", files)
		}
		w.ether.terms.Payer.Contract, w.ether.terms.Contract = true, true
		w.ether.terms.Payer.Held = money.Units(300_000 * gwei)
		form.Del("safe")
		shown := b.Get(collectAt + "?" + form.Encode())
		expect(t, shown, 200, "1-gas-safe.json", "Transaction Builder", "The destination is a contract on Ethereum sepolia",
			"pays for gas has 0.0003 ETH. Add 0.001 ETH", "and what the Safe’s own transaction costs")
		lacks(t, shown, "1-gas.json")
		files = openArchive(t, b.PostFrom(etherAt+"/sweep", collectAt, form))
		if _, has := files["1-gas.json"]; has || files["1-gas-safe.json"] == "" {
			t.Errorf("the archive of a Safe has %v, want no file for its key", files)
		}
	})
}

// TestCollectionIsRefused checks addresses, networks, nodes and roles.
func TestCollectionIsRefused(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		w := newCollectWorld(t, s)
		b := s.SignIn(ama)
		for _, c := range []struct{ network, to, gas, want string }{
			{"ethereum", treasury[:41], "", "Is not an address of Ethereum"},
			{"ethereum", strings.Replace(treasury, "b7AC", "b7aC", 1), "", "capitals of its checksum"},
			{"ethereum", "0x" + strings.Repeat("0", 40), "", "zero address is lost"},
			{"ethereum", strings.ToLower(usdtAt), "", "own contract"},
			{"ethereum", w.list[0], "", "one of your own addresses"},
			{"bsc", w.list[0], "", "one of your own addresses"},
			{"ethereum", treasury, gasPayer[:41], "Is not an address of Ethereum"},
			{"ethereum", treasury, w.list[1], "one of your own addresses"},
			{"ethereum", treasury, usdtAt, "own contract"},
			{"tron", treasury, "", "not a network that is followed here"},
		} {
			expect(t, b.Get(ask(c.network, c.to, c.gas)), 422, c.want, `name="address"`)
			form := url.Values{"network": {c.network}, "address": {c.to}, "gas": {c.gas}}
			expect(t, b.PostFrom(etherAt+"/sweep", collectAt, form), 422, c.want)
		}
		leads(t, b.Get(collectAt), etherAt+"/sweep")
		leads(t, b.Get(walletAt+"/collect?address="+treasury), walletAt)
		form := url.Values{"network": {"ethereum"}, "address": {treasury}}
		w.ether.fails = chain.Problem("The node can't be reached.")
		expect(t, b.Get(ask("ethereum", treasury, "")), 503, "can't be looked up now", "The node can't be reached.", treasury)
		expect(t, b.PostFrom(etherAt+"/sweep", collectAt, form), 503, "can't be looked up now")
		w.ether.fails = nil
		w.ether.held = nil
		expect(t, b.PostFrom(etherAt+"/sweep", collectAt, form), 409, "There is nothing to move")
		s.Collecting.Networks[scope.Test] = nil
		expect(t, b.Get(ask("ethereum", treasury, "")), 409, "No node of Ethereum is configured")

		s.SetRole(w.sc, scope.Finance)
		s.Collecting.Networks[scope.Test] = []collect.Network{{Code: money.Ethereum, Name: "ethereum-sepolia", Native: money.ETH, Token: usdtAt, Collector: w.ether}}
		w.ether.held = map[string]wallet.Held{w.list[0]: {Token: money.Units(25_000_000)}}
		clerk := s.SignIn(ama)
		sheet := clerk.Get(etherAt + "/sweep")
		expect(t, sheet, 200, "25 USDT")
		lacks(t, sheet, "Collect to one address")
		expect(t, clerk.Get(ask("ethereum", treasury, "")), 403)
	})
}

// openArchive reads the files of an answer.
func openArchive(t *testing.T, a servertest.Answer) map[string]string {
	t.Helper()
	expect(t, a, 200)
	if disposition := a.Header.Get("Content-Disposition"); !strings.Contains(disposition, "ama-s-shop-collect-ethereum-sepolia-2026-03-01.zip") &&
		!strings.Contains(disposition, "amas-shop-collect-ethereum-sepolia-2026-03-01.zip") {
		t.Errorf("the file is sent as %q", disposition)
	}
	archive, err := zip.NewReader(bytes.NewReader([]byte(a.Body)), int64(len(a.Body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// describeFile writes the only transaction of a file down.
func describeFile(t *testing.T, text string) string {
	t.Helper()
	var list []struct {
		From, Path, To, Coin, Amount, Raw string
		Transaction                       struct{ Nonce string }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 || list[0].Raw != "0x02"+list[0].To[2:] {
		t.Errorf("the file %s has no transaction: %v", text, err)
		return ""
	}
	one := list[0]
	return strings.Join([]string{one.From, one.Path, one.To, one.Coin, one.Amount, one.Transaction.Nonce}, "|")
}
