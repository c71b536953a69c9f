package e2e

import (
	"fmt"
	"html"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// evmNetwork is a network as the registry has it (core/money/evm_networks.go), with the node that stands for it.
type evmNetwork struct {
	code     string
	chainID  int
	depth    int    // blocks until a payment of up to 100 USD is final
	contract string // of USDT; "" where there is none
	decimals int    // of USDT
	ether    bool   // its own coin is ETH
	coin     string // its own coin where that is another one

	node *evm.Node
	paid int64 // the height of the block with the first payments
}

func listEVMNetworks() []*evmNetwork {
	return []*evmNetwork{
		{code: "ethereum", chainID: 1, depth: 12, contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7", decimals: 6,
			ether: true},
		{code: "bsc", chainID: 56, depth: 40, contract: "0x55d398326f99059fF775485246999027B3197955", decimals: 18,
			coin: "BNB"},
		{code: "polygon", chainID: 137, depth: 64, contract: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", decimals: 6,
			coin: "POL"},
		{code: "arbitrum", chainID: 42161, depth: 120, contract: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9",
			decimals: 6, ether: true},
		{code: "celo", chainID: 42220, depth: 60, contract: "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", decimals: 6,
			coin: "CELO"},
		{code: "base", chainID: 8453, depth: 30, ether: true},
	}
}

// name is what transfers and lists call the network.
func (n *evmNetwork) name() string { return n.code + "-mainnet" }

// tokenName names the contract that stands for USDT.
func (n *evmNetwork) tokenName() string {
	if n.decimals == 18 {
		return "Pegged"
	}
	return "Tether"
}

// startNode starts the network's node, with USDT at the registry's address, and returns its URL. The first block of a
// new network is another one than the registry's, so its provider lacks it, as many lack old blocks. A first start
// reads some blocks below the last one.
func (n *evmNetwork) startNode(t *testing.T) (address string) {
	t.Helper()
	n.node = evm.StartAnvilAs(t, n.chainID)
	if n.contract != "" {
		plenty := new(big.Int).Exp(big.NewInt(10), big.NewInt(27), nil)
		n.node.PlaceContract(n.tokenName(), n.contract, stranger+1, plenty)
	}
	n.node.Mine(30)
	provider := evm.NewProxy(t, n.node)
	provider.SpoilAnswers(func(ask evm.Ask, method string, params []any) any {
		if method == "eth_getBlockByNumber" && params[0] == "0x0" {
			return nil
		}
		return ask(method, params...)
	})
	return provider.URL() + "?stream=ws://" + n.node.WS
}

// stranger is the account of somebody who isn't the customer.
const stranger = 1

// Amounts are counted in steps: the millionth of a USDT and the hundred-millionth of an ether, which quotes end in.
var stepDecimals = map[string]int{inUSDT: 6, inEther: 8}

// toUnits converts steps to the smallest unit that a coin has on the network.
func (n *evmNetwork) toUnits(method string, steps int64) *big.Int {
	decimals := 18 // of ether
	if method == inUSDT {
		decimals = n.decimals
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals-stepDecimals[method])), nil)
	return unit.Mul(unit, big.NewInt(steps))
}

// sendCoin sends so many steps of a coin from an account.
func (n *evmNetwork) sendCoin(account int, method, to string, steps int64) (hash string) {
	amount := n.toUnits(method, steps)
	if method == inEther {
		return n.node.SendTransaction(evm.Tx{From: account, To: to, Value: amount})
	}
	return n.node.SendTransaction(evm.Tx{From: account, To: n.contract,
		Data: evm.EncodeCall(n.tokenName(), "transfer(address,uint256)", to, amount)})
}

// formatSteps writes steps in whole coins without zeros at the end.
func formatSteps(method string, steps int64) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(stepDecimals[method])), nil)
	return trimAmount(new(big.Rat).SetFrac(big.NewInt(steps), unit).FloatString(stepDecimals[method]))
}

