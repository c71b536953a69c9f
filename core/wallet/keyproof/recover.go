package keyproof

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	"cointill/core/money"
)

// signatureSize is the size of a signature: r, s and the byte v that tells which of the possible keys made it.
const signatureSize = 65

// errSignature rejects a text that is no signature of a wallet.
var errSignature = errors.New("no signature")

// recoverSigner returns the address whose key signed a message, as wallets of Tron or of Ethereum's kind sign texts.
// The signature is in hexadecimal, with or without 0x. Any other message or signature of the right form gives
// another address, and no error.
func recoverSigner(c money.Chain, message, signature string) (address string, err error) {
	compact, err := parseSignature(signature)
	if err != nil {
		return "", err
	}
	hash := ethereum.HashMessage(message)
	if c == money.Tron {
		hash = tron.HashMessage(message)
	}
	key, _, err := ecdsa.RecoverCompact(compact, hash[:])
	if err != nil {
		return "", errSignature
	}
	point := key.SerializeUncompressed()[1:]
	if c == money.Tron {
		return tron.OfKey(point).String(), nil
	}
	return ethereum.OfKey(point).String(), nil
}

// parseSignature reads r, s and v, and returns v, r and s, as RecoverCompact takes them. v is 27 or 28; some wallets
// write 0 or 1. An s in the upper half of its range is refused, as by nodes and wallets' libraries (EIP-2): it can be
// made from the other signature without the key. It would prove the key all the same, but no wallet writes it.
func parseSignature(text string) ([]byte, error) {
	text = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "0x")
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != signatureSize {
		return nil, errSignature
	}
	v := raw[signatureSize-1]
	if v < 27 {
		v += 27
	}
	var s btcec.ModNScalar
	if s.SetByteSlice(raw[32:64]) || s.IsOverHalfOrder() || v != 27 && v != 28 {
		return nil, errSignature
	}
	return append([]byte{v}, raw[:64]...), nil
}
