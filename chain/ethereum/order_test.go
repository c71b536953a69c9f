package ethereum

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/ethereum/signing"
	"cointill/core/money"
)

const (
	payer = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	payee = "0x2444374e5963746b7AC424F7C0EF1f6030F32507"
	// oracle says what a transaction takes besides its gas.
	oracle = "0x420000000000000000000000000000000000000F"

	oneGwei = 1_000_000_000 // wei
)

// orderState is what a node says about the account that pays.
type orderState struct {
	latest, pending      any // nonces
	ether, tokens        any
	baseFee, tip         any
	estimate, code, sent any
	etherGas             any  // the estimate for ether
	other                bool // the code of the account that pays
	l1Fee                any  // what is taken besides the gas
}

// richState is an account that can pay: one ether, 100 USDT, at 10 gwei and a tip of 2 gwei.
func richState() orderState {
	return orderState{latest: "0x5", pending: "0x7", ether: "0xde0b6b3a7640000",
		tokens: fmt.Sprintf("0x%064x", 100_000_000), baseFee: "0x2540be400", tip: "0x77359400",
		estimate: "0xc350", etherGas: "0x5208", code: "0x"}
}

// openOrderSource makes a source whose node says this, and returns the node, too.
func (s *orderState) openOrderSource(t *testing.T) (*Source, *fakeNode) {
	n := newFakeNode(t, newFakeChain(t))
	n.script = s.answer
	n.tamper = func(method string, result any) any {
		if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" && s.baseFee != nil {
			block["baseFeePerGas"] = s.baseFee
		}
		return result
	}
	source := n.openSource(t)
	source.nodes.CheckAll(t.Context())
	return source, n
}

// answer returns the result of a question about an order; nil for others.
func (s *orderState) answer(q rpc.Request) any {
	token := testParams().Token.String()
	switch q.Method {
	case "eth_getTransactionCount":
		if q.Params[0] != payer {
			return rpc.Error{Code: -32000, Message: "another account"}
		}
		return map[any]any{"latest": s.latest, "pending": s.pending}[q.Params[1]]
	case "eth_getBalance":
		if q.Params[0] != payer || q.Params[1] != "latest" {
			return rpc.Error{Code: -32000, Message: "another account"}
		}
		return s.ether
	case "eth_maxPriorityFeePerGas":
		return s.tip
	case "eth_getCode":
		if s.other == (q.Params[0] == payee) {
			return "0x"
		}
		return s.code
	case "eth_call":
		call := q.Params[0].(map[string]any)
		if call["data"] == "0x70a08231000000000000000000000000"+strings.ToLower(payer[2:]) && call["to"] == token {
			return s.tokens
		}
		if call["data"] == fmt.Sprintf("0xf1c7a58b%064x", 160) && call["to"] == oracle && s.l1Fee != nil {
			return s.l1Fee
		}
	case "eth_estimateGas":
		call := q.Params[0].(map[string]any)
		if call["from"] == payer && call["to"] == payee && len(call) == 2 {
			return s.etherGas
		}
		if call["from"] != payer || call["to"] != token || call["data"] != "0xa9059cbb000000000000000000000000"+
			strings.ToLower(payee[2:])+fmt.Sprintf("%064x", 25_000_000) {
			return rpc.Error{Code: 3, Message: "execution reverted: another call"}
		}
		return s.estimate
	case "eth_sendRawTransaction":
		return s.sent
	}
	return nil
}

// sampleOrder returns an order of half an ether, or of 25 USDT.
func sampleOrder(coin money.Coin) chain.Order {
	o := chain.Order{From: payer, To: chain.Destination{Address: payee}, Asset: string(coin),
		Amount: money.Units(25_000_000)}
	if coin == money.ETH {
		o.Amount = money.Units(oneGwei/2).MulDiv(oneGwei, 1)
	}
	return o
}