// trimAmount drops the zeros at the end of an amount.
func trimAmount(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// takenCoin is a coin that is paid with on a network.
type takenCoin struct {
	*evmNetwork
	method string
	other  *evmNetwork // another network of the coin
}

// networkPayment is a payment and what is to come of it.
type networkPayment struct {
	takenCoin
	intent
	kind    string // what happens to it
	address string
	due     int64 // steps

	sent           int64 // steps that count
	counting       []string
	hash           string
	status, reason string
	network        string // the name of the one where it ends
}

func (p *networkPayment) String() string { return p.kind + " " + p.method + " on " + p.code }

// row is what is wanted of the payment.
func (p *networkPayment) row() string {
	return fmt.Sprintf("%s %q, %s on %s by %s: %v", p.status, p.reason, formatSteps(p.method, p.sent), p.network,
		p.hash, p.counting)
}

// pay has the customer pay so many steps, which count.
func (p *networkPayment) pay(steps int64) {
	p.hash = p.sendCoin(0, p.method, p.address, steps)
	p.sent += steps
	p.counting = append(p.counting, describeTransfer(p.hash, p.name(), formatSteps(p.method, steps)))
}

func describeTransfer(hash, network, amount string) string {
	return network + " " + hash + " " + trimAmount(amount)
}

// networksTill is an instance whose merchant receives live on six networks with one account key.
type networksTill struct {
	*till
	owner    *browserless
	networks []*evmNetwork
	coins    []takenCoin
	payments []*networkPayment
	lost     []string // rows that Unmatched must have
}

// serveRates answers as two sources of prices do: a dollar for a USDT and 2,500 for an ether.
func serveRates(t *testing.T) (sources string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/kraken") {
			fmt.Fprint(w, `{"error":[],"result":{"XETHZUSD":{"a":["2500","1","1"],"b":["2500","1","1"]},`+
				`"USDTZUSD":{"a":["0.999","1","1"],"b":["0.999","1","1"]}}}`)
			return
		}
		now := time.Now().UnixMilli()
		fmt.Fprintf(w, `{"code":"0","data":[{"instId":"ETH-USD","idxPx":"2500","ts":"%d"},`+
			`{"instId":"USDT-USD","idxPx":"1.001","ts":"%d"}]}`, now, now)
	}))
	t.Cleanup(server.Close)
	return "kraken=" + server.URL + "/kraken,okx=" + server.URL + "/okx"
}

// newNetworksTill starts nodes for networks, and an instance that follows them as the registry's own.
func newNetworksTill(t *testing.T, networks []*evmNetwork) *networksTill {
	t.Helper()
	i := harness.New(t, true)
	i.SetSetting("RATE_SOURCES", serveRates(t))
	i.SetSetting("TRUSTED_PROXIES", "127.0.0.1") // each customer has an address of their own
	x := &networksTill{till: &till{Instance: i, t: t}, networks: networks}
	first := map[string]*evmNetwork{}
	for _, n := range networks {
		i.SetSetting("LIVE_"+strings.ToUpper(n.code)+"_URL", n.startNode(t))
		for _, method := range []string{inUSDT, inEther} {
			if method == inUSDT && n.contract == "" || method == inEther && !n.ether {
				continue
			}
			if first[method] == nil {
				first[method] = n
			}
			x.coins = append(x.coins, takenCoin{n, method, first[method]})
		}
	}
	for k, c := range x.coins {
		if c.other == c.evmNetwork { // the first network of a coin has the second for its other one
			at := slices.IndexFunc(x.coins, func(o takenCoin) bool { return o.method == c.method && o.code != c.code })
			if at >= 0 {
				x.coins[k].other = x.coins[at].evmNetwork
			}
		}
	}
	i.Start()
	i.CreateBusiness()
	i.RunCommand("", "wallet", "use", "--business", i.Code, "--domain", "live", "--method", inEther, "--key", etherKey)
	var key struct{ Key string }
	i.DecodeOutput(i.RunCommand("", "key", "create", "--business", i.Code, "--domain", "live", "--name", "networks",
		"--json"), &key)
	i.Key = key.Key
	x.owner = signIn(t, i)
	x.owner.post("/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/methods"}})
	for _, method := range []string{inUSDT, inEther} {
		x.owner.post("/dashboard/methods/"+method, url.Values{"enabled": {"true"}})
	}
	harness.WaitFor(t, time.Minute, "live prices of USDT and ether in USD", func() bool {
		var all []rate
		i.SendRequest("GET", "/v1/rates?currency=USD", nil, 200).DecodeData(t, &all)
		return len(all) == 5 && all[1].Available && all[2].Available
	})
	for _, c := range x.coins {
		x.switchNetwork(c, true)
	}
	x.awaitTips()
	return x
}

