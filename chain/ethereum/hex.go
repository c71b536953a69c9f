package ethereum

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// Nodes write quantities and bytes as a JSON string of 0x and hex digits. The types in this file
// decode that string in place, without allocating text, and reject everything else.

var errHex = errors.New("not a number in hexadecimal")

// readHexDigits reads a JSON string of 0x and hex digits and returns the digits.
func readHexDigits(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if len(v) < 4 || string(v[:3]) != `"0x` {
		return nil, errHex
	}
	return v[3 : len(v)-1], nil
}

// hash is 32 bytes.
type hash [32]byte

// UnmarshalJSONFrom reads 64 hex digits.
func (h *hash) UnmarshalJSONFrom(d *jsontext.Decoder) error { return readExactHex(h[:], d) }

// String formats the hash as nodes do.
func (h hash) String() string {
	var text [66]byte
	copy(text[:], "0x")
	hex.Encode(text[2:], h[:])
	return string(text[:])
}

// readHash parses a hash that this package wrote.
func readHash(text string) (h hash, err error) {
	if len(text) != 2+2*len(h) || text[:2] != "0x" {
		return h, errHex
	}
	_, err = hex.Decode(h[:], []byte(text[2:]))
	return h, err
}

// account is the 20 bytes of an account or contract.
type account params.Address

// UnmarshalJSONFrom reads 40 hex digits.
func (a *account) UnmarshalJSONFrom(d *jsontext.Decoder) error { return readExactHex(a[:], d) }

func (a account) String() string { return params.Address(a).String() }

// readExactHex fills a slice and fails if there are fewer or more digits.
func readExactHex(into []byte, d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err == nil && len(text) != 2*len(into) {
		err = errHex
	}
	if err != nil {
		return err
	}
	_, err = hex.Decode(into, text)
	return err
}

// quantity is a number of 63 bits. Leading zeros are accepted, although nodes should not write
// them.
type quantity int64

// UnmarshalJSONFrom reads at most 16 hex digits.
func (n *quantity) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	value, err := strconv.ParseUint(string(text), 16, 63)
	*n = quantity(value)
	return err
}

// nonce is a number of 64 bits: how many transactions a sender sent before.
type nonce uint64

// UnmarshalJSONFrom reads at most 16 hex digits.
func (n *nonce) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	value, err := strconv.ParseUint(string(text), 16, 64)
	*n = nonce(value)
	return err
}

// wei is a number of 256 bits, in big-endian bytes.
type wei [32]byte

// UnmarshalJSONFrom reads at most 64 hex digits.
func (w *wei) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readHexDigits(d)
	if err != nil {
		return err
	}
	if len(text) > 2*len(w) {
		return errHex
	}
	*w = wei{}
	var even [64]byte
	for i := range even {
		even[i] = '0'
	}
	copy(even[len(even)-len(text):], text)
	_, err = hex.Decode(w[:], even[:])
	return err
}

// optionalQuantity is a number that counts as zero where it is missing, too large or can't be read.
type optionalQuantity int64

// UnmarshalJSONFrom reads any value.
func (n *optionalQuantity) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if len(v) > 4 && string(v[:3]) == `"0x` {
		if value, err := strconv.ParseUint(string(v[3:len(v)-1]), 16, 63); err == nil {
			*n = optionalQuantity(value)
		}
	}
	return nil
}

func (w wei) isZero() bool { return w == wei{} }

// toAmount converts the number to an amount of money.
func (w wei) toAmount() money.Amount { return money.FromBig(new(big.Int).SetBytes(w[:])) }

// hexBytes is a byte string of any length.
type hexBytes []byte

// UnmarshalJSONFrom reads an even number of hex digits, including zero digits. Null gives no
// bytes.
func (b *hexBytes) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() == 'n' {
		*b = nil
		return nil
	}
	if len(v) < 4 || string(v[:3]) != `"0x` {
		return errHex
	}
	text := v[3 : len(v)-1]
	*b = make([]byte, len(text)/2)
	if len(text)%2 != 0 {
		return errHex
	}
	_, err = hex.Decode(*b, text)
	return err
}