// TestTermsOfOrders checks number, gas and fees of the next transaction.
func TestTermsOfOrders(t *testing.T) {
	t.Parallel()
	earlier := func(nonce int) string {
		return fmt.Sprintf(`{"nonce":%d,"gas":21000,"max_fee_per_gas":"1","max_priority_fee_per_gas":"1"}`, nonce)
	}
	for _, c := range []struct {
		name    string
		coin    money.Coin
		earlier string
		change  func(*orderState)
		want    string // nonce, gas, fee and tip
	}{
		{"ether", money.ETH, "", func(*orderState) {}, "7 21000 22000000000 2000000000"},
		{"tokens use as much gas as estimated and 30 percent more", money.USDT, "", func(*orderState) {},
			"7 65000 22000000000 2000000000"},
		{"the number of an earlier transaction that waits", money.ETH, earlier(6), func(*orderState) {},
			"6 21000 22000000000 2000000000"},
		{"the number of an earlier transaction that is next", money.ETH, earlier(5), func(*orderState) {},
			"5 21000 22000000000 2000000000"},
		{"the number of an earlier transaction that nothing waits for", money.ETH, earlier(9), func(*orderState) {},
			"9 21000 22000000000 2000000000"},
		{"a node that shows no waiting transactions", money.ETH, "", func(s *orderState) { s.pending = "0x3" },
			"5 21000 22000000000 2000000000"},
		{"a tip of zero", money.ETH, "", func(s *orderState) { s.tip = "0x0" }, "7 21000 20001000000 1000000"},
		{"a node without suggestions of a tip", money.ETH, "",
			func(s *orderState) { s.tip = rpc.Error{Code: rpc.CodeNoMethod, Message: "no such method"} }, "7 21000 20001000000 1000000"},
		{"a network without a base fee", money.ETH, "", func(s *orderState) { s.baseFee = nil },
			"7 21000 2000000000 2000000000"},
		{"an estimate above the bound", money.USDT, "", func(s *orderState) { s.estimate = "0xf4240" },
			"7 300000 22000000000 2000000000"},
		{"an estimate that is above the bound with its reserve", money.USDT, "",
			func(s *orderState) { s.estimate = fmt.Sprintf("0x%x", 230_770) }, "7 300000 22000000000 2000000000"},
		{"an estimate just below the bound", money.USDT, "",
			func(s *orderState) { s.estimate = fmt.Sprintf("0x%x", 230_769) }, "7 299999 22000000000 2000000000"},
		{"an estimate whose reserve exceeds 64 bits", money.USDT, "",
			func(s *orderState) { s.estimate = "0x1f81f81f81f81f9" }, "7 300000 22000000000 2000000000"},
		{"an estimate that no transaction has", money.USDT, "", func(s *orderState) { s.estimate = "0x1" },
			"7 21000 22000000000 2000000000"},
		{"tokens to a contract", money.USDT, "", func(s *orderState) { s.code = "0x60" },
			"7 65000 22000000000 2000000000"},
		{"ether from a contract, which has its own number and fee", money.ETH, "",
			func(s *orderState) { s.code, s.other = "0x60", true }, "0 0 0 0"},
		{"ether from a contract again", money.ETH, `{"nonce":0,"gas":0,"contract":true}`,
			func(s *orderState) { s.code, s.other = "0x60", true }, "0 0 0 0"},
		{"ether from an account that delegates to a contract", money.ETH, "",
			func(s *orderState) { s.code, s.other = "0xef0100"+strings.Repeat("11", 20), true },
			"7 21000 22000000000 2000000000"},
		{"ether on a network that takes more gas", money.ETH, "", func(s *orderState) { s.etherGas = "0x186a0" },
			"7 130000 22000000000 2000000000"},
		{"ether on a network that takes more gas than any", money.ETH, "",
			func(s *orderState) { s.etherGas, s.baseFee, s.tip = "0xffffffff", "0x0", "0xf4240" }, "7 5000000 1000000 1000000"},
		{"exactly the ether for amount and fee", money.ETH, "",
			func(s *orderState) { s.ether = fmt.Sprintf("0x%x", 500_000_000*oneGwei+21_000*22*oneGwei) },
			"7 21000 22000000000 2000000000"},
		{"exactly the tokens, and the ether for the fee", money.USDT, "", func(s *orderState) {
			s.tokens, s.ether = fmt.Sprintf("0x%064x", 25_000_000), fmt.Sprintf("0x%x", 65_000*22*oneGwei)
		}, "7 65000 22000000000 2000000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state := richState()
			c.change(&state)
			source, n := state.openOrderSource(t)
			source.params.CountsL1Gas = c.coin == money.ETH
			text, err := source.PrepareTerms(t.Context(), sampleOrder(c.coin), c.earlier)
			if asked := n.countRequests("eth_estimateGas"); asked != 1 {
				t.Errorf("%d estimates are asked for, want one", asked)
			}
			var got signing.Terms
			if err == nil {
				err = json.Unmarshal([]byte(text), &got)
			}
			if shown := fmt.Sprint(got.Nonce, got.Gas, got.MaxFee, got.Priority); err != nil || shown != c.want {
				t.Errorf("PrepareTerms = %s, %v, want %s", text, err, c.want)
			}
		})
	}
}