// switchNetwork switches a network of a coin on or off.
func (x *networksTill) switchNetwork(c takenCoin, on bool) {
	x.owner.post("/dashboard/methods/"+c.method+"/networks/"+c.code, url.Values{"enabled": {fmt.Sprint(on)}})
}

// readApplied reads up to which block each network without a problem is applied.
func (x *networksTill) readApplied() map[string]int64 {
	x.t.Helper()
	var all []struct {
		Network, Problem string
		Applied          int64
	}
	x.DecodeOutput(x.RunCommand("", "chain", "status", "--json"), &all)
	applied := map[string]int64{}
	for _, one := range all {
		if one.Problem == "" {
			applied[one.Network] = one.Applied
		}
	}
	return applied
}

// awaitTips waits until every network is applied up to its last block.
func (x *networksTill) awaitTips() {
	x.t.Helper()
	var behind []string
	defer func() {
		if len(behind) > 0 {
			x.t.Logf("not at their tips: %v", behind)
		}
	}()
	harness.WaitFor(x.t, time.Minute, "all networks to be at their tips", func() bool {
		behind = nil
		applied := x.readApplied()
		for _, n := range x.networks {
			if tip := n.node.Height(); applied[n.name()] < tip {
				behind = append(behind, fmt.Sprintf("%s at %d of %d", n.name(), applied[n.name()], tip))
			}
		}
		return len(behind) == 0
	})
}

// order initiates a payment and opens its page. Every payment has another amount, so that money can't count for another
// one unnoticed. fixed names its network in the request; chosen ones are chosen on the page one after the other.
func (x *networksTill) order(c takenCoin, kind string, fixed *evmNetwork, chosen ...*evmNetwork) *networkPayment {
	x.t.Helper()
	p := &networkPayment{takenCoin: c, kind: kind, status: "successful", network: c.name()}
	request := harness.NewRequest(c.method)
	request["amount"] = 5 + len(x.payments)
	if fixed != nil {
		request["network"] = fixed.code
	}
	x.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(x.t, &p.intent)
	shown := x.open(p.URL)
	for _, n := range chosen {
		fixed, shown = n, x.chooseNetwork(p, n)
	}
	contract, chain, amount := "", "", ""
	if link := etherLink.FindStringSubmatch(shown); link != nil && c.method == inEther {
		p.address, chain, amount = link[2], link[3], link[4]
	} else if link := usdtLink.FindStringSubmatch(shown); link != nil && c.method == inUSDT {
		contract, chain, p.address, amount = link[2], link[3], link[4], link[5]
	}
	for _, n := range x.networks {
		if chain == itoa(int64(n.chainID)) && (fixed == nil || fixed == n) &&
			(c.method == inEther || strings.EqualFold(contract, n.contract)) {
			units, _ := new(big.Int).SetString(amount, 10)
			p.due = units.Div(units, n.toUnits(c.method, 1)).Int64()
			if n.toUnits(c.method, p.due).String() == amount {
				x.payments = append(x.payments, p)
				return p
			}
		}
	}
	x.t.Fatalf("%s: the page's link asks for %s at %q on chain %q, want another network or amount", p, amount, contract,
		chain)
	return nil
}

// chooseNetwork chooses a network on a payment's page, and returns the page.
func (x *networksTill) chooseNetwork(p *networkPayment, n *evmNetwork) string {
	x.t.Helper()
	request, err := http.NewRequest("POST", p.URL+"/network",
		strings.NewReader(url.Values{"network": {n.code}}.Encode()))
	if err != nil {
		x.t.Fatal(err)
	}
	request.Header = x.opening(p.URL).Header
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := visitor.Do(request)
	if err != nil {
		x.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		x.t.Fatalf("%s chooses %s: %d %v %s", p, n.code, answer.StatusCode, err, text)
	}
	return html.UnescapeString(string(text))
}

