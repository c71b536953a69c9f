package tron

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/abi"
	"cointill/chain/node"
	"cointill/chain/tron/params"
)

// constantResult is the answer to a call of a contract that changes nothing.
type constantResult struct {
	Values  values `json:"constant_result"`
	Energy  int64  `json:"energy_used"` // that the call would take in a transaction
	Outcome struct {
		OK      bool   `json:"result"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"result"`
}

// values are what a contract's function returned.
type values []hexBytes

// UnmarshalJSONFrom reads the list.
func (l *values) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList(d, maxParts, accept[hexBytes])
	return err
}

// tryToken has a node try a call of the token's contract by an account, with arguments in hexadecimal.
func (n *server) tryToken(ctx context.Context, from params.Address, function, arguments string) (answer constantResult,
	err error) {
	err = n.postInto(ctx, maxSmallResponse, "/wallet/triggerconstantcontract", map[string]any{
		"owner_address": from.Hex(), "contract_address": n.params.Token.Hex(), "function_selector": function,
		"parameter": arguments}, &answer)
	return answer, err
}

// callToken calls a function of the token's contract, and returns its result.
func (n *server) callToken(ctx context.Context, function, arguments string) ([]byte, error) {
	answer, err := n.tryToken(ctx, params.Address{}, function, arguments)
	switch {
	case err != nil:
		return nil, err
	case !answer.Outcome.OK || answer.Outcome.Message != "" || len(answer.Values) == 0 || len(answer.Values[0]) == 0:
		return nil, n.wrongContractError(fmt.Errorf("%s %s", node.PrintableText(answer.Outcome.Code),
			node.PrintableText(answer.Outcome.Message)))
	}
	return answer.Values[0], nil
}

// checkToken compares the decimals and the symbol of the token's contract with the network's.
func (n *server) checkToken(ctx context.Context) error {
	raw, err := n.callToken(ctx, "decimals()", "")
	if err != nil {
		return err
	}
	want := make([]byte, len(word{}))
	want[len(want)-1] = byte(n.params.TokenDecimals)
	switch {
	case len(raw) != len(want):
		return n.wrongContractError(fmt.Errorf("%d bytes for its decimals", len(raw)))
	case !bytes.Equal(raw, want):
		return node.NewFailure(fmt.Errorf("contract %s says %x", n.params.Token, raw),
			"says that the contract of USDT has other decimals than %d, so every amount would be wrong. Check the "+
				"contract's address in the configuration.", n.params.TokenDecimals)
	case len(n.params.TokenSymbols) == 0:
		return nil
	}
	raw, err = n.callToken(ctx, "symbol()", "")
	if err != nil {
		return err
	}
	symbol, ok := abi.DecodeText(raw)
	switch {
	case !ok:
		return n.wrongContractError(fmt.Errorf("%d bytes for its symbol", len(raw)))
	case !slices.Contains(n.params.TokenSymbols, symbol):
		return node.NewFailure(fmt.Errorf("contract %s", n.params.Token),
			"says that the contract of USDT on %s calls itself %q. Check which node its URL leads to.",
			n.params.Network(), node.PrintableText(symbol))
	}
	return nil
}

// wrongContractError returns the error for a contract that isn't a token's.
func (n *server) wrongContractError(cause error) error {
	return node.NewFailure(errors.Join(fmt.Errorf("contract %s", n.params.Token), cause),
		"finds no contract of USDT on %s. Check the contract's address in the configuration, and whether the node is in "+
			"step with the network.", n.params.Network())
}