// TestEtherNeedsNoEstimateOnEthereum: its gas is known there.
func TestEtherNeedsNoEstimateOnEthereum(t *testing.T) {
	t.Parallel()
	state := richState()
	source, n := state.openOrderSource(t)
	source.params.CountsL1Gas = false
	text, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), "")
	if asked := n.countRequests("eth_estimateGas"); err != nil || asked != 0 || !strings.Contains(text, `"gas":21000`) {
		t.Errorf("PrepareTerms = %s, %v with %d estimates, want 21000 gas without any", text, err, asked)
	}
	state.etherGas = rpc.Error{Code: -32000, Message: "internal error"}
	source.params.CountsL1Gas = true
	if text, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), ""); err == nil {
		t.Errorf("without an estimate that is needed PrepareTerms = %s, want an error", text)
	}
}

// TestEtherRunsTheCodeOfDelegatingAccounts: such an account has a key, and its code takes gas on Ethereum, too.
func TestEtherRunsTheCodeOfDelegatingAccounts(t *testing.T) {
	t.Parallel()
	state := richState()
	state.code, state.etherGas = "0xef0100"+strings.Repeat("11", 20), "0x61a8"
	source, _ := state.openOrderSource(t)
	source.params.CountsL1Gas = false
	text, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), "")
	if err != nil || !strings.Contains(text, `"gas":32500`) {
		t.Errorf("PrepareTerms = %s, %v, want the estimate of 25000 gas and 30 percent more", text, err)
	}
	state.etherGas = rpc.Error{Code: 3, Message: "execution reverted"}
	text, err = source.PrepareTerms(t.Context(), sampleOrder(money.ETH), "")
	var refused chain.Refusal
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "refuses ether") {
		t.Errorf("where the code refuses ether PrepareTerms = %s, %v, want a refusal", text, err)
	}
}

// TestL1FeeIsCounted: on a network of the OP Stack, the wallet must have what a transaction takes besides its
// gas, and half as much more. A network without an answer to that makes no terms.
func TestL1FeeIsCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		coin money.Coin
		need int64 // in wei, without what is taken besides
	}{
		{money.ETH, 500_000_000*oneGwei + 21_000*22*oneGwei}, {money.USDT, 65_000 * 22 * oneGwei},
	} {
		for _, short := range []int64{0, 1} {
			state := richState()
			state.l1Fee, state.ether = fmt.Sprintf("0x%064x", 2_000), fmt.Sprintf("0x%x", c.need+3_000-short)
			source, _ := state.openOrderSource(t)
			source.params.FeeOracle = oracle
			_, err := source.PrepareTerms(t.Context(), sampleOrder(c.coin), "")
			var refused chain.Refusal
			if errors.As(err, &refused) != (short == 1) || short == 0 && err != nil {
				t.Errorf("%s with %d wei too little: %v", c.coin, short, err)
			}
		}
	}
	state := richState()
	source, _ := state.openOrderSource(t)
	source.params.FeeOracle = oracle
	if text, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), ""); err == nil {
		t.Errorf("without an answer of the oracle PrepareTerms = %s, want an error", text)
	}
}

