package params

import "cointill/chain/abi"

// messagePrefix begins the bytes that wallets sign of a text, so that it can't be a transaction (EIP-191, version 0x45).
const messagePrefix = "\x19Ethereum Signed Message:\n"

// HashMessage returns the hash that wallets sign of a text (personal_sign, EIP-191).
func HashMessage(text string) [32]byte { return abi.HashMessage(messagePrefix, text) }
