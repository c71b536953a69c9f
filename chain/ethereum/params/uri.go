package params

import (
	"fmt"

	"cointill/core/money"
)

// Two functions, because a token whose contract is missing must never become a payment of ether.

// EtherURI writes the link with which a wallet pays ether (EIP-681), with plain integers.
func EtherURI(chainID uint64, to string, amount money.Amount) string {
	return fmt.Sprintf("ethereum:%s@%d?value=%s", to, chainID, amount)
}

// TokenURI writes the link with which a wallet transfers a token (EIP-681).
func TokenURI(chainID uint64, token, to string, amount money.Amount) string {
	return fmt.Sprintf("ethereum:%s@%d/transfer?address=%s&uint256=%s", token, chainID, to, amount)
}