// TestContractWalletsPayFromAFile: a contract can't sign, so the order is a file for it.
func TestContractWalletsPayFromAFile(t *testing.T) {
	t.Parallel()
	state := richState()
	state.code, state.other = "0x60", true
	source, _ := state.openOrderSource(t)
	for _, coin := range []money.Coin{money.ETH, money.USDT} {
		o := sampleOrder(coin)
		terms, err := source.PrepareTerms(t.Context(), o, "")
		if err != nil {
			t.Fatal(err)
		}
		u, err := source.BuildUnsigned(o, terms)
		if err != nil || len(u.Files) != 1 || u.Files[0].Name != "safe.json" || !u.Contract || u.URI+u.Request != "" ||
			!strings.Contains(string(u.Files[0].Content), `"createdFromSafeAddress":"`+payer+`"`) {
			t.Errorf("%s: BuildUnsigned = %+v, %v, want a file for a Safe", coin, u, err)
		}
		var refused chain.InputRefusal
		if _, _, err := source.CheckSigned(o, terms, "0x02"); !errors.As(err, &refused) {
			t.Errorf("%s: CheckSigned = %v, want a refusal", coin, err)
		}
	}
	for code, want := range map[string]bool{"0x": false, "0x60": true, "0xef0100" + strings.Repeat("11", 20): false,
		"0xef0100" + strings.Repeat("11", 21): true} {
		state.code = code
		if is, err := source.IsContract(t.Context(), payer); is != want || err != nil {
			t.Errorf("IsContract of the code %s = %t, %v, want %t", code, is, err, want)
		}
	}
	file, err := source.BuildBatch([]chain.Order{sampleOrder(money.ETH), sampleOrder(money.USDT)}, testTime())
	if text := string(file.Content); err != nil || strings.Count(text, `"contractMethod":null`) != 2 ||
		!strings.Contains(text, `"createdAt":1772366400000`) {
		t.Errorf("BuildBatch = %s, %v, want two transactions made now", text, err)
	}
}

// TestUsedNumberIsRefused prepares an order again whose earlier transaction's number the network has used:
// that transaction may be the order's own, in a block that was not read yet.
func TestUsedNumberIsRefused(t *testing.T) {
	t.Parallel()
	state := richState()
	source, _ := state.openOrderSource(t)
	const earlier = `{"nonce":4,"gas":21000,"max_fee_per_gas":"1","max_priority_fee_per_gas":"1"}`
	if text, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), earlier); !errors.Is(err, chain.NumberTaken) {
		t.Errorf("PrepareTerms = %q, %v, want the refusal %q", text, err, chain.NumberTaken)
	}
}

