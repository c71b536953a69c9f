package signing

import (
	"bytes"
	"cmp"
	"errors"
)

// The binary form of transactions (https://xrpl.org/docs/references/protocol/binary-format): fields
// in the order of their codes, each a header and a value.

// fieldCode identifies a field.
type fieldCode struct{ kind, number byte }

// Types of values that a payment may have.
const (
	kindUint16    = 1
	kindUint32    = 2
	kindHash      = 5
	kindAmount    = 6
	kindBlob      = 7
	kindAccount   = 8
	kindObject    = 14
	kindArray     = 15
	kindPaths     = 18
	kindVector256 = 19
)

// Fields with a meaning here.
var (
	fieldTransactionType    = fieldCode{kindUint16, 2}
	fieldNetworkID          = fieldCode{kindUint32, 1}
	fieldFlags              = fieldCode{kindUint32, 2}
	fieldSourceTag          = fieldCode{kindUint32, 3}
	fieldSequence           = fieldCode{kindUint32, 4}
	fieldDestinationTag     = fieldCode{kindUint32, 14}
	fieldLastLedgerSequence = fieldCode{kindUint32, 27}
	fieldTicketSequence     = fieldCode{kindUint32, 41}
	fieldInvoiceID          = fieldCode{kindHash, 17}
	fieldAmount             = fieldCode{kindAmount, 1}
	fieldFee                = fieldCode{kindAmount, 8}
	fieldSendMax            = fieldCode{kindAmount, 9}
	fieldDeliverMin         = fieldCode{kindAmount, 10}
	fieldSigningPubKey      = fieldCode{kindBlob, 3}
	fieldTxnSignature       = fieldCode{kindBlob, 4}
	fieldAccount            = fieldCode{kindAccount, 1}
	fieldDestination        = fieldCode{kindAccount, 3}
	fieldSigners            = fieldCode{kindArray, 3}
	fieldMemos              = fieldCode{kindArray, 9}
	fieldPaths              = fieldCode{kindPaths, 1}
)

// Markers that end objects and arrays.
var endOfObject, endOfArray = fieldCode{kindObject, 1}, fieldCode{kindArray, 1}

// field is a field as it stands in the binary form.
type field struct {
	code  fieldCode
	value []byte // without the length before it
	whole []byte // with header and length
}

var errBinary = errors.New("no canonical binary form")

// maxDepth bounds objects and arrays in each other. Memos and signers are objects in an array.
const maxDepth = 4

// readFields reads all fields of a transaction. They must be in canonical order, because servers
// hash them in that order.
func readFields(text []byte) ([]field, error) {
	var all []field
	r := binaryReader{text}
	for len(r.rest) > 0 {
		before := r.rest
		code, err := r.takeHeader()
		if err != nil {
			return nil, err
		}
		value, err := r.takeValue(code.kind, 0)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 && compareCodes(all[len(all)-1].code, code) >= 0 {
			return nil, errBinary
		}
		all = append(all, field{code, value, before[:len(before)-len(r.rest)]})
	}
	return all, nil
}

func compareCodes(a, b fieldCode) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number))
}

// binaryReader reads the binary form from front to back.
type binaryReader struct{ rest []byte }

func (r *binaryReader) takeBytes(n int) ([]byte, error) {
	if n > len(r.rest) {
		return nil, errBinary
	}
	part := r.rest[:n]
	r.rest = r.rest[n:]
	return part, nil
}

// takeHeader reads type and number of a field. Each is a half of the first byte, or a byte behind
// it where it is above 15.
func (r *binaryReader) takeHeader() (fieldCode, error) {
	first, err := r.takeBytes(1)
	if err != nil {
		return fieldCode{}, err
	}
	code := fieldCode{first[0] >> 4, first[0] & 15}
	for _, half := range []*byte{&code.kind, &code.number} {
		if *half > 0 {
			continue
		}
		more, err := r.takeBytes(1)
		if err != nil || more[0] < 16 {
			return fieldCode{}, errBinary
		}
		*half = more[0]
	}
	return code, nil
}

// takeValue reads a value of a type.
func (r *binaryReader) takeValue(kind byte, depth int) ([]byte, error) {
	switch kind {
	case kindUint16:
		return r.takeBytes(2)
	case kindUint32:
		return r.takeBytes(4)
	case kindHash:
		return r.takeBytes(32)
	case kindAmount:
		return r.takeAmount()
	case kindBlob, kindAccount, kindVector256:
		return r.takePrefixed()
	case kindPaths:
		return r.takePaths()
	case kindObject:
		return r.takeUntil(endOfObject, depth)
	case kindArray:
		return r.takeUntil(endOfArray, depth)
	}
	return nil, errBinary
}

// takeAmount reads an amount: 8 bytes of XRP, 33 of a multi-purpose token, or 48 of an issued
// currency.
func (r *binaryReader) takeAmount() ([]byte, error) {
	switch {
	case len(r.rest) == 0:
		return nil, errBinary
	case r.rest[0]&0x80 != 0:
		return r.takeBytes(48)
	case r.rest[0]&0x20 != 0:
		return r.takeBytes(33)
	}
	return r.takeBytes(8)
}

// takePrefixed reads a value with its length before it, of at most 12,480 bytes, which is as much
// as two bytes of length can say.
func (r *binaryReader) takePrefixed() ([]byte, error) {
	first, err := r.takeBytes(1)
	if err != nil {
		return nil, err
	}
	length := int(first[0])
	if length > 192 {
		second, err := r.takeBytes(1)
		if err != nil || length > 240 {
			return nil, errBinary
		}
		length = 193 + (length-193)*256 + int(second[0])
	}
	return r.takeBytes(length)
}

// takePaths reads paths: steps that each begin with a byte that says what they hold, 0xff between
// paths, 0 at the end.
func (r *binaryReader) takePaths() ([]byte, error) {
	begin := r.rest
	for {
		step, err := r.takeBytes(1)
		if err != nil {
			return nil, err
		}
		if step[0] == 0 {
			return begin[:len(begin)-len(r.rest)], nil
		}
		if step[0] == 0xff {
			continue
		}
		for _, part := range []byte{0x01, 0x10, 0x20} { // account, currency, issuer
			if step[0]&part == 0 {
				continue
			}
			if _, err := r.takeBytes(20); err != nil {
				return nil, err
			}
		}
	}
}

// takeUntil reads fields up to the marker that ends an object or array, and the marker.
func (r *binaryReader) takeUntil(end fieldCode, depth int) ([]byte, error) {
	if depth == maxDepth {
		return nil, errBinary
	}
	begin := r.rest
	for {
		code, err := r.takeHeader()
		if err != nil {
			return nil, err
		}
		if code == end {
			return begin[:len(begin)-len(r.rest)], nil
		}
		if _, err := r.takeValue(code.kind, depth+1); err != nil {
			return nil, err
		}
	}
}

// joinSigned returns the bytes that a signature covers: a prefix, and all fields but signatures.
func joinSigned(fields []field) []byte {
	var text bytes.Buffer
	text.WriteString("STX\x00")
	for _, f := range fields {
		if f.code != fieldTxnSignature && f.code != fieldSigners {
			text.Write(f.whole)
		}
	}
	return text.Bytes()
}
