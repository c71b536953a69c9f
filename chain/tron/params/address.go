package params

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/mr-tron/base58"

	"cointill/chain/abi"
)

// Address is the 20 bytes of an account or contract. Its texts hold the byte addressPrefix before them.
type Address [20]byte

const (
	// addressPrefix is the first byte of every address. In base58check it makes the letter T.
	addressPrefix = 0x41
	// addressLength is the length of an address in base58check.
	addressLength = 34
	// checksumLength is the number of bytes of a checksum.
	checksumLength = 4
)

// The reasons why a text is no address. Each is a sentence for merchants.
var (
	ErrAddress = errors.New("an address of Tron begins with T and has 34 letters and digits")
	ErrLetter  = errors.New("it has a character that no address of Tron has: among others 0, O, I and l are not used")
	ErrTyping  = errors.New("its checksum is wrong, so a character is mistyped or missing. Copy it again")
	ErrNetwork = errors.New("it is an address of another network. An address of Tron begins with T")
	ErrEVM     = errors.New("it is an address of Ethereum's kind (0x…). An address of Tron begins with T")
	ErrHex     = errors.New("an address of Tron in hexadecimal begins with 41 and has 42 digits")
)

// ParseAddress reads an address in base58check (T…), or in hexadecimal with its first byte (41…).
func ParseAddress(text string) (Address, error) {
	switch {
	case strings.HasPrefix(text, "0x"):
		return Address{}, ErrEVM
	case len(text) == 2*(1+len(Address{})) && isHex(text):
		return ParseHex(text)
	case len(text) > 2*addressLength || text == "":
		return Address{}, ErrAddress
	}
	raw, err := base58.Decode(text)
	switch {
	case err != nil:
		return Address{}, ErrLetter
	case len(raw) <= checksumLength || !hasChecksum(raw):
		if strings.HasPrefix(text, "T") && len(text) == addressLength {
			return Address{}, ErrTyping
		}
		return Address{}, ErrAddress
	case len(raw) != 1+len(Address{})+checksumLength || raw[0] != addressPrefix:
		return Address{}, ErrNetwork
	}
	return Address(raw[1 : len(raw)-checksumLength]), nil
}

// ParseHex reads an address in hexadecimal, as nodes write it: 41 and 40 digits.
func ParseHex(text string) (a Address, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 1+len(a) || raw[0] != addressPrefix {
		return a, ErrHex
	}
	return Address(raw[1:]), nil
}

// isHex reports whether a text has only hexadecimal digits.
func isHex(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil
}

// hasChecksum reports whether bytes end with their checksum.
func hasChecksum(raw []byte) bool {
	body := raw[:len(raw)-checksumLength]
	return bytes.Equal(computeChecksum(body), raw[len(body):])
}

// computeChecksum returns the first bytes of the double SHA-256.
func computeChecksum(body []byte) []byte {
	first := sha256.Sum256(body)
	second := sha256.Sum256(first[:])
	return second[:checksumLength]
}

// Bytes returns the 21 bytes of the address, with its first byte.
func (a Address) Bytes() []byte { return append([]byte{addressPrefix}, a[:]...) }

// String formats the address in base58check.
func (a Address) String() string {
	body := a.Bytes()
	return base58.Encode(append(body, computeChecksum(body)...))
}

// Hex formats the address in hexadecimal, with its first byte.
func (a Address) Hex() string { return hex.EncodeToString(a.Bytes()) }

// OfKey returns the address of a public key, given as an uncompressed point without its first byte: the end of
// the point's Keccak-256 hash, as on Ethereum.
func OfKey(point []byte) Address {
	sum := abi.Keccak(point)
	return Address(sum[12:])
}