// TestOrdersThatCantBeMade checks the sentence of each refusal.
func TestOrdersThatCantBeMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		coin   money.Coin
		change func(*orderState, *chain.Order)
		want   string
	}{
		{"too little ETH for the amount", money.ETH, func(s *orderState, _ *chain.Order) { s.ether = "0x1" },
			"The wallet " + payer + " has 0.000000000000000001 ETH; this send takes 0.50000000 ETH."},
		{"too few tokens", money.USDT,
			func(s *orderState, _ *chain.Order) { s.tokens = fmt.Sprintf("0x%064x", 24_999_999) },
			"The wallet " + payer + " has 24.999999 USDT; this send takes 25.000000 USDT."},
		{"too few tokens, which the contract refuses, too", money.USDT, func(s *orderState, _ *chain.Order) {
			s.tokens, s.estimate = fmt.Sprintf("0x%064x", 0), rpc.Error{Code: 3, Message: "execution reverted"}
		}, "this send takes 25.000000 USDT."},
		{"one wei too little for amount and fee", money.ETH, func(s *orderState, _ *chain.Order) {
			s.ether = fmt.Sprintf("0x%x", 500_000_000*oneGwei+21_000*22*oneGwei-1)
		}, "has 0.500461999999999999 ETH; the network's fee takes up to 0.00046200 ETH beside the amount. Add ETH to it."},
		{"one wei too little for the fee of tokens", money.USDT,
			func(s *orderState, _ *chain.Order) { s.ether = fmt.Sprintf("0x%x", 65_000*22*oneGwei-1) },
			"the network's fee takes up to 0.00143000 ETH beside the amount. Add ETH to it."},
		{"a tip that no network asks for", money.ETH, func(s *orderState, _ *chain.Order) {
			s.ether, s.tip = "0xffffffffffffffffffff", fmt.Sprintf("0x%x", 4_981*oneGwei)
		}, "The network's node asks for 5001 gwei a unit of gas; a transaction is prepared for at most 5000."},
		{"a fee of the block that no network asks for", money.USDT, func(s *orderState, _ *chain.Order) {
			s.ether, s.baseFee = "0xffffffffffffffffffff", fmt.Sprintf("0x%x", 2_500*oneGwei)
		}, "asks for 5002 gwei"},
		{"ether to a contract", money.ETH, func(s *orderState, _ *chain.Order) { s.code = "0x60" },
			"The address is a contract's."},
		{"the token's own contract", money.USDT, func(_ *orderState, o *chain.Order) {
			o.To.Address = strings.ToLower(testParams().Token.String())
		}, "The address is the token's own contract."},
		{"ether to the token's contract", money.ETH, func(_ *orderState, o *chain.Order) {
			o.To.Address = testParams().Token.String()
		}, "The address is the token's own contract."},
		{"a transfer that the contract refuses", money.USDT, func(s *orderState, _ *chain.Order) {
			s.estimate = rpc.Error{Code: -32000, Message: "execution reverted: blacklisted"}
		}, "The token's contract refuses this transfer."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			state, order := richState(), sampleOrder(c.coin)
			c.change(&state, &order)
			source, _ := state.openOrderSource(t)
			terms, err := source.PrepareTerms(t.Context(), order, "")
			var refused chain.Refusal
			if !errors.As(err, &refused) || !strings.Contains(string(refused), c.want) || terms != "" {
				t.Errorf("PrepareTerms = %q, %v, want the refusal %q", terms, err, c.want)
			}
			if until := source.nodes.Members[0].DemotedUntil(); !until.IsZero() {
				t.Errorf("the node is demoted until %s for a refusal, want it trusted", until)
			}
		})
	}
}

// TestDamagedAnswersMakeNoTerms checks that each answer must be readable, and that what a node can't
// answer is its failure, not a refusal for the merchant.
func TestDamagedAnswersMakeNoTerms(t *testing.T) {
	t.Parallel()
	failed := rpc.Error{Code: -32000, Message: "internal error"}
	for name, change := range map[string]func(*orderState){
		"confirmed nonce": func(s *orderState) { s.latest = "5" }, "pending nonce": func(s *orderState) { s.pending = 7 },
		"no nonce": func(s *orderState) { s.latest = failed }, "ether": func(s *orderState) { s.ether = "0xzz" },
		"no ether": func(s *orderState) { s.ether = failed }, "base fee": func(s *orderState) { s.baseFee = "ten" },
		"tip": func(s *orderState) { s.tip = "0xzz" }, "code": func(s *orderState) { s.code = "0x6" },
		"no code": func(s *orderState) { s.code = failed }, "tokens": func(s *orderState) { s.tokens = "0x" },
		"no tokens": func(s *orderState) { s.tokens = failed }, "estimate": func(s *orderState) { s.estimate = "1" },
		"no estimate": func(s *orderState) { s.estimate = failed },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := richState()
			change(&state)
			source, _ := state.openOrderSource(t)
			terms, err := source.PrepareTerms(t.Context(), sampleOrder(money.USDT), "")
			var refused chain.Refusal
			if err == nil || errors.As(err, &refused) || terms != "" {
				t.Errorf("PrepareTerms = %q, %v, want a failure of the node", terms, err)
			}
			if source.nodes.Members[0].DemotedUntil().IsZero() {
				t.Error("the node is not demoted, want others to be preferred")
			}
		})
	}
	state := richState()
	source, n := state.openOrderSource(t)
	if terms, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), "{"); err == nil {
		t.Errorf("with damaged earlier terms PrepareTerms = %q, want an error", terms)
	}
	n.Close()
	expectNodeFailure(t, "a node that stopped", source)
	expectNodeFailure(t, "no node that was usable", n.openSource(t))
}

