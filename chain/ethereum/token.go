package ethereum

import (
	"context"
	"errors"
	"fmt"

	"cointill/chain/ethereum/params"
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
	sum := params.Keccak([]byte(function))
	return string(appendHex([]byte("0x"), sum[:4]))
}

var (
	decimalsCall   = functionSelector("decimals()")
	pausedCall     = functionSelector("paused()")
	deprecatedCall = functionSelector("deprecated()")
	feeCall        = functionSelector("basisPointsRate()")
)

// fetchTokenState reads the decimals of the token's contract, which must be TokenDecimals, and the
// settings that can stop or reduce payments.
func (n *server) fetchTokenState(ctx context.Context) (s tokenState, err error) {
	contract := n.params.Token.String()
	view := func(call string) request {
		return newRequest("eth_call", map[string]string{"to": contract, "data": call}, "latest")
	}
	responses, err := n.callAll(ctx, maxSmallResponse, view(decimalsCall), view(pausedCall), view(deprecatedCall),
		view(feeCall))
	if err != nil {
		return s, err
	}
	if err := n.checkDecimals(responses[0]); err != nil {
		return s, err
	}
	truth := func(r response) bool { w, _ := decodeWord(r); return !w.isZero() }
	return tokenState{paused: truth(responses[1]), deprecated: truth(responses[2]), fee: truth(responses[3])}, nil
}

// checkDecimals compares the answer to decimals() with TokenDecimals. Only an empty answer means
// that there is no contract at the address. An error that the contract did not cause is the node's
// own.
func (n *server) checkDecimals(r response) error {
	contract := n.params.Token.String()
	var raw hexBytes
	switch err := r.decodeInto(&raw); {
	case r.Error != nil && r.Error.isRevert():
		return n.wrongContractError(r.Error)
	case err != nil:
		return asRefusal(err)
	case r.isNull():
		return invalidAnswerError(errors.New("null for a call"))
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
	case decimals != smallWei(params.TokenDecimals):
		return node.NewFailure(fmt.Errorf("contract %s says %x", contract, decimals),
			"says that the contract of USDT has other decimals than %d, so every amount would be wrong. Check the "+
				"contract's address in the configuration.", params.TokenDecimals)
	}
	return nil
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
func decodeWord(r response) (w wei, ok bool) {
	var raw hexBytes
	if r.decodeInto(&raw) != nil || len(raw) != len(w) {
		return w, false
	}
	return wei(raw), true
}
