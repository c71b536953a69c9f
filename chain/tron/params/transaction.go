package params

import (
	"crypto/sha256"
	"encoding/hex"
)

// TransactionID returns the id of a transaction: the SHA-256 hash of its raw data, in hexadecimal.
func TransactionID(rawData []byte) string {
	sum := sha256.Sum256(rawData)
	return hex.EncodeToString(sum[:])
}
