package params

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/mr-tron/base58"
)

// rippleAlphabet is base58 in the XRP Ledger's order of characters.
var rippleAlphabet = base58.NewAlphabet("rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz")

// Account is an account's 20 bytes.
type Account [20]byte

const (
	classicBytes = 1 + 20 + 4
	xBytes       = 2 + 20 + 1 + 8 + 4
	keyBytes     = 1 + 33 + 4
	// maxTextLength bounds a text that is read: base58 of 38 bytes is at most 52 characters.
	maxTextLength = 52
	// publicKeyPrefix is the first byte of accounts' public keys.
	publicKeyPrefix = 0x23
)

// The two bytes that X-addresses of the main network and of all others begin with.
var prefixMain, prefixTest = [2]byte{0x05, 0x44}, [2]byte{0x04, 0x93}

// Why texts are refused; it tells nothing that they held.
var (
	// ErrNoAddress is why most are: they are none.
	ErrNoAddress = errors.New("this is no address of the XRP Ledger: a character may be missing or mistyped")
	// ErrTestAddress and ErrMainAddress are Read's where an X-address is of the other kind of network.
	ErrTestAddress = errors.New("this address begins with T, as only addresses on test networks do")
	ErrMainAddress = errors.New("this address begins with X, as only addresses on the main network do")
)

// String is the classic address: r….
func (a Account) String() string {
	return base58.EncodeAlphabet(appendChecksum(append([]byte{0}, a[:]...)), rippleAlphabet)
}

// ParseAccount reads a classic address, and only the one way in which it is written.
func ParseAccount(text string) (Account, error) {
	raw, err := decodeChecked(text, classicBytes)
	if err != nil || raw[0] != 0 {
		return Account{}, ErrNoAddress
	}
	return Account(raw[1:]), nil
}

// XAddress is an account and perhaps a tag in one text (XLS-5d): X… on the main
// network, T… on every other.
type XAddress struct {
	Account Account
	Tag     *uint32
	Test    bool
}

// String is the address as it is written.
func (x XAddress) String() string {
	prefix := prefixMain
	if x.Test {
		prefix = prefixTest
	}
	raw := append(prefix[:], x.Account[:]...)
	if x.Tag == nil {
		raw = binary.LittleEndian.AppendUint64(append(raw, 0), 0)
	} else {
		raw = binary.LittleEndian.AppendUint64(append(raw, 1), uint64(*x.Tag))
	}
	return base58.EncodeAlphabet(appendChecksum(raw), rippleAlphabet)
}

// ParseX reads an X-address. Tags of 64 bits, which the format has room for and
// the ledger hasn't, are refused.
func ParseX(text string) (XAddress, error) {
	raw, err := decodeChecked(text, xBytes)
	if err != nil {
		return XAddress{}, ErrNoAddress
	}
	prefix, flag, value := [2]byte(raw[:2]), raw[22], binary.LittleEndian.Uint64(raw[23:])
	x := XAddress{Account: Account(raw[2:22]), Test: prefix == prefixTest}
	switch {
	case prefix != prefixMain && prefix != prefixTest, flag > 1, flag == 0 && value != 0, value > 1<<32-1:
		return XAddress{}, ErrNoAddress
	case flag == 1:
		tag := uint32(value)
		x.Tag = &tag
	}
	return x, nil
}

// Read reads what a merchant gives as an account of a network: a classic address,
// or an X-address with or without a tag. An X-address of another kind of network
// is refused; a classic one is the same on every network, so that only a look at
// the network itself can tell.
func Read(text string, p Params) (Account, *uint32, error) {
	if account, err := ParseAccount(text); err == nil {
		return account, nil, nil
	}
	x, err := ParseX(text)
	switch {
	case err != nil:
		return Account{}, nil, err
	case x.Test && !p.Test:
		return Account{}, nil, ErrTestAddress
	case !x.Test && p.Test:
		return Account{}, nil, ErrMainAddress
	}
	return x.Account, x.Tag, nil
}

// IsPublicKey reports whether a text is an account's public key as the ledger's
// tools write it (aB…, aK…). It is no secret, and no address either.
func IsPublicKey(text string) bool {
	raw, err := decodeChecked(text, keyBytes)
	return err == nil && raw[0] == publicKeyPrefix
}

// decodeChecked is what a text of base58 holds before its checksum, when it has the
// length, and is written as we write it.
func decodeChecked(text string, length int) ([]byte, error) {
	if len(text) > maxTextLength {
		return nil, ErrNoAddress
	}
	raw, err := base58.DecodeAlphabet(text, rippleAlphabet)
	if err != nil || len(raw) != length || base58.EncodeAlphabet(raw, rippleAlphabet) != text {
		return nil, ErrNoAddress
	}
	body := raw[:length-4]
	if [4]byte(raw[length-4:]) != computeChecksum(body) {
		return nil, ErrNoAddress
	}
	return body, nil
}

func appendChecksum(body []byte) []byte {
	sum := computeChecksum(body)
	return append(body, sum[:]...)
}

func computeChecksum(body []byte) [4]byte {
	first := sha256.Sum256(body)
	second := sha256.Sum256(first[:])
	return [4]byte(second[:4])
}
