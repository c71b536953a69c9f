package ledgertest

import (
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"cointill/chain/xrpl/params"
)

// field identifies a field in a transaction's binary form by type and number.
type field struct{ kind, number int }

// Types of fields.
const (
	uint16Type  = 1
	uint32Type  = 2
	hashType    = 5
	amountType  = 6
	blobType    = 7
	accountType = 8
	objectType  = 14
	arrayType   = 15
)

// fieldNames are the fields that submitted transactions may have.
var fieldNames = map[field]string{
	{uint16Type, 2}: "TransactionType",
	{uint32Type, 1}: "NetworkID", {uint32Type, 2}: "Flags", {uint32Type, 3}: "SourceTag", {uint32Type, 4}: "Sequence",
	{uint32Type, 14}: "DestinationTag",
	{uint32Type, 27}: "LastLedgerSequence", {uint32Type, 33}: "SetFlag", {uint32Type, 34}: "ClearFlag",
	{hashType, 9}: "AccountTxnID", {hashType, 17}: "InvoiceID",
	{amountType, 1}: "Amount", {amountType, 8}: "Fee",
	{blobType, 3}: "SigningPubKey", {blobType, 4}: "TxnSignature", {blobType, 7}: "Domain", {blobType, 12}: "MemoType",
	{blobType, 13}: "MemoData", {blobType, 14}: "MemoFormat",
	{accountType, 1}: "Account", {accountType, 3}: "Destination",
	{objectType, 10}: "Memo", {arrayType, 9}: "Memos",
}

// transactionTypes are the types of transactions that may be submitted.
var transactionTypes = map[uint16]string{0: "Payment", 3: "AccountSet"}

// endMarker ends objects and arrays.
const endMarker = "end"

// errBinary is the usual error for a malformed transaction.
var errBinary = errors.New("not the binary form of a transaction that is known here")

// decodeTransaction reads a signed transaction and returns its fields, its id, and the signed
// bytes.
func decodeTransaction(blob []byte) (tx Fields, id string, signed []byte, err error) {
	r := &binaryReader{rest: blob}
	tx, err = r.readObject(false)
	if err != nil {
		return nil, "", nil, err
	}
	signed = append([]byte("STX\x00"), r.signed...)
	return tx, sha512Half("TXN\x00", string(blob)), signed, nil
}

// binaryReader reads the binary form from front to back.
type binaryReader struct {
	rest   []byte
	signed []byte // all fields except the signature
}

func (r *binaryReader) takeBytes(n int) ([]byte, error) {
	if n < 0 || len(r.rest) < n {
		return nil, errBinary
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part, nil
}

// readObject reads fields until the end of the text, or until the end marker of an inner object.
func (r *binaryReader) readObject(inner bool) (Fields, error) {
	all := Fields{}
	for len(r.rest) > 0 {
		from := r.rest
		name, value, err := r.readField()
		if err != nil {
			return nil, err
		}
		if name != "TxnSignature" && !inner {
			r.signed = append(r.signed, from[:len(from)-len(r.rest)]...)
		}
		if name == endMarker {
			if !inner {
				return nil, errBinary
			}
			return all, nil
		}
		all[name] = value
	}
	if inner {
		return nil, errBinary
	}
	return all, nil
}

func (r *binaryReader) readField() (name string, value any, err error) {
	head, err := r.takeBytes(1)
	if err != nil {
		return "", nil, err
	}
	f := field{int(head[0] >> 4), int(head[0] & 15)}
	for _, part := range []*int{&f.kind, &f.number} {
		if *part == 0 {
			more, err := r.takeBytes(1)
			if err != nil {
				return "", nil, err
			}
			*part = int(more[0])
		}
	}
	if (f.kind == objectType || f.kind == arrayType) && f.number == 1 {
		return endMarker, nil, nil
	}
	name, ok := fieldNames[f]
	if !ok {
		return "", nil, fmt.Errorf("%w: field %d of type %d", errBinary, f.number, f.kind)
	}
	value, err = r.readValue(f.kind)
	return name, value, err
}

func (r *binaryReader) readValue(kind int) (any, error) {
	size := map[int]int{uint16Type: 2, uint32Type: 4, hashType: 32, amountType: 8}[kind]
	if kind == blobType || kind == accountType {
		length, err := r.takeBytes(1)
		if err != nil {
			return nil, err
		}
		size = int(length[0])
		if size > 192 {
			more, err := r.takeBytes(1)
			if err != nil || size > 240 {
				return nil, errBinary
			}
			size = 193 + (size-193)*256 + int(more[0])
		}
	}
	switch kind {
	case objectType:
		return r.readObject(true)
	case arrayType:
		return r.readArray()
	}
	raw, err := r.takeBytes(size)
	if err != nil {
		return nil, err
	}
	switch kind {
	case uint16Type:
		if name, ok := transactionTypes[binary.BigEndian.Uint16(raw)]; ok {
			return name, nil
		}
		return nil, fmt.Errorf("%w: type of transaction %x", errBinary, raw)
	case uint32Type:
		return binary.BigEndian.Uint32(raw), nil
	case amountType:
		value := binary.BigEndian.Uint64(raw)
		if value>>62 != 1 { // an issued currency, or a negative amount
			return nil, fmt.Errorf("%w: only XRP can be submitted here", errBinary)
		}
		return fmt.Sprint(value & (1<<62 - 1)), nil
	case accountType:
		if len(raw) != 20 {
			return nil, errBinary
		}
		return params.Account(raw).String(), nil
	}
	return strings.ToUpper(hex.EncodeToString(raw)), nil
}

func (r *binaryReader) readArray() (any, error) {
	var all []any
	for {
		name, value, err := r.readField()
		if err != nil {
			return nil, err
		}
		if name == endMarker {
			return all, nil
		}
		all = append(all, Fields{name: value})
	}
}

// verifySignature reports whether the account's own key signed the transaction.
func verifySignature(tx Fields, signed []byte) bool {
	keyText, _ := tx["SigningPubKey"].(string)
	signatureText, _ := tx["TxnSignature"].(string)
	public, err := hex.DecodeString(keyText)
	signature, err2 := hex.DecodeString(signatureText)
	if err != nil || err2 != nil || len(public) != 33 {
		return false
	}
	if params.Account(address.Hash160(public)).String() != tx["Account"] {
		return false
	}
	if public[0] == 0xed {
		return ed25519.Verify(public[1:], signed, signature)
	}
	point, err := btcec.ParsePubKey(public)
	if err != nil {
		return false
	}
	parsed, err := ecdsa.ParseDERSignature(signature)
	if err != nil {
		return false
	}
	sum := sha512.Sum512(signed)
	return parsed.Verify(sum[:32], point)
}
