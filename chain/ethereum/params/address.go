package params

import (
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/crypto/sha3"
)

// Address is an account or a contract: the 20 bytes that its name stands for.
type Address [20]byte

// ErrAddress refuses a text that is no address.
var ErrAddress = errors.New("no address of Ethereum")

// ErrChecksum refuses an address of which some letter has the wrong case: a
// character is mistyped.
var ErrChecksum = errors.New("the checksum in the case of its letters is wrong")

// ParseAddress reads 0x and 40 hex digits. Where letters of both cases stand in
// it, their case is a checksum (EIP-55) and must be right; all of one case has none.
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

// String writes the address with its checksum (EIP-55).
func (a Address) String() string {
	text := make([]byte, 2+2*len(a))
	copy(text, "0x")
	digits := text[2:]
	hex.Encode(digits, a[:])
	sum := Keccak(digits)
	for i, c := range digits {
		if c >= 'a' && sum[i/2]>>(4*(1-i%2))&0xf >= 8 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return string(text)
}

// OfKey is the address of a public key: an uncompressed point without its first byte.
func OfKey(point []byte) Address {
	sum := Keccak(point)
	return Address(sum[12:])
}

// Keccak is Ethereum's hash.
func Keccak(parts ...[]byte) (sum [32]byte) {
	hash := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		hash.Write(part)
	}
	hash.Sum(sum[:0])
	return sum
}

// mustParseAddress reads an address of this package's own.
func mustParseAddress(text string) Address {
	a, err := ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}
