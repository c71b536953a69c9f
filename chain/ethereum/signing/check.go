package signing

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// Codes of the fields of a chain.Difference.
const (
	FieldChainID              = "chain_id"
	FieldSender               = "sender"
	FieldDestination          = "destination"
	FieldToken                = "token"
	FieldAmount               = "amount"
	FieldValue                = "value" // ether that moves with a token
	FieldCalldata             = "calldata"
	FieldNonce                = "nonce"
	FieldAccessList           = "access_list"
	FieldGasLimit             = "gas_limit"
	FieldMaxFeePerGas         = "max_fee_per_gas"
	FieldMaxPriorityFeePerGas = "max_priority_fee_per_gas"
	FieldFee                  = "fee" // the whole fee, where gas limit and price are each below their bound
)

// maxFeeFactor is how many times the approved fee a signed transaction may cost at most.
const maxFeeFactor = 3

// maxShown bounds the bytes that a difference shows of calldata and access lists.
const maxShown = 256

// Signed is a signed transaction.
type Signed struct {
	Hash   string
	From   string       // the account whose key signed it
	Raw    string       // as nodes take it
	FeeCap money.Amount // the most that it costs beside the amount, in wei
}

// CheckSigned compares a signed transaction, in hexadecimal, with the payment that was approved.
// Without differences it makes exactly that payment, for at most three times the approved gas
// limit, prices and fee. An error means that there is nothing to compare.
func CheckSigned(p Payment, raw string) (Signed, []chain.Difference, error) {
	approved, err := p.parse()
	if err != nil {
		return Signed{}, nil, err
	}
	text, err := decodeText(raw)
	if err != nil {
		return Signed{}, nil, err
	}
	t, err := decodeTransaction(text)
	if err != nil {
		return Signed{}, nil, err
	}
	from, err := t.recoverSender()
	if err != nil {
		return Signed{}, nil, err
	}
	var c comparison
	c.compare(FieldSender, approved.from.String(), from.String())
	c.compareTransfer(approved, t)
	c.compare(FieldNonce, fmt.Sprint(p.Nonce), fmt.Sprint(t.nonce))
	c.compareBytes(FieldAccessList, nil, t.accessList)
	c.compareFees(p, t)
	hash := abi.Keccak(text)
	return Signed{Hash: formatBytes(hash[:]), From: from.String(), Raw: formatBytes(text),
		FeeCap: money.FromBig(t.feeCap())}, c.found, nil
}

// comparison collects differences.
type comparison struct{ found []chain.Difference }

func (c *comparison) compare(field, approved, signed string) {
	if approved != signed {
		c.add(field, approved, signed)
	}
}

func (c *comparison) add(field, approved, signed string) {
	c.found = append(c.found, chain.Difference{Field: field, Approved: approved, Signed: signed})
}

func (c *comparison) compareBytes(field string, approved, signed []byte) {
	if !bytes.Equal(approved, signed) {
		c.add(field, formatShown(approved), formatShown(signed))
	}
}

// compareCap reports a number above its bound.
func (c *comparison) compareCap(field string, approved, signed *big.Int) {
	if signed.Cmp(new(big.Int).Mul(approved, big.NewInt(maxFeeFactor))) > 0 {
		c.add(field, approved.String(), signed.String())
	}
}

// compareTransfer compares network, receivers and amounts.
func (c *comparison) compareTransfer(approved transfer, t transaction) {
	chainID := ""
	if t.chainID != nil {
		chainID = t.chainID.String()
	}
	c.compare(FieldChainID, fmt.Sprint(approved.chainID), chainID)
	if approved.token == nil {
		c.compare(FieldDestination, approved.to.String(), formatReceiver(t.receiver))
		c.compare(FieldAmount, approved.amount.String(), t.value.String())
		c.compareBytes(FieldCalldata, nil, t.calldata)
		return
	}
	c.compare(FieldToken, approved.token.String(), formatReceiver(t.receiver))
	c.compare(FieldValue, "0", t.value.String())
	to, amount, ok := abi.ParseTransfer(t.calldata)
	if !ok {
		c.compareBytes(FieldCalldata, approved.calldata(), t.calldata)
		return
	}
	c.compare(FieldDestination, approved.to.String(), params.Address(to).String())
	c.compare(FieldAmount, approved.amount.String(), amount.String())
}

// compareFees compares gas limit and prices with their bounds. The product has a bound of its
// own, because limit and price may each be three times as high.
func (c *comparison) compareFees(p Payment, t transaction) {
	before := len(c.found)
	gas := new(big.Int).SetUint64(p.GasLimit)
	c.compareCap(FieldGasLimit, gas, new(big.Int).SetUint64(t.gasLimit))
	c.compareCap(FieldMaxFeePerGas, p.MaxFeePerGas.Big(), t.maxFee)
	if len(c.found) == before {
		c.compareCap(FieldFee, gas.Mul(gas, p.MaxFeePerGas.Big()), t.feeCap())
	}
	if !t.legacy {
		c.compareCap(FieldMaxPriorityFeePerGas, p.MaxPriorityFeePerGas.Big(), t.priorityFee)
	}
}

// formatReceiver writes a receiver; "" means that the transaction makes a contract.
func formatReceiver(receiver []byte) string {
	if len(receiver) == 0 {
		return ""
	}
	return params.Address(receiver).String()
}

// formatShown writes the beginning of some bytes; "" means none.
func formatShown(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > maxShown:
		return "0x" + hex.EncodeToString(text[:maxShown]) + "…"
	}
	return formatBytes(text)
}
