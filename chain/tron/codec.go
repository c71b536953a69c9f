package tron

import (
	"cointill/chain"
	"cointill/chain/tron/params"
)

// Codec encodes addresses as 20 bytes, for comparison with the content of blocks. Text in any other form than
// base58check gives nil. There are no spend keys.
func Codec() chain.Codec { return codec{} }

type codec struct{}

// Address implements chain.Codec. It accepts only the spelling that this package writes, because a watch on another
// spelling would never match.
func (codec) Address(text string) []byte {
	a, err := params.ParseAddress(text)
	if err != nil || a.String() != text {
		return nil
	}
	return a[:]
}

// Spend implements chain.Codec.
func (codec) Spend(string) []byte { return nil }
