package signing

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// TestTransactionsAreReadWhole: a transaction is read with witnesses where they are allowed; no beginning of it is one.
func TestTransactionsAreReadWhole(t *testing.T) {
	plain := wire.NewMsgTx(2)
	// The hash begins with 1, which behind a 0 would announce witnesses.
	plain.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte{1}}})
	plain.AddTxIn(&wire.TxIn{SignatureScript: []byte{txscript.OP_1}, Sequence: 5})
	plain.AddTxOut(wire.NewTxOut(7, []byte{txscript.OP_2}))
	witness := plain.Copy()
	witness.TxIn[1].Witness = wire.TxWitness{{1, 2}, {}}
	first := plain.Copy()
	first.TxIn[0].Witness = wire.TxWitness{{3}}
	for name, tx := range map[string]*wire.MsgTx{"without witnesses": plain, "with a witness": witness, "with the first": first} {
		raw := rawBytes(tx)
		got, err := readTransaction(raw, true)
		if err != nil || !bytes.Equal(rawBytes(got), raw) {
			t.Errorf("%s: read as %x, %v, want %x", name, rawBytes(got), err, raw)
		}
		if _, err := readTransaction(raw, false); (err == nil) == tx.HasWitness() {
			t.Errorf("%s, where none are allowed: %v", name, err)
		}
		for n := range raw {
			if _, err := readTransaction(raw[:n], true); err == nil {
				t.Errorf("%s: the first %d bytes of %d were read", name, n, len(raw))
			}
		}
	}
	for name, raw := range map[string]string{
		"no inputs, no outputs":  "\x02\x00\x00\x00" + "\x00\x00" + "\x00\x00\x00\x00",
		"no inputs, two outputs": "\x02\x00\x00\x00" + "\x00\x02" + "12345678\x00" + "12345678\x00" + "\x00\x00\x00\x00",
	} {
		if _, err := readTransaction([]byte(raw), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Announced witnesses that are all empty.
	empty := append([]byte{2, 0, 0, 0, 0, 1}, rawBytes(plain)[4:]...)
	empty = append(empty[:len(empty)-4], 0, 0, 0, 0, 0, 0)
	if _, err := readTransaction(empty, true); err == nil {
		t.Error("a transaction without the witnesses that it announces was read")
	}
	shortest := []byte{2, 0, 0, 0, 0}
	if _, err := readTransaction(shortest, true); err == nil {
		t.Error("five bytes were read as a transaction")
	}
}

// TestEntriesHaveTheFormOfTheirType: the forms that BIP 174 and 371 state take these values and refuse those.
func TestEntriesHaveTheFormOfTheirType(t *testing.T) {
	key, uncompressed := make([]byte, 33), make([]byte, 65)
	key[0], uncompressed[0] = 3, 4
	of := func(parts ...any) (b []byte) {
		for _, part := range parts {
			switch part := part.(type) {
			case int:
				b = append(b, make([]byte, part)...)
			case string:
				b = append(b, part...)
			}
		}
		return b
	}
	for name, c := range map[string]struct {
		form      func([]byte) bool
		good, bad [][]byte
	}{
		"some":          {hasSome, [][]byte{{0}}, [][]byte{{}}},
		"public key":    {isPublicKey, [][]byte{key, of("\x02", 32), uncompressed}, [][]byte{of(33), of("\x04", 32), of(65), of("\x03", 64), of("\x04", 65), {}}},
		"origin":        {isOrigin, [][]byte{of(4), of(24)}, [][]byte{{}, of(5), of(3)}},
		"control block": {isControlBlock, [][]byte{of(33), of(33 + 32*128)}, [][]byte{of(1), of(34), of(33 + 32*129)}},
		"tap origin":    {isTapOrigin, [][]byte{of("\x00", 4), of("\x02", 64, 8)}, [][]byte{{}, of("\x00"), of("\x02", 63, 4), of("\x01", 32), of("\x00", 5)}},
		"output":        {isOutput, [][]byte{of(8, "\x01", 1), of(9)}, [][]byte{of(8), of(7), of(8, "\x02", 1), of(8, "\x01", 2)}},
		"witness":       {isWitness, [][]byte{of("\x00"), of("\x02", "\x01", 1, "\x00")}, [][]byte{{}, of("\x02", "\x00"), of("\x01", "\x01", 2)}},
	} {
		for _, b := range c.good {
			if !c.form(b) {
				t.Errorf("%s: %x is refused", name, b)
			}
		}
		for _, b := range c.bad {
			if c.form(b) {
				t.Errorf("%s: %x is taken", name, b)
			}
		}
	}
}
