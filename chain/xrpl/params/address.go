package params

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/mr-tron/base58"
)

// rippleAlphabet is the base58 alphabet of the XRP Ledger.
var rippleAlphabet = base58.NewAlphabet("rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz")

// Account is the 20 bytes of an account.
type Account [20]byte

const (
	classicBytes = 1 + 20 + 4
	xBytes       = 2 + 20 + 1 + 8 + 4
	keyBytes     = 1 + 33 + 4
	// maxTextLength bounds the text of an address. Base58 of 38 bytes has at most 52 characters.
	maxTextLength = 52
	// publicKeyPrefix is the first byte of accounts' public keys.
	publicKeyPrefix = 0x23
)

// The first two bytes of X-addresses on the main network and on all other networks.
var prefixMain, prefixTest = [2]byte{0x05, 0x44}, [2]byte{0x04, 0x93}

// Errors for rejected addresses. They contain no part of the text.
var (
	// ErrNoAddress rejects a text that is not an address.
	ErrNoAddress = errors.New("this is no address of the XRP Ledger: a character may be missing or mistyped")
	// ErrTestAddress and ErrMainAddress reject an X-address of the other kind of network.
	ErrTestAddress = errors.New("this address begins with T, as only addresses on test networks do")
	ErrMainAddress = errors.New("this address begins with X, as only addresses on the main network do")
)

// String formats the classic address: r….
func (a Account) String() string {
	return base58.EncodeAlphabet(appendChecksum(append([]byte{0}, a[:]...)), rippleAlphabet)
}

// ParseAccount reads a classic address in its only valid spelling.
func ParseAccount(text string) (Account, error) {
	raw, err := decodeChecked(text, classicBytes)
	if err != nil || raw[0] != 0 {
		return Account{}, ErrNoAddress
	}
	return Account(raw[1:]), nil
}

// XAddress is an account with an optional tag in one text (XLS-5d). It begins with X on the main
// network and with T on all other networks.
type XAddress struct {
	Account Account
	Tag     *uint32
	Test    bool
}

// String formats the X-address.
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

// ParseX reads an X-address. It rejects tags of 64 bits, which the format allows but the ledger
// does not.
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

// Read reads the address that a merchant enters for a network: a classic address, or an X-address
// with or without a tag. It rejects an X-address of the other kind of network. A classic address
// is the same on every network, so only the network itself can show whether it exists.
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

// IsPublicKey reports whether a text is an account's public key as the ledger's tools write it
// (aB…, aK…). A public key is not secret, and it is not an address.
func IsPublicKey(text string) bool {
	raw, err := decodeChecked(text, keyBytes)
	return err == nil && raw[0] == publicKeyPrefix
}

// decodeChecked decodes base58 and returns the bytes before the checksum. The text must have the
// given length in bytes and the only valid spelling.
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
