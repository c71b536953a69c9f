package ethereum

import (
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/core/money"
)

// holders are two addresses that payments came to.
var holders = []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"}

// collectState is what a node says about a collection from holders to payee, whose gas payer pays.
type collectState struct {
	tokenGas, etherGas map[string]any // by sender
	calls              map[string]any // answers of the token's contract, by sender
	pending            any            // nonce of the second holder
	codes              map[string]any
}

func newCollectState() collectState {
	return collectState{tokenGas: map[string]any{holders[0]: "0xc350", holders[1]: "0xea60"},
		etherGas: map[string]any{holders[0]: "0x5208", holders[1]: "0x5208", payer: "0x5208"},
		calls:    map[string]any{holders[0]: "0x", holders[1]: "0x"}, pending: "0x3", codes: map[string]any{}}
}

func (s *collectState) answer(q rpc.Request) any {
	reverted := rpc.Error{Code: 3, Message: "execution reverted"}
	switch q.Method {
	case "eth_getTransactionCount":
		switch q.Params[0] {
		case payer:
			return map[any]any{"latest": "0x5", "pending": "0x7"}[q.Params[1]]
		case holders[1]:
			return map[any]any{"latest": "0x3", "pending": s.pending}[q.Params[1]]
		}
		return "0x0"
	case "eth_getBalance":
		return "0xde0b6b3a7640000"
	case "eth_maxPriorityFeePerGas":
		return "0x77359400"
	case "eth_getCode":
		if code := s.codes[q.Params[0].(string)]; code != nil {
			return code
		}
		return "0x"
	case "eth_estimateGas", "eth_call":
		call := q.Params[0].(map[string]any)
		from, _ := call["from"].(string)
		if from == "" {
			return nil
		}
		answers := s.etherGas
		if data, isToken := call["data"].(string); isToken {
			if !strings.HasPrefix(data, "0xa9059cbb"+strings.Repeat("0", 24)+strings.ToLower(payee[2:])) {
				return rpc.Error{Code: -32000, Message: "another call"}
			}
			answers = s.tokenGas
		}
		if q.Method == "eth_call" {
			answers = s.calls
		}
		if answer := answers[from]; answer != nil {
			return answer
		}
		return reverted
	}
	return nil
}

func (s *collectState) openSource(t *testing.T) *Source {
	n := newFakeNode(t, newFakeChain(t))
	n.script = s.answer
	n.tamper = func(method string, result any) any {
		if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" {
			block["baseFeePerGas"] = "0x2540be400"
		}
		return result
	}
	source := n.openSource(t)
	source.nodes.CheckAll(t.Context())
	return source
}

// orderOf returns an order of a holder.
func orderOf(from string, coin money.Coin, units int64) chain.Order {
	return chain.Order{From: from, To: chain.Destination{Address: payee}, Asset: string(coin), Amount: money.Units(units)}
}

// TestTermsOfCollections checks prices and gas of a collection, and what is left out where contracts refuse.
func TestTermsOfCollections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		payer  string
		change func(*collectState)
		want   string // gas of the token, of ether and of gas that is sent; contracts; the payer's number
	}{
		{"usual", payer, func(*collectState) {}, "65000 21000 21000 false false 7"},
		{"without a payer", "", func(*collectState) {}, "65000 21000 0 false false 0"},
		{"the first holder is refused", payer, func(s *collectState) { s.tokenGas[holders[0]] = nil },
			"78000 21000 21000 false false 7"},
		{"every holder is refused", payer, func(s *collectState) { s.tokenGas = nil }, "0 21000 21000 false false 7"},
		{"a Safe to collect to", payer, func(s *collectState) {
			s.codes[payee], s.etherGas[holders[0]] = "0x6000", "0x6978"
		}, "65000 35100 21000 true false 7"},
		{"a contract that takes no ether", payer, func(s *collectState) {
			s.codes[payee], s.etherGas = "0x6000", map[string]any{payer: "0x5208"}
		}, "65000 0 21000 true false 7"},
		{"a Safe that pays", payer, func(s *collectState) { s.codes[payer] = "0x6000" },
			"65000 21000 21000 false true 7"},
	} {
		state := newCollectState()
		c.change(&state)
		terms, err := state.openSource(t).FetchCollectTerms(t.Context(), chain.CollectQuery{Destination: payee,
			GasPayer: c.payer,
			Tokens:   []chain.Order{orderOf(holders[0], money.USDT, 25), orderOf(holders[1], money.USDT, 30)},
			Native:   []chain.Order{orderOf(holders[0], money.ETH, 1)}})
		got := fmt.Sprint(terms.TokenGas, " ", terms.NativeGas, " ", terms.FundingGas, " ", terms.Contract, " ",
			terms.Payer.Contract, " ", terms.Payer.Nonce)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
		if fee := terms.ComputeFee(2).String(); fee != "44000000000" || terms.Priority.String() != "2000000000" {
			t.Errorf("%s: two units of gas cost %s with a tip of %s, want twice 10 gwei and 2", c.name, fee, terms.Priority)
		}
	}
}

