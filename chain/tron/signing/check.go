package signing

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/encoding/protowire"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/tron/params"
)

// Codes of the fields of a chain.Difference.
const (
	FieldSender      = "sender"
	FieldDestination = "destination"
	FieldToken       = "token"
	FieldAmount      = "amount"
	FieldValue       = "value" // TRX that moves with the token
	FieldCalldata    = "calldata"
	FieldFeeLimit    = "fee_limit"
	FieldExpiration  = "expiration"
	FieldContent     = "content" // anything else that the transaction holds, or lacks
)

// The reasons why a text is no signed transaction.
var (
	ErrTransaction = errors.New("not a transaction of Tron that calls a contract")
	ErrSignature   = errors.New("not signed by one key")
)

// maxShown bounds the bytes that a difference shows.
const maxShown = 256

// Signed is a signed transaction.
type Signed struct {
	ID   string
	From string // the account whose key signed it
	Raw  string // as nodes take it, in hexadecimal
}

// CheckSigned compares a signed transaction with the payment that was approved. It is the object that tronweb's
// trx.sign returns, or the transaction in protobuf, in hexadecimal. Without differences it is the very transaction that
// BuildUnsigned returned, so that no second one can make the same payment. An error means that there is nothing to
// compare.
func CheckSigned(p Payment, text string) (Signed, []chain.Difference, error) {
	approved, err := p.readCall()
	if err != nil {
		return Signed{}, nil, err
	}
	raw, signature, err := decodeSigned(text)
	if err != nil {
		return Signed{}, nil, err
	}
	t, err := decodeRaw(raw)
	if err != nil {
		return Signed{}, nil, err
	}
	id := params.TransactionID(raw)
	from, err := recoverSender(id, signature)
	if err != nil {
		return Signed{}, nil, err
	}
	whole := appendText(appendText(nil, fieldRaw, raw), fieldSignature, signature)
	signed := Signed{ID: id, From: from.String(), Raw: hex.EncodeToString(whole)}
	return signed, compareTransactions(p, approved, t, raw, from), nil
}

// compareTransactions returns the fields in which a transaction isn't the approved one.
func compareTransactions(p Payment, approved call, t transaction, raw []byte, from params.Address) (
	found []chain.Difference) {
	compare := func(field, approved, signed string) {
		if approved != signed {
			found = append(found, chain.Difference{Field: field, Approved: approved, Signed: signed})
		}
	}
	compare(FieldSender, approved.owner.String(), from.String())
	if from == approved.owner { // otherwise it is said already
		compare(FieldSender, approved.owner.String(), formatAddress(t.owner))
	}
	compare(FieldToken, approved.token.String(), formatAddress(t.token))
	compare(FieldValue, "0", fmt.Sprint(t.value))
	to, amount, ok := abi.ParseTransfer(t.calldata)
	if ok {
		wanted, due, _ := abi.ParseTransfer(approved.calldata)
		compare(FieldDestination, params.Address(wanted).String(), params.Address(to).String())
		compare(FieldAmount, due.String(), amount.String())
	} else {
		compare(FieldCalldata, formatShown(approved.calldata), formatShown(t.calldata))
	}
	compare(FieldExpiration, fmt.Sprint(p.Expiration), fmt.Sprint(t.expiration))
	compare(FieldFeeLimit, fmt.Sprint(p.FeeLimit), fmt.Sprint(t.feeLimit))
	if wanted := p.encodeRaw(approved); len(found) == 0 && !bytes.Equal(wanted, raw) {
		compare(FieldContent, params.TransactionID(wanted), params.TransactionID(raw))
	}
	return found
}

