// Package abi holds what networks of Ethereum's kind and Tron share: their hash, the calls and logs of tokens (ERC-20,
// TRC-20), and signed messages. It contains only pure functions.
package abi

import (
	"bytes"
	"math/big"
	"strconv"
	"unicode/utf8"

	"golang.org/x/crypto/sha3"
)

// TransferEvent is the first topic of logs of transfers, the only event that moves tokens.
var TransferEvent = Keccak([]byte("Transfer(address,address,uint256)"))

// transferSelector begins the calldata of transfer(address,uint256).
var transferSelector = []byte{0xa9, 0x05, 0x9c, 0xbb}

const (
	wordSize = 32
	// transferSize is the size of that calldata: the selector and two words.
	transferSize = 4 + 2*wordSize
)

// Keccak returns the Keccak-256 hash of the joined parts.
func Keccak(parts ...[]byte) (sum [32]byte) {
	hash := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		hash.Write(part)
	}
	hash.Sum(sum[:0])
	return sum
}

// HashMessage returns the hash of a text that wallets sign, with the prefix of the network's kind.
func HashMessage(prefix, text string) [32]byte {
	return Keccak([]byte(prefix + strconv.Itoa(len(text)) + text))
}

// ReadAddress returns the account in a topic, or in an argument of a call. The bytes before the account must be zero.
func ReadAddress(word [wordSize]byte) (account [20]byte, ok bool) {
	return [20]byte(word[12:]), [12]byte(word[:12]) == [12]byte{}
}

// EncodeTransfer returns the calldata of transfer(address,uint256).
func EncodeTransfer(to [20]byte, amount *big.Int) []byte {
	data := make([]byte, transferSize)
	copy(data, transferSelector)
	copy(data[4+12:], to[:])
	amount.FillBytes(data[4+wordSize:])
	return data
}

// ParseTransfer reads calldata of transfer(address,uint256) with nothing behind it. Tron's contracts accept any bytes
// before the account; here they must be zero.
func ParseTransfer(data []byte) (to [20]byte, amount *big.Int, ok bool) {
	if len(data) != transferSize || !bytes.HasPrefix(data, transferSelector) {
		return to, nil, false
	}
	to, ok = ReadAddress([wordSize]byte(data[4:]))
	return to, new(big.Int).SetBytes(data[4+wordSize:]), ok
}

// DecodeText reads a string that a function returned: where it begins, its length, and its bytes.
func DecodeText(raw []byte) (text string, ok bool) {
	if len(raw) < 2*wordSize || [wordSize]byte(raw) != [wordSize]byte{wordSize - 1: wordSize} {
		return "", false
	}
	length := raw[2*wordSize-1]
	end := 2*wordSize + int(length)
	if [wordSize]byte(raw[wordSize:]) != [wordSize]byte{wordSize - 1: length} || len(raw) < end {
		return "", false
	}
	raw = raw[2*wordSize : end]
	return string(raw), utf8.Valid(raw)
}
