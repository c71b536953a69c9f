package ethereum

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"cointill/chain"
	"cointill/chain/ethereum/params"
)

// Codec encodes addresses as 20 bytes and spend keys ("0x…:nonce", see Transfer.Spends) as 28
// bytes, for comparison with the content of blocks. Text in any other form gives nil.
func Codec() chain.Codec { return codec{} }

type codec struct{}

// Address implements chain.Codec. It accepts only the spelling that this package writes, because a
// watch on another spelling would never match.
func (codec) Address(text string) []byte {
	a, err := params.ParseAddress(text)
	if err != nil || a.String() != text {
		return nil
	}
	return a[:]
}

// Spend implements chain.Codec.
func (codec) Spend(key string) []byte {
	sender, count, ok := strings.Cut(key, ":")
	if !ok || len(sender) != 42 || sender[:2] != "0x" || sender != strings.ToLower(sender) {
		return nil
	}
	form, err := hex.DecodeString(sender[2:])
	if err != nil {
		return nil
	}
	n, err := strconv.ParseUint(count, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != count {
		return nil
	}
	return binary.BigEndian.AppendUint64(form, n)
}
