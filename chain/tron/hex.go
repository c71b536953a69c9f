package tron

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/tron/params"
)

// Nodes write bytes as a JSON string of hex digits without a prefix. The types in this file decode that string in
// place, and reject everything else.

var errHex = errors.New("not a text of hexadecimal digits")

// readHexDigits reads a JSON string and returns its content, which isn't checked.
func readHexDigits(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if v.Kind() != '"' {
		return nil, errHex
	}
	return v[1 : len(v)-1], nil
}

// hash is 32 bytes: the id of a block or a transaction, or a topic.
type hash [32]byte

// UnmarshalJSONFrom reads 64 hex digits.
func (h *hash) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err == nil && len(text) != 2*len(h) {
		err = errHex
	}
	if err != nil {
		return err
	}
	_, err = hex.Decode(h[:], text)
	return err
}

// String formats the hash as nodes do.
func (h hash) String() string { return hex.EncodeToString(h[:]) }

// readHash parses the id of a block or a transaction. Letters may be of both cases, and 0x may stand before it.
func readHash(text string) (h hash, err error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(raw) != len(h) {
		return h, errHex
	}
	return hash(raw), nil
}

// account is the address of an account or contract. Logs write its 20 bytes, everything else the byte 0x41 before
// them.
type account params.Address

// UnmarshalJSONFrom reads 40 hex digits, or 41 and 40 more.
func (a *account) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	if len(text) == 2*(1+len(a)) && string(text[:2]) == "41" {
		text = text[2:]
	}
	if len(text) != 2*len(a) {
		return errHex
	}
	_, err = hex.Decode(a[:], text)
	return err
}

func (a account) String() string { return params.Address(a).String() }

// hexBytes is a byte string of any length.
type hexBytes []byte

// UnmarshalJSONFrom reads an even number of hex digits. Null gives no bytes.
func (b *hexBytes) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == 'n' {
		*b = nil
		return d.SkipValue()
	}
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	*b = make([]byte, hex.DecodedLen(len(text)))
	_, err = hex.Decode(*b, text)
	return err
}
