package bitcoin

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
)

// Codec encodes a network's addresses as scripts, and its spend keys ("txid:vout", as in
// Transfer.Spends) as outpoints of 36 bytes, as its transactions hold them. It returns nil for a
// text without such a form.
func Codec(p params.Params) chain.Codec { return codec{p} }

type codec struct{ params params.Params }

// Address implements chain.Codec.
func (c codec) Address(address string) []byte { return c.params.Script(address) }

// Spend implements chain.Codec. It takes a key only in the form that outpointKey writes, because
// another form would never match.
func (codec) Spend(key string) []byte {
	id, digits, ok := strings.Cut(key, ":")
	if !ok || len(id) != 64 || id != strings.ToLower(id) {
		return nil
	}
	index, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || strconv.FormatUint(index, 10) != digits {
		return nil
	}
	form, err := hex.DecodeString(id)
	if err != nil {
		return nil
	}
	slices.Reverse(form)
	return binary.LittleEndian.AppendUint32(form, uint32(index))
}

// outpointKey returns the spend key of an outpoint's 36 bytes.
func outpointKey(outpoint []byte) string {
	var text [64 + 1 + 10]byte
	key := append(appendHex(text[:0], outpoint[:32]), ':')
	return string(strconv.AppendUint(key, uint64(binary.LittleEndian.Uint32(outpoint[32:])), 10))
}
