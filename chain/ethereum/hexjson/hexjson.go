// Package hexjson reads the numbers and bytes in JSON answers of nodes: a string of 0x and hex digits. The types decode
// it in place, without allocating text, and reject everything else.
package hexjson

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// ErrHex rejects text that isn't a number in hexadecimal.
var ErrHex = errors.New("not a number in hexadecimal")

// readHexDigits reads a JSON string of 0x and hex digits and returns the digits.
func readHexDigits(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if len(v) < 4 || string(v[:3]) != `"0x` {
		return nil, ErrHex
	}
	return v[3 : len(v)-1], nil
}

// Hash is 32 bytes.
type Hash [32]byte

// UnmarshalJSONFrom reads 64 hex digits.
func (h *Hash) UnmarshalJSONFrom(d *jsontext.Decoder) error { return readExactHex(h[:], d) }

// String formats the hash as nodes do.
func (h Hash) String() string {
	var text [66]byte
	copy(text[:], "0x")
	hex.Encode(text[2:], h[:])
	return string(text[:])
}

// ReadHash parses a hash that Hash.String wrote.
func ReadHash(text string) (h Hash, err error) {
	if len(text) != 2+2*len(h) || text[:2] != "0x" {
		return h, ErrHex
	}
	_, err = hex.Decode(h[:], []byte(text[2:]))
	return h, err
}

// Account is the 20 bytes of an account or contract.
type Account params.Address

// UnmarshalJSONFrom reads 40 hex digits.
func (a *Account) UnmarshalJSONFrom(d *jsontext.Decoder) error { return readExactHex(a[:], d) }

// String formats the account with its checksum (EIP-55).
func (a Account) String() string { return params.Address(a).String() }

// readExactHex fills a slice and fails if there are fewer or more digits.
func readExactHex(into []byte, d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err == nil && len(text) != 2*len(into) {
		err = ErrHex
	}
	if err != nil {
		return err
	}
	_, err = hex.Decode(into, text)
	return err
}

// Quantity is a number of 63 bits. Leading zeros are accepted, although nodes should not write
// them.
type Quantity int64

// UnmarshalJSONFrom reads at most 16 hex digits.
func (n *Quantity) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	value, err := strconv.ParseUint(string(text), 16, 63)
	*n = Quantity(value)
	return err
}

// Nonce is a number of 64 bits: how many transactions a sender sent before.
type Nonce uint64

// UnmarshalJSONFrom reads at most 16 hex digits.
func (n *Nonce) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	value, err := strconv.ParseUint(string(text), 16, 64)
	*n = Nonce(value)
	return err
}

// Wei is a number of 256 bits, in big-endian bytes.
type Wei [32]byte

// UnmarshalJSONFrom reads at most 64 hex digits.
func (w *Wei) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	if len(text) > 2*len(w) {
		return ErrHex
	}
	*w = Wei{}
	var even [64]byte
	for i := range even {
		even[i] = '0'
	}
	copy(even[len(even)-len(text):], text)
	_, err = hex.Decode(w[:], even[:])
	return err
}

// OptionalQuantity is a number that counts as zero where it is missing, too large or can't be read.
type OptionalQuantity int64

// UnmarshalJSONFrom reads any value.
func (n *OptionalQuantity) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if len(v) > 4 && string(v[:3]) == `"0x` {
		if value, err := strconv.ParseUint(string(v[3:len(v)-1]), 16, 63); err == nil {
			*n = OptionalQuantity(value)
		}
	}
	return nil
}

// IsZero reports whether the number is 0.
func (w Wei) IsZero() bool { return w == Wei{} }

// ToAmount converts the number to an amount of money.
func (w Wei) ToAmount() money.Amount { return money.FromBig(new(big.Int).SetBytes(w[:])) }

// Bytes is a byte string of any length.
type Bytes []byte

// UnmarshalJSONFrom reads an even number of hex digits, including zero digits. Null gives no
// bytes.
func (b *Bytes) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == 'n' {
		*b = nil
		return d.SkipValue()
	}
	text, err := readHexDigits(d)
	if err == nil && len(text)%2 != 0 {
		err = ErrHex
	}
	if err != nil {
		return err
	}
	*b = make([]byte, len(text)/2)
	_, err = hex.Decode(*b, text)
	return err
}