// expectNodeFailure checks that orders fail without a refusal.
func expectNodeFailure(t *testing.T, name string, source *Source) {
	t.Helper()
	var refused chain.Refusal
	if _, err := source.PrepareTerms(t.Context(), sampleOrder(money.ETH), ""); err == nil || errors.As(err, &refused) {
		t.Errorf("with %s PrepareTerms = %v, want a failure", name, err)
	}
	if err := source.Broadcast(t.Context(), "0x02"); err == nil || errors.As(err, &refused) {
		t.Errorf("with %s Broadcast = %v, want a failure", name, err)
	}
}

// TestOrdersAreBuiltAndChecked builds the transactions of payments that ethers signed, and checks
// what it signed against orders and terms.
func TestOrdersAreBuiltAndChecked(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("signing/testdata/signed.json")
	var vectors []struct {
		Payment                           signing.Payment
		JSON, Unsigned, Signed, Hash, URI string
	}
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	units := map[string]chain.Unit{"ETH": {Name: "POL", Decimals: 18}, "USDT": {Name: "USDT", Decimals: 6}}
	for i, v := range vectors {
		p := v.Payment
		source := &Source{params: params.Params{EVMNetwork: money.EVMNetwork{ChainID: int64(p.ChainID), Native: "POL"},
			Token: params.Address{1}, TokenDecimals: 6}}
		o := chain.Order{From: p.From, To: chain.Destination{Address: p.To}, Asset: string(money.ETH), Amount: p.Amount}
		if p.Token != "" {
			o.Asset, source.params.Token = string(money.USDT), params.Address(*mustParseAccount(t, p.Token))
		}
		kinds[o.Asset] = true
		written, err := json.Marshal(signing.Terms{Nonce: p.Nonce, Gas: p.GasLimit, MaxFee: p.MaxFeePerGas,
			Priority: p.MaxPriorityFeePerGas})
		if err != nil {
			t.Fatal(err)
		}
		terms := string(written)
		fee := p.MaxFeePerGas.MulDiv(int64(p.GasLimit), 1)
		u, err := source.BuildUnsigned(o, terms)
		if err != nil || len(u.Files) != 2 || string(u.Files[0].Content) != v.JSON ||
			string(u.Files[1].Content) != v.Unsigned+"\n" || u.URI != v.URI || u.ChainID != p.ChainID ||
			u.Fee.Cmp(fee) != 0 || u.FeeAsset != "POL" || u.Token != p.Token ||
			u.FeeRate != p.MaxFeePerGas.Format(9, 0)+" Gwei" || !strings.Contains(u.Request, `"from":"`+p.From+`"`) {
			t.Errorf("payment %d: BuildUnsigned = %+v, %v, want what ethers builds and the fee %s", i, u, err, fee)
		}
		done, differences, err := source.CheckSigned(o, terms, v.Signed)
		if err != nil || len(differences) != 0 || done.Hash != v.Hash || done.Raw != v.Signed || done.Fee.Cmp(fee) != 0 {
			t.Errorf("payment %d: CheckSigned = %+v, %v, %v, want the hash %s", i, done, differences, err, v.Hash)
		}
		o.Amount = o.Amount.Add(money.Units(1))
		if _, differences, err := source.CheckSigned(o, terms, v.Signed); p.Amount.Big().BitLen() < 256 &&
			(err != nil || len(differences) != 1 || differences[0].Field != signing.FieldAmount ||
				differences[0].Unit != units[o.Asset]) {
			t.Errorf("payment %d for one unit more: CheckSigned = %v, %v, want the amount to differ", i, differences, err)
		}
		paid, err := json.Marshal(signing.Terms{Nonce: p.Nonce, Gas: p.GasLimit, MaxFee: money.Units(1)})
		if err != nil {
			t.Fatal(err)
		}
		_, differences, err = source.CheckSigned(o, string(paid), v.Signed)
		for _, d := range differences {
			if d.Field == signing.FieldMaxFeePerGas && d.Unit != (chain.Unit{Name: "Gwei", Decimals: 9}) {
				t.Errorf("payment %d: %+v, %v, want a price in Gwei", i, d, err)
			}
		}
	}
	if len(kinds) != 2 {
		t.Errorf("the vectors are of %v, want ether and a token", kinds)
	}
	source := &Source{params: testParams()}
	for name, terms := range map[string]string{"damaged terms": "{", "terms without a fee": `{"nonce":1,"gas":21000}`,
		"terms with more behind them": `{"nonce":1,"gas":21000,"max_fee_per_gas":"1","max_priority_fee_per_gas":"1"} x`} {
		if u, err := source.BuildUnsigned(sampleOrder(money.ETH), terms); err == nil || u.Files != nil {
			t.Errorf("%s: BuildUnsigned = %+v, want an error", name, u)
		}
		if done, differences, err := source.CheckSigned(sampleOrder(money.ETH), terms, vectors[0].Signed); err == nil {
			t.Errorf("%s: CheckSigned = %+v, %v, want an error", name, done, differences)
		}
	}
}

