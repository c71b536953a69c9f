package abi

import (
	"bytes"
	"math/big"
	"testing"
)

// TestTransferIsParsedOnlyInItsExactForm: calldata of a transfer is parsed to what was encoded; other lengths, other
// functions and bytes before the account are refused.
func TestTransferIsParsedOnlyInItsExactForm(t *testing.T) {
	t.Parallel()
	to, amount := [20]byte{1, 19: 2}, big.NewInt(1_000_000)
	data := EncodeTransfer(to, amount)
	if got, of, ok := ParseTransfer(data); !ok || got != to || of.Cmp(amount) != 0 {
		t.Errorf("ParseTransfer(%x) = %x, %v, %t, want %x, %v", data, got, of, ok, to, amount)
	}
	for name, other := range map[string][]byte{"nothing": nil, "one byte less": data[:len(data)-1],
		"one byte more": append(bytes.Clone(data), 0), "another function": append([]byte{1}, data[1:]...),
		"a byte before the account": append(append(bytes.Clone(data[:4]), 1), data[5:]...)} {
		if _, _, ok := ParseTransfer(other); ok {
			t.Errorf("%s: ParseTransfer(%x) is ok", name, other)
		}
	}
}

// TestTextIsDecodedOnlyWhole: a text is decoded to its last byte; a cut one, another beginning and bytes that are no
// text are refused.
func TestTextIsDecodedOnlyWhole(t *testing.T) {
	t.Parallel()
	whole := append(make([]byte, 64), "USDT"...)
	whole[31], whole[63] = 32, 4
	if text, ok := DecodeText(whole); text != "USDT" || !ok {
		t.Errorf("DecodeText(%x) = %q, %t, want USDT", whole, text, ok)
	}
	edit := func(at int, to byte) []byte {
		raw := bytes.Clone(whole)
		raw[at] = to
		return raw
	}
	for name, raw := range map[string][]byte{"nothing": nil, "no length": whole[:63], "cut": whole[:67],
		"another beginning": edit(31, 64), "a long length": edit(40, 1), "no UTF-8": edit(64, 0xff)} {
		if text, ok := DecodeText(raw); ok {
			t.Errorf("%s: DecodeText(%x) = %q", name, raw, text)
		}
	}
}
