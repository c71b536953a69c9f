// Package signing builds the transaction with which a merchant's wallet sends USDT on Tron, and compares a signed
// transaction with the payment that was approved. It holds no key and makes no request.
package signing

import (
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protowire"

	"cointill/chain/abi"
	"cointill/chain/tron/params"
	"cointill/core/money"
)

// Payment is an approved payment of a token, with what its transaction has besides.
type Payment struct {
	From, To, Token string
	Amount          money.Amount // that To receives, in the smallest unit
	// RefBytes and RefHash name a block: the transaction is valid only on a chain that has it. They are bytes 6 and 7
	// of its number and bytes 8 to 15 of its id.
	RefBytes, RefHash []byte
	// Expiration and Timestamp are in milliseconds. No block from Expiration on can hold the transaction.
	Expiration, Timestamp int64
	FeeLimit              int64 // the most that its energy costs, in sun
}

// ErrPayment rejects a payment that no transaction can make.
var ErrPayment = errors.New("no transaction can make this payment")

// maxFeeLimit is the highest fee limit that the network takes, in sun (parameter 47, getMaxFeeLimit).
const maxFeeLimit = 15_000_000_000

// triggerType is the number and triggerName the name of transactions that call a contract.
const (
	triggerType = 31
	triggerName = "TriggerSmartContract"
	triggerURL  = "type.googleapis.com/protocol." + triggerName
)

// Numbers of the fields in java-tron's protocol/src/main/protos/core: Tron.proto (messages Transaction, raw and
// Contract), contract/smart_contract.proto (TriggerSmartContract), and Any of protobuf.
const (
	fieldRaw, fieldSignature                     protowire.Number = 1, 2
	fieldRefBytes, fieldRefHash, fieldExpiration protowire.Number = 1, 4, 8
	fieldContract, fieldTimestamp, fieldFeeLimit protowire.Number = 11, 14, 18
	fieldType, fieldParameter                    protowire.Number = 1, 2
	fieldURL, fieldValue                         protowire.Number = 1, 2
	fieldOwner, fieldCalled, fieldCallValue      protowire.Number = 1, 2, 3
	fieldCalldata                                protowire.Number = 4
)

// call is the call of a token's contract that a payment makes.
type call struct {
	owner, token params.Address
	calldata     []byte
}

// readCall reads and checks a payment.
func (p Payment) readCall() (c call, err error) {
	from, err := params.ParseAddress(p.From)
	to, err2 := params.ParseAddress(p.To)
	token, err3 := params.ParseAddress(p.Token)
	amount := p.Amount.Big()
	switch {
	case err != nil, err2 != nil, err3 != nil, to == params.Address{}, to == token, from == to, // tokens would be lost
		amount.Sign() <= 0, amount.BitLen() > 256, len(p.RefBytes) != 2, len(p.RefHash) != 8, p.Timestamp <= 0,
		p.Expiration <= p.Timestamp, p.FeeLimit <= 0, p.FeeLimit > maxFeeLimit:
		return c, ErrPayment
	}
	return call{owner: from, token: token, calldata: abi.EncodeTransfer(to, amount)}, nil
}

// TransferParameter returns the arguments of transfer(address,uint256) as triggerconstantcontract takes them.
func TransferParameter(to params.Address, amount money.Amount) string {
	return hex.EncodeToString(abi.EncodeTransfer(to, amount.Big())[4:]) // without the selector
}

// encodeRaw returns the transaction's raw data, whose hash is its id and is signed.
func (p Payment) encodeRaw(c call) []byte {
	var trigger, parameter, contract, raw []byte
	trigger = appendText(trigger, fieldOwner, c.owner.Bytes())
	trigger = appendText(trigger, fieldCalled, c.token.Bytes())
	trigger = appendText(trigger, fieldCalldata, c.calldata)
	parameter = appendText(appendText(parameter, fieldURL, []byte(triggerURL)), fieldValue, trigger)
	contract = appendText(appendNumber(contract, fieldType, triggerType), fieldParameter, parameter)
	raw = appendText(appendText(raw, fieldRefBytes, p.RefBytes), fieldRefHash, p.RefHash)
	raw = appendText(appendNumber(raw, fieldExpiration, p.Expiration), fieldContract, contract)
	return appendNumber(appendNumber(raw, fieldTimestamp, p.Timestamp), fieldFeeLimit, p.FeeLimit)
}

func appendNumber(to []byte, field protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), uint64(value))
}

func appendText(to []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), value)
}

// Unsigned is a transaction for a wallet to sign.
type Unsigned struct {
	ID string // of the transaction, signed or not
	// JSON is the object that trx.sign of tronweb and of wallets in the browser takes.
	JSON []byte
}

// BuildUnsigned returns the transaction that makes a payment.
func BuildUnsigned(p Payment) (Unsigned, error) {
	c, err := p.readCall()
	if err != nil {
		return Unsigned{}, err
	}
	raw := p.encodeRaw(c)
	id := params.TransactionID(raw)
	type fields = map[string]any
	value := fields{"data": hex.EncodeToString(c.calldata), "owner_address": c.owner.Hex(),
		"contract_address": c.token.Hex()}
	contract := fields{"parameter": fields{"value": value, "type_url": triggerURL}, "type": triggerName}
	text, err := json.Marshal(fields{"visible": false, "txID": id, "raw_data_hex": hex.EncodeToString(raw),
		"raw_data": fields{"contract": []fields{contract}, "ref_block_bytes": hex.EncodeToString(p.RefBytes),
			"ref_block_hash": hex.EncodeToString(p.RefHash), "expiration": p.Expiration, "timestamp": p.Timestamp,
			"fee_limit": p.FeeLimit}}, json.Deterministic(true))
	return Unsigned{ID: id, JSON: text}, err
}