// TestSendersAreAsked checks numbers, waiting transactions, and refusals of the token's contract.
func TestSendersAreAsked(t *testing.T) {
	t.Parallel()
	orders := []chain.Order{orderOf(holders[0], money.USDT, 25), orderOf(holders[1], money.USDT, 30)}
	for _, c := range []struct {
		name   string
		change func(*collectState)
		want   string
	}{
		{"nothing waits", func(*collectState) {}, "[{0 false false} {3 false false}]"},
		{"a transaction waits", func(s *collectState) { s.pending = "0x4" }, "[{0 false false} {4 true false}]"},
		{"a node that shows none that wait", func(s *collectState) { s.pending = "0x0" },
			"[{0 false false} {3 false false}]"},
		{"a blocked address", func(s *collectState) { s.calls[holders[1]] = nil }, "[{0 false false} {3 false true}]"},
		{"a token that says no", func(s *collectState) { s.calls[holders[1]] = fmt.Sprintf("0x%064x", 0) },
			"[{0 false false} {3 false true}]"},
		{"a token that says yes", func(s *collectState) { s.calls[holders[1]] = fmt.Sprintf("0x%064x", 1) },
			"[{0 false false} {3 false false}]"},
		{"a node that fails", func(s *collectState) {
			s.calls[holders[1]] = rpc.Error{Code: -32000, Message: "internal error"}
		}, "error"},
		{"a damaged number", func(s *collectState) { s.pending = "four" }, "error"},
	} {
		state := newCollectState()
		c.change(&state)
		senders, err := state.openSource(t).FetchSenders(t.Context(), orders)
		got := fmt.Sprint(senders)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// TestNumberedTransactionsHaveTheContractsUnits checks that USDT of 18 decimals is written in the contract's unit.
func TestNumberedTransactionsHaveTheContractsUnits(t *testing.T) {
	t.Parallel()
	p, err := params.Lookup(money.BSC, money.MainNetwork, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &Source{params: p}
	n := chain.NumberedTerms{Nonce: 3, Gas: 65_000, MaxFee: money.Units(2 * oneGwei), Priority: money.Units(oneGwei)}
	got, err := s.BuildNumbered(orderOf(holders[0], money.USDT, 25_000_000), n)
	amount := fmt.Sprintf("%064x", money.Units(25_000_000).MulDiv(1_000_000_000_000, 1).Big())
	if err != nil || !strings.Contains(string(got.JSON), amount) || !strings.Contains(got.Raw, amount) ||
		!strings.Contains(string(got.JSON), `"chainId":"56","nonce":"3"`) {
		t.Errorf("25 USDT are written as %s, %v, want %s of the contract's unit", got.JSON, err, amount)
	}
	if _, err := s.BuildNumbered(orderOf(holders[0], money.USDT, 0), n); err == nil {
		t.Error("a transaction of nothing is built")
	}
}

// TestUsualTokenGas checks that networks which count another one's cost into gas are given more.
func TestUsualTokenGas(t *testing.T) {
	t.Parallel()
	for c, want := range map[money.Chain]int64{money.Ethereum: 65_000, money.BSC: 65_000, money.Arbitrum: 110_000} {
		p, err := params.Lookup(c, money.MainNetwork, "")
		if got := usualTokenGas(p); err != nil || got != want {
			t.Errorf("a transfer on %s uses %d, %v, want %d", c, got, err, want)
		}
	}
}

// TestHoldingsWithoutAToken checks that no token is asked about on a network without USDT.
func TestHoldingsWithoutAToken(t *testing.T) {
	t.Parallel()
	state := newCollectState()
	source := state.openSource(t)
	source.params.Token = params.Address{}
	held, _, err := source.Holdings(t.Context(), holders)
	if err != nil || len(held) != 2 || held[1].Native.String() != "1000000000000000000" || held[1].Token.Sign() != 0 {
		t.Errorf("holdings %+v, %v, want one ether at each address and no token", held, err)
	}
}