// decodeSigned returns the raw data and the signature of a signed transaction.
func decodeSigned(text string) (raw, signature []byte, err error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var object struct {
			Raw        string   `json:"raw_data_hex"`
			Signatures []string `json:"signature"`
		}
		if json.Unmarshal([]byte(text), &object) != nil || object.Raw == "" {
			return nil, nil, ErrTransaction
		}
		if len(object.Signatures) != 1 {
			return nil, nil, ErrSignature
		}
		raw, err = decodeHex(object.Raw)
		signature, err2 := decodeHex(object.Signatures[0])
		return raw, signature, errors.Join(err, err2)
	}
	whole, err := decodeHex(text)
	if err != nil {
		return nil, nil, err
	}
	signatures := 0
	err = readFields(whole, func(field protowire.Number, value []byte, _ uint64) {
		switch field {
		case fieldRaw:
			raw = value
		case fieldSignature:
			signature, signatures = value, signatures+1
		}
	})
	switch {
	case err != nil || raw == nil:
		return nil, nil, ErrTransaction
	case signatures != 1:
		return nil, nil, ErrSignature
	}
	return raw, signature, nil
}

// decodeHex reads hexadecimal digits, with or without 0x before them.
func decodeHex(text string) ([]byte, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
	if err != nil || len(raw) == 0 {
		return nil, ErrTransaction
	}
	return raw, nil
}

// transaction holds the fields of a transaction's raw data that are compared one by one.
type transaction struct {
	owner, token         []byte
	value                uint64
	calldata             []byte
	expiration, feeLimit uint64
}

// decodeRaw reads a transaction that calls a contract. Its other fields are compared as a whole.
func decodeRaw(raw []byte) (t transaction, err error) {
	var contract, parameter, trigger []byte
	var kind uint64
	err = readFields(raw, func(field protowire.Number, text []byte, number uint64) {
		switch field {
		case fieldContract:
			contract = text
		case fieldExpiration:
			t.expiration = number
		case fieldFeeLimit:
			t.feeLimit = number
		}
	})
	err2 := readFields(contract, func(field protowire.Number, text []byte, number uint64) {
		switch field {
		case fieldType:
			kind = number
		case fieldParameter:
			parameter = text
		}
	})
	err3 := readFields(parameter, func(field protowire.Number, text []byte, _ uint64) {
		if field == fieldValue {
			trigger = text
		}
	})
	err4 := readFields(trigger, func(field protowire.Number, text []byte, number uint64) {
		switch field {
		case fieldOwner:
			t.owner = text
		case fieldCalled:
			t.token = text
		case fieldCallValue:
			t.value = number
		case fieldCalldata:
			t.calldata = text
		}
	})
	if errors.Join(err, err2, err3, err4) != nil || kind != triggerType {
		return t, ErrTransaction
	}
	return t, nil
}

// readFields passes on each field of a message: its bytes, or its number.
func readFields(message []byte, take func(field protowire.Number, text []byte, number uint64)) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return ErrTransaction
		}
		message = message[n:]
		var text []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return ErrTransaction
		}
		take(field, text, number)
		message = message[n:]
	}
	return nil
}

// recoverSender returns the account whose key made a signature: r, s and the parity, which is written 0 or 1, or 27 or
// 28.
func recoverSender(id string, signature []byte) (params.Address, error) {
	const size = 65
	hash, err := hex.DecodeString(id)
	if err != nil || len(signature) != size {
		return params.Address{}, ErrSignature
	}
	parity := signature[size-1]
	if parity >= 27 {
		parity -= 27
	}
	if parity > 1 {
		return params.Address{}, ErrSignature
	}
	key, _, err := ecdsa.RecoverCompact(append([]byte{27 + parity}, signature[:size-1]...), hash)
	if err != nil {
		return params.Address{}, ErrSignature
	}
	return params.OfKey(key.SerializeUncompressed()[1:]), nil
}

// formatAddress writes the bytes of an address; in hexadecimal if they are none.
func formatAddress(raw []byte) string {
	if a, err := params.ParseHex(hex.EncodeToString(raw)); err == nil {
		return a.String()
	}
	return formatShown(raw)
}

// formatShown writes the beginning of some bytes; "" means none.
func formatShown(raw []byte) string {
	if len(raw) > maxShown {
		return hex.EncodeToString(raw[:maxShown]) + "…"
	}
	return hex.EncodeToString(raw)
}
