package params

import "cointill/chain/abi"

// messagePrefix begins the bytes that wallets sign of a text, so that it can't be a transaction.
const messagePrefix = "\x19TRON Signed Message:\n"

// HashMessage returns the hash that wallets sign of a text (TIP-191, signMessageV2).
func HashMessage(text string) [32]byte { return abi.HashMessage(messagePrefix, text) }