// TestBroadcastAnswers checks what becomes of each answer to a broadcast, in the words of the clients.
func TestBroadcastAnswers(t *testing.T) {
	t.Parallel()
	const (
		taken  = "Another transaction of this wallet has taken its number."
		poor   = "The wallet has too little ETH"
		cheap  = "Its fee is too low now."
		denied = "The node refused the transaction: "
	)
	for message, want := range map[string]string{
		"already known": "", "AlreadyKnown": "", "Known transaction": "", "transaction already imported": "",
		"nonce too low: next nonce 8, tx nonce 7": taken, "OldNonce": taken, "Nonce is too low": taken,
		"NONCE_TOO_LOW": taken,
		"insufficient funds for gas * price + value": poor, "InsufficientFunds, Balance is 0": poor,
		"Upfront cost exceeds account balance": poor,
		"transaction underpriced":              cheap, "replacement transaction underpriced": cheap,
		"FeeTooLow, MaxFeePerGas too low.": cheap, "fee too low to compete": cheap,
		"Gas price below configured minimum":       cheap,
		"max fee per gas less than block base fee": cheap,
		"unknown transaction type":                 denied + "error -32000: unknown transaction type.",
		"exceeds block gas limit.":                 denied + "error -32000: exceeds block gas limit.",
		"<b>no</b>":                                denied + "error -32000: <b>no</b>.",
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			state := richState()
			state.sent = rpc.Error{Code: -32000, Message: message}
			source, n := state.openOrderSource(t)
			err := source.Broadcast(t.Context(), "0x02")
			var refused chain.Refusal
			if want == "" && err != nil || want != "" && (!errors.As(err, &refused) ||
				!strings.HasPrefix(string(refused), want) || strings.HasSuffix(string(refused), "..")) {
				t.Errorf("Broadcast = %v, want %q", err, want)
			}
			if n.countRequests("eth_sendRawTransaction") != 1 || !source.nodes.Members[0].DemotedUntil().IsZero() {
				t.Errorf("%d broadcasts, demoted until %s; want one, and the node trusted",
					n.countRequests("eth_sendRawTransaction"), source.nodes.Members[0].DemotedUntil())
			}
		})
	}
	state := richState()
	var raw any
	source, n := state.openOrderSource(t)
	n.setBehaviour(func(n *fakeNode) {
		n.script = func(q rpc.Request) any {
			if q.Method == "eth_sendRawTransaction" {
				raw = q.Params[0]
				return hash{}.String()
			}
			return nil
		}
	})
	if err := source.Broadcast(t.Context(), "0x02aa"); err != nil || raw != "0x02aa" {
		t.Errorf("Broadcast sends %v, %v, want 0x02aa", raw, err)
	}
}