// mineAll mines blocks on every network.
func (x *networksTill) mineAll(blocks int) {
	for _, n := range x.networks {
		n.node.Mine(blocks)
	}
}

// losing adds a row that Unmatched must have: so many steps that came on a network to a payment's address.
func (x *networksTill) losing(reason string, p *networkPayment, hash string, steps int64) {
	x.lost = append(x.lost, fmt.Sprintf("%s %s %s of %s", reason, describeTransfer(hash, p.name(),
		formatSteps(p.method, steps)), coinNames[p.method], p.Reference))
}

var coinNames = map[string]string{inUSDT: "USDT", inEther: "ETH"}

// listUnmatched lists what the API has under Unmatched.
func (x *networksTill) listUnmatched() (rows []string) {
	x.t.Helper()
	var list []struct {
		Reason, Network, Hash, Amount, Asset, Reference string
	}
	x.SendRequest("GET", "/v1/unmatched?limit=100", nil, 200).DecodeData(x.t, &list)
	for _, one := range list {
		rows = append(rows, fmt.Sprintf("%s %s %s of %s", one.Reason, describeTransfer(one.Hash, one.Network,
			one.Amount), one.Asset, one.Reference))
	}
	slices.Sort(rows)
	return rows
}

// awaitUnmatched waits until Unmatched has exactly what it must have.
func (x *networksTill) awaitUnmatched(what string) {
	x.t.Helper()
	slices.Sort(x.lost)
	var got []string
	defer func() {
		if !slices.Equal(got, x.lost) {
			x.t.Logf("Unmatched has:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(x.lost, "\n"))
		}
	}()
	harness.WaitFor(x.t, time.Minute, what+" under Unmatched", func() bool {
		got = x.listUnmatched()
		return slices.Equal(got, x.lost)
	})
}

// readRow reads a payment as networkPayment.row writes it.
func (x *networksTill) readRow(reference string) string {
	x.t.Helper()
	var r struct {
		Status, Reason string
		Reversed       bool
		Transaction    struct {
			Network string
			Amount  string `json:"amount_paid_in_crypto"`
			Hash    string `json:"crypto_transaction_hash"`
		}
		Transfers []struct {
			Hash, Network, Amount string
			Counts                bool
		}
	}
	x.SendRequest("GET", "/v1/payment/verify/"+reference, nil, 200).DecodeData(x.t, &r)
	var counting []string
	for _, one := range r.Transfers {
		if one.Counts {
			counting = append(counting, describeTransfer(one.Hash, one.Network, one.Amount))
		}
	}
	if r.Reversed {
		r.Status = "reversed " + r.Status
	}
	return fmt.Sprintf("%s %q, %s on %s by %s: %v", r.Status, r.Reason, trimAmount(r.Transaction.Amount),
		r.Transaction.Network, r.Transaction.Hash, counting)
}

// awaitPayments waits until some payments have a status and reason.
func (x *networksTill) awaitPayments(list []*networkPayment, status, reason string) {
	x.t.Helper()
	for _, p := range list {
		x.reach(order{intent: p.intent}, status, reason)
	}
}

// compareTotals compares every payment of the business with what is wanted of it.
func (x *networksTill) compareTotals() {
	x.t.Helper()
	want := map[string]*networkPayment{}
	for _, p := range x.payments {
		want[p.Reference] = p
	}
	var all []intent
	x.SendRequest("GET", "/v1/payments?limit=100", nil, 200).DecodeData(x.t, &all)
	wrong, missed := 0, 0
	for _, one := range all {
		p := want[one.Reference]
		if p == nil {
			x.t.Errorf("payment %s wasn't made by the test", one.Reference)
			continue
		}
		delete(want, one.Reference)
		if got := x.readRow(one.Reference); got != p.row() {
			x.t.Errorf("%s %s is %s\nwant %s", p, p.Reference, got, p.row())
			if strings.Contains(got, ": []") {
				missed++
			} else {
				wrong++
			}
		}
	}
	for _, p := range want {
		x.t.Errorf("%s isn't listed", p)
	}
	x.t.Logf("%d payments on %d networks, %d transfers under Unmatched: %d credited wrongly, %d missed", len(all),
		len(x.networks), len(x.lost), wrong, missed)
}
