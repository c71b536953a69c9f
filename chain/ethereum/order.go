package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/ethereum/signing"
	"cointill/core/money"
)

const (
	// transferGas is what a transfer of ether to an account without code uses, and no transaction less.
	transferGas = 21_000
	// maxTokenGas bounds the gas of a token's transfer, whatever its contract uses.
	maxTokenGas = 300_000
	// mostOtherGas bounds the gas of a transfer on networks that count the cost of another network into it.
	mostOtherGas = 5_000_000
	// gasReserve is the factor, in percent, by which a token's transfer may use more than estimated.
	gasReserve = 130
	// transferSize is how many bytes an unsigned transfer has at most, of a token, too.
	transferSize = 160
)

// l1FeeCall asks for the highest L1 fee of a transaction of a size (GasPriceOracle of the OP Stack).
var l1FeeCall = functionSelector("getL1FeeUpperBound(uint256)")

var _ chain.NumberSigner = (*Source)(nil)

// joinTerms returns the payment that makes an order on terms.
func (s *Source) joinTerms(o chain.Order, t signing.Terms) signing.Payment {
	p := signing.Payment{ChainID: uint64(s.params.ChainID), From: o.From, To: o.To.Address, Amount: o.Amount,
		Nonce: t.Nonce, GasLimit: t.Gas, MaxFeePerGas: t.MaxFee, MaxPriorityFeePerGas: t.Priority}
	if o.Asset == string(money.USDT) {
		p.Token, p.Amount = s.params.Token.String(), s.params.ToTokenUnits(o.Amount)
	}
	return p
}

// PrepareTerms implements chain.Signer.
func (s *Source) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	if strings.EqualFold(o.To.Address, s.params.Token.String()) {
		return "", chain.Refusal("The address is the token's own contract. Money that is sent there is lost.")
	}
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return "", err
	}
	facts, err := n.fetchOrderFacts(ctx, s.params, o)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	if earlier != "" {
		var before signing.Terms
		if err := json.Unmarshal([]byte(earlier), &before); err != nil {
			return "", err
		}
		if !before.Contract && before.Nonce < facts.Confirmed {
			return "", chain.NumberTaken
		}
		facts.Next = before.Nonce
	}
	terms, err := facts.ComputeTerms(o, s.params.Native)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(terms)
	return string(text), err
}

// fetchOrderFacts asks a node for the state of the account that pays.
func (n *server) fetchOrderFacts(ctx context.Context, p params.Params, o chain.Order) (f signing.Facts, err error) {
	token := o.Asset == string(money.USDT)
	requests := []rpc.Request{rpc.NewRequest("eth_getTransactionCount", o.From, "latest"),
		rpc.NewRequest("eth_getTransactionCount", o.From, "pending"), rpc.NewRequest("eth_getBalance", o.From, "latest"),
		rpc.NewRequest("eth_getBlockByNumber", "latest", false), rpc.NewRequest("eth_maxPriorityFeePerGas"),
		rpc.NewRequest("eth_getCode", o.To.Address, "latest"), rpc.NewRequest("eth_getCode", o.From, "latest")}
	if token {
		call, err := signing.TransferCall(p.Token.String(), o.From, o.To.Address, p.ToTokenUnits(o.Amount))
		if err != nil {
			return f, err
		}
		requests = append(requests, rpc.NewRequest("eth_call", map[string]string{"to": p.Token.String(),
			"data": balanceCall + encodeArgument(o.From)}, "latest"), rpc.NewRequest("eth_estimateGas", call))
	}
	answers, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return f, err
	}
	var confirmed, next nonce
	var ether, tip wei
	var block struct {
		BaseFee wei `json:"baseFeePerGas"`
	}
	var code, own hexBytes
	for i, into := range []any{&confirmed, &next, &ether, &block, &tip, &code, &own} {
		if i == 4 && answers[i].Error != nil { // a node without suggestions
			continue
		}
		if err := answers[i].DecodeInto(into); err != nil {
			return f, asRefusal(err)
		}
	}
	l1Fee, err := n.fetchL1Fee(ctx, p)
	if err != nil {
		return f, err
	}
	f = signing.Facts{Confirmed: uint64(confirmed), Next: uint64(max(confirmed, next)), Ether: ether.ToAmount(),
		BaseFee: block.BaseFee.ToAmount(), Tip: tip.ToAmount(), L1Fee: l1Fee, Gas: transferGas,
		Contract: isContract(code), PayerCode: isContract(own)}
	if !token {
		f.Held = f.Ether
		if !f.Contract && (p.CountsL1Gas || isDelegated(code)) {
			// It asks without a value, so that the account that pays need not have it.
			f.Gas, err = n.estimateGas(ctx, p, map[string]string{"from": o.From, "to": o.To.Address})
		}
		return f, err
	}
	held, ok := decodeWord(answers[7])
	if !ok {
		return f, rpc.RefusedError(fmt.Errorf("balanceOf: %v", answers[7].Error))
	}
	f.Held = p.FromTokenUnits(held.ToAmount())
	f.Gas, err = readEstimate(answers[8], boundGas(p))
	return f, err
}

