package ethereum

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"cointill/chain/abi"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// tokenState is the state that USDT's contract reports. Contracts that stand for USDT on test
// networks report less.
type tokenState struct {
	paused     bool
	deprecated bool
	fee        bool // the contract keeps a part of each transfer as a fee
}

// functionSelector returns the first four bytes of the calldata of a function call.
func functionSelector(function string) string {
	sum := abi.Keccak([]byte(function))
	return "0x" + hex.EncodeToString(sum[:4])
}

var (
	decimalsCall   = functionSelector("decimals()")
	symbolCall     = functionSelector("symbol()")
	pausedCall     = functionSelector("paused()")
	deprecatedCall = functionSelector("deprecated()")
	feeCall        = functionSelector("basisPointsRate()")
)

// fetchTokenState reads the decimals and the symbol of the token's contract, which must be the network's,
// and the settings that can stop or reduce payments. A network without the token has nothing to read.
func (n *server) fetchTokenState(ctx context.Context) (s tokenState, err error) {
	if !n.params.HasToken() {
		return s, nil
	}
	contract := n.params.Token.String()
	view := func(call string) rpc.Request {
		return rpc.NewRequest("eth_call", map[string]string{"to": contract, "data": call}, "latest")
	}
	requests := []rpc.Request{view(decimalsCall), view(pausedCall), view(deprecatedCall), view(feeCall)}
	if len(n.params.TokenSymbols) > 0 {
		requests = append(requests, view(symbolCall))
	}
	responses, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return s, err
	}
	if err := n.checkDecimals(responses[0]); err != nil {
		return s, err
	}
	if len(requests) > 4 {
		if err := n.checkSymbol(responses[4]); err != nil {
			return s, err
		}
	}
	truth := func(r rpc.Response) bool { w, _ := decodeWord(r); return !w.IsZero() }
	return tokenState{paused: truth(responses[1]), deprecated: truth(responses[2]), fee: truth(responses[3])}, nil
}

// checkDecimals compares the answer to decimals() with the network's. Only an empty answer means
// that there is no contract at the address. An error that the contract did not cause is the node's
// own.
func (n *server) checkDecimals(r rpc.Response) error {
	contract := n.params.Token.String()
	raw, err := n.readAnswer(r)
	switch {
	case err != nil:
		return err
	case r.IsNull():
		return rpc.InvalidAnswerError(errors.New("null for a call"))
	case len(raw) == 0:
		return node.NewFailure(fmt.Errorf("nothing is at %s", contract),
			"doesn't find the contract of USDT on %s. Check the contract's address in the configuration, and whether "+
				"the node is in step with the network.",
			n.params.Network())
	}
	decimals, ok := decodeWord(r)
	switch {
	case !ok:
		return n.wrongContractError(fmt.Errorf("%d bytes", len(raw)))
	case decimals != smallWei(byte(n.params.TokenDecimals)):
		return node.NewFailure(fmt.Errorf("contract %s says %x", contract, decimals),
			"says that the contract of USDT has other decimals than %d, so every amount would be wrong. Check the "+
				"contract's address in the configuration.", n.params.TokenDecimals)
	}
	return nil
}

// readAnswer reads what a function of the token's contract returned. A revert is the contract's own, other
// errors are the node's.
func (n *server) readAnswer(r rpc.Response) (raw hexBytes, err error) {
	err = r.DecodeInto(&raw)
	switch {
	case r.Error != nil && r.Error.IsRevert():
		return nil, n.wrongContractError(r.Error)
	case err != nil:
		return nil, asRefusal(err)
	}
	return raw, nil
}

// checkSymbol compares the answer to symbol() with the names of USDT.
func (n *server) checkSymbol(r rpc.Response) error {
	raw, err := n.readAnswer(r)
	if err != nil {
		return err
	}
	symbol, ok := decodeText(raw)
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

// decodeText reads the text that a contract's function returned: as a string of the ABI, or in 32 bytes that
// zero bytes fill, as some old tokens do.
func decodeText(raw hexBytes) (text string, ok bool) {
	if len(raw) != len(wei{}) {
		return abi.DecodeText(raw)
	}
	raw = bytes.TrimRight(raw, "\x00")
	return string(raw), utf8.Valid(raw)
}

// wrongContractError returns the error for a contract without a usable decimals().
func (n *server) wrongContractError(cause error) error {
	return node.NewFailure(fmt.Errorf("contract %s answers %w", n.params.Token, cause),
		"finds a contract on %s that isn't USDT's. Check the contract's address in the configuration.",
		n.params.Network())
}

// describeState returns a note about the token, or "" if its state is normal.
func (s tokenState) describeState() string {
	switch {
	case s.deprecated:
		return "Tether has replaced the contract of USDT by another one: payments to the old one may not be USDT any " +
			"more. Switch Tether off until this software knows the new contract."
	case s.paused:
		return "Tether has paused USDT: it can't be sent now. Open payments wait."
	case s.fee:
		return "USDT takes a fee of what is sent now, so payments arrive smaller than they were sent. A business can " +
			"allow for it by its tolerance for underpayment."
	}
	return ""
}

// smallWei returns a small number in the form in which a contract returns it.
func smallWei(n byte) (w wei) {
	w[len(w)-1] = n
	return w
}

// decodeWord reads the 32 bytes that a contract's function returned. It returns zero and false if
// the contract has no such function.
func decodeWord(r rpc.Response) (w wei, ok bool) {
	var raw hexBytes
	if r.DecodeInto(&raw) != nil || len(raw) != len(w) {
		return w, false
	}
	return wei(raw), true
}