// TestAccountsThatPay reads accounts as people type them.
func TestAccountsThatPay(t *testing.T) {
	t.Parallel()
	source := &Source{params: testParams()}
	const mistyped, malformed = "A character is mistyped", "Must be an account: 0x and 40"
	for text, want := range map[string]string{payer: "", strings.ToLower(payer): "",
		"0x" + strings.ToUpper(payer[2:]):     "",
		strings.Replace(payer, "E3", "e3", 1): mistyped,
		payer[2:]:                             malformed, payer[:41]: malformed, payer + "0": malformed, "": malformed,
		strings.Replace(payer, "8", "g", 1): malformed, "0x" + strings.Repeat("0", 40): malformed} {
		account, prefix, err := source.ParseAccount(text)
		var refused chain.InputRefusal
		switch {
		case want == "" && (err != nil || account != payer || prefix != strings.ToLower(payer)+":"):
			t.Errorf("ParseAccount(%q) = %q, %q, %v, want %s", text, account, prefix, err, payer)
		case want != "" && (!errors.As(err, &refused) || !strings.HasPrefix(string(refused), want) || account != "" ||
			prefix != ""):
			t.Errorf("ParseAccount(%q) = %q, %q, %v, want the refusal %q", text, account, prefix, err, want)
		}
	}
}

// TestSpendKeysBeginWithTheAccount compares the spend keys of blocks with what ParseAccount promises.
func TestSpendKeysBeginWithTheAccount(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).openSource(t))
	to := b.watchNewAddress()
	id := c.sendTx(&fakeTx{From: *mustParseAccount(t, payer), Nonce: 4, To: mustParseAccount(t, to), Value: "0x5"})
	c.mineBlocks(1)
	b.followToTip()
	_, prefix, err := b.source.ParseAccount(payer)
	rows := b.ledger.Transfers()[id]
	if err != nil || len(rows) != 1 || len(rows[0].Spends) != 1 || !strings.HasPrefix(rows[0].Spends[0], prefix) {
		t.Errorf("the transfer is %+v, want a spend key that begins with %q (%v)", rows, prefix, err)
	}
}

// TestClaimsNameTheNumber (SD-9): what a transaction uses up is its account's number, as the spend keys of transfers
// name it. What a contract wallet signs is bound by no number that is known.
func TestClaimsNameTheNumber(t *testing.T) {
	source := new(Source)
	o := sampleOrder(money.ETH)
	o.From = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01"
	for terms, want := range map[string]string{`{"nonce":7}`: "[0xabcdef0123456789abcdef0123456789abcdef01:7]",
		`{"nonce":7,"contract":true}`: "[]"} {
		c, err := source.ReadClaim(o, terms)
		if got := fmt.Sprint(c.Keys); err != nil || got != want || c.Last != 0 ||
			c.Number != "" && !strings.HasSuffix(got, ":"+c.Number+"]") || (c.Number == "") != (len(c.Keys) == 0) {
			t.Errorf("ReadClaim(%s) = %s and the last block %d, %v, want %s without one", terms, got, c.Last, err, want)
		}
	}
	if c, err := source.ReadClaim(o, "{"); err == nil {
		t.Errorf("ReadClaim of damaged terms = %v, want an error", c)
	}
}

var _ chain.TokenSigner = (*Source)(nil)