// fetchL1Fee asks for the highest fee that a transfer takes besides its gas. It adds half as much, as that fee changes
// with those of another network. It is 0 on networks without such a fee.
func (n *server) fetchL1Fee(ctx context.Context, p params.Params) (fee money.Amount, err error) {
	if p.FeeOracle == "" {
		return fee, nil
	}
	answer, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_call", map[string]string{"to": p.FeeOracle,
		"data": fmt.Sprintf("%s%064x", l1FeeCall, transferSize)}, "latest"))
	if err != nil {
		return fee, err
	}
	word, ok := decodeWord(answer)
	if !ok {
		return fee, rpc.RefusedError(fmt.Errorf("getL1FeeUpperBound: %v", answer.Error))
	}
	return word.ToAmount().MulDiv(3, 2), nil
}

// estimateGas asks how much gas a transfer uses. Networks other than Ethereum may take more for ether, too, and an
// account that delegates to a contract runs its code (EIP-7702).
func (n *server) estimateGas(ctx context.Context, p params.Params, call map[string]string) (uint64, error) {
	answer, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_estimateGas", call))
	if err != nil {
		return 0, err
	}
	return readEstimate(answer, boundGas(p))
}

// boundGas returns the most gas that a transfer may use on a network.
func boundGas(p params.Params) uint64 {
	if p.CountsL1Gas {
		return mostOtherGas
	}
	return maxTokenGas
}

// readEstimate returns how much gas a transfer uses, at most most; 0 where it is refused. What Ethereum takes for ether
// needs no reserve.
func readEstimate(answer rpc.Response, most uint64) (uint64, error) {
	var used quantity
	switch err := answer.DecodeInto(&used); {
	case answer.Error != nil && answer.Error.IsRevert():
		return 0, nil // too little money, or a blocked account
	case err != nil:
		return 0, asRefusal(err)
	case uint64(used) <= transferGas:
		return transferGas, nil
	}
	return min(min(uint64(used), most)*gasReserve/100, most), nil
}

// readTerms reads what PrepareTerms returned.
func (s *Source) readTerms(o chain.Order, text string) (signing.Payment, signing.Terms, error) {
	var t signing.Terms
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return signing.Payment{}, t, err
	}
	return s.joinTerms(o, t), t, nil
}

// ReadClaim implements chain.NumberSigner. What a contract wallet signs has another number.
func (s *Source) ReadClaim(o chain.Order, terms string) (c chain.Claim, err error) {
	var t signing.Terms
	if err = json.Unmarshal([]byte(terms), &t); err == nil && !t.Contract {
		c.Number = fmt.Sprint(t.Nonce)
		c.Keys = []string{strings.ToLower(o.From) + ":" + c.Number}
	}
	return c, err
}

