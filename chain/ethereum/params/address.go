package params

import (
	"encoding/hex"
	"errors"
	"strings"

	"cointill/chain/abi"
)

// Address is the 20 bytes of an account or contract.
type Address [20]byte

// ErrAddress rejects a text that is not an address.
var ErrAddress = errors.New("no address of Ethereum")

// ErrChecksum rejects an address with a wrong checksum, which means that a character is mistyped.
var ErrChecksum = errors.New("the checksum in the case of its letters is wrong")

// ParseAddress reads 0x and 40 hex digits. If the letters have mixed case, the case is a checksum
// (EIP-55) and must be right. Text in one case has no checksum.
func ParseAddress(text string) (Address, error) {
	var a Address
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != 2*len(a) {
		return Address{}, ErrAddress
	}
	if _, err := hex.Decode(a[:], []byte(digits)); err != nil {
		return Address{}, ErrAddress
	}
	if digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && a.String() != text {
		return Address{}, ErrChecksum
	}
	return a, nil
}

// String formats the address with its checksum (EIP-55).
func (a Address) String() string {
	text := make([]byte, 2+2*len(a))
	copy(text, "0x")
	digits := text[2:]
	hex.Encode(digits, a[:])
	sum := abi.Keccak(digits)
	for i, c := range digits {
		if c >= 'a' && sum[i/2]>>(4*(1-i%2))&0xf >= 8 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return string(text)
}

// OfKey returns the address of a public key, given as an uncompressed point without its first
// byte.
func OfKey(point []byte) Address {
	sum := abi.Keccak(point)
	return Address(sum[12:])
}

// mustParseAddress parses an address that is a constant of this package.
func mustParseAddress(text string) Address {
	a, err := ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}