// BuildUnsigned implements chain.Signer.
func (s *Source) BuildUnsigned(o chain.Order, terms string) (chain.Unsigned, error) {
	p, t, err := s.readTerms(o, terms)
	if err != nil {
		return chain.Unsigned{}, err
	}
	if t.Contract {
		file, err := s.BuildBatch([]chain.Order{o}, time.Unix(0, 0)) // the same bytes each time
		return chain.Unsigned{FeeAsset: string(s.params.Native), Contract: true, Token: p.Token,
			Files: []chain.SigningFile{file}}, err
	}
	unsigned, err := signing.BuildUnsigned(p)
	uri, err2 := signing.URI(p)
	asked, err3 := signing.WalletRequest(p)
	if err := cmp.Or(err, err2, err3); err != nil {
		return chain.Unsigned{}, err
	}
	return chain.Unsigned{URI: uri, Request: string(asked), ChainID: uint64(s.params.ChainID), Fee: t.ComputeFee(),
		FeeAsset: string(s.params.Native), FeeRate: signing.FormatGasPrice(t.MaxFee), Token: p.Token,
		Files: []chain.SigningFile{
			{Name: "unsigned.json", Type: "application/json", Content: unsigned.JSON},
			{Name: "unsigned.txt", Type: "text/plain", Content: []byte(unsigned.Raw + "\n")}}}, nil
}

// CheckSigned implements chain.Signer.
func (s *Source) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	p, t, err := s.readTerms(o, terms)
	switch {
	case err != nil:
		return chain.Signed{}, nil, err
	case t.Contract:
		return chain.Signed{}, nil, signing.ErrContractSigns
	}
	checked, differences, err := signing.CheckSigned(p, signed)
	signing.SetUnits(differences, p, s.params.Native, s.params.TokenDecimals)
	return chain.Signed{Hash: checked.Hash, Raw: checked.Raw, Fee: checked.FeeCap}, differences, err
}

// Broadcast implements chain.Signer.
func (s *Source) Broadcast(ctx context.Context, raw string) error {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return err
	}
	answer, err := n.CallOne(ctx, maxSmallResponse, rpc.NewRequest("eth_sendRawTransaction", raw))
	switch {
	case err != nil:
		return n.DemoteOnError(ctx, err)
	case answer.Error != nil:
		return describeBroadcast(answer.Error, s.params.Native)
	}
	return nil
}

// describeBroadcast says why a node didn't take a transaction, in the words of go-ethereum, Nethermind,
// Erigon, Besu and Reth; nil where the node has it already.
func describeBroadcast(e *rpc.Error, native money.Coin) error {
	switch {
	case e.Contains("already known", "known transaction", "already imported", "alreadyknown") &&
		!e.Contains("unknown"):
		return nil
	case e.Contains("nonce too low", "oldnonce", "nonce is too low", "nonce_too_low"):
		return chain.NumberTaken
	case e.Contains("insufficient funds", "insufficientfunds", "upfront cost"):
		return chain.Refusal("The wallet has too little " + string(native) + " for the amount and the network's fee.")
	case e.Contains("underpriced", "feetoolow", "fee too low", "gas price", "base fee"):
		return chain.Refusal("Its fee is too low now. Prepare the send again, and sign that transaction.")
	}
	return chain.Refusal("The node refused the transaction: " + strings.TrimRight(e.Error(), ".") + ".")
}

// TokenContract implements chain.TokenSigner.
func (s *Source) TokenContract() string { return s.params.TokenContract() }

// ParseAccount implements chain.Signer.
func (s *Source) ParseAccount(address string) (account, spendPrefix string, err error) {
	a, err := params.ParseAddress(address)
	switch {
	case errors.Is(err, params.ErrChecksum):
		return "", "", chain.InputRefusal("A character is mistyped: the checksum in the capitals is wrong.")
	case err != nil, a == params.Address{}:
		return "", "", chain.InputRefusal("Must be an account: 0x and 40 of the characters 0–9 and a–f.")
	}
	return a.String(), strings.ToLower(a.String()) + ":", nil
}
