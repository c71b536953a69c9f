package bitcoin

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"cointill/core/money"
)

// TestTransactionsOfBlocksAreFound finds transactions in blocks by their ids, with witnesses and behind the proof of
// work of another chain.
func TestTransactionsOfBlocksAreFound(t *testing.T) {
	t.Parallel()
	segwit := payTo(1, wire.NewTxOut(2, numberedScript(3)))
	segwit.TxIn[0].Witness = wire.TxWitness{{1, 2}, {3}}
	block := blockOf(payTo(0, wire.NewTxOut(1, numberedScript(1))), segwit, payTo(2, wire.NewTxOut(3, numberedScript(4))))
	raw := wireBytes(block)
	p := paramsOf(t, money.Bitcoin, "regtest")
	for i, tx := range block.Transactions {
		if got, err := findTx(raw, p, tx.TxID()); err != nil || !bytes.Equal(got, wireBytes(tx)) {
			t.Errorf("findTx of transaction %d = %x, %v, want %x", i, got, err, wireBytes(tx))
		}
	}
	merged := auxBlock(nil)
	var plain wire.MsgBlock
	if err := plain.Deserialize(bytes.NewReader(withoutAuxPow(merged))); err != nil {
		t.Fatal(err)
	}
	doge := paramsOf(t, money.Dogecoin, "regtest")
	for i, tx := range plain.Transactions {
		if got, err := findTx(merged, doge, tx.TxID()); err != nil || !bytes.Equal(got, wireBytes(tx)) {
			t.Errorf("findTx of transaction %d of a merge-mined block = %x, %v, want %x", i, got, err, wireBytes(tx))
		}
	}
	last := plain.Transactions[2].TxID()
	large := append(raw, make([]byte, maxRaw+1-len(raw))...)
	for name, c := range map[string]struct {
		raw   []byte
		doge  bool
		id    string
		fault string
	}{
		"none":                 {raw, false, strings.Repeat("0", 64), "it has no transaction 0000"},
		"nothing":              {nil, false, segwit.TxID(), "0 bytes"},
		"half a header":        {raw[:headerLen-1], false, segwit.TxID(), "79 bytes"},
		"a header":             {raw[:headerLen], false, segwit.TxID(), "it has no transaction"},
		"a block that ends":    {raw[:len(raw)-1], false, block.Transactions[3].TxID(), "it ends too early"},
		"a block that is long": {large, false, segwit.TxID(), "bytes"},
		"a proof that ends":    {merged[:headerLen+5], true, last, "proof of work"},
		"a false proof":        {auxBlock(func(a *auxParts) { a.otherRoot = true }), true, last, ""},
	} {
		params := p
		if c.doge {
			params = doge
		}
		got, err := findTx(c.raw, params, c.id)
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.fault) || got != nil {
			t.Errorf("%s: findTx = %x, %v, want ErrMalformed with %q", name, got, err, c.fault)
		}
	}
	if got, err := findTx(large[:maxRaw], p, segwit.TxID()); err != nil || !bytes.Equal(got, wireBytes(segwit)) {
		t.Errorf("in the longest block: findTx = %x, %v, want %x", got, err, wireBytes(segwit))
	}
	if got, err := findTx(raw[:headerLen+1], p, segwit.TxID()); err == nil {
		t.Errorf("in a block of nothing but a number: findTx = %x, want an error", got)
	}
}

// TestOtherTransactionsAreRefused compares bytes with the id of a transaction.
func TestOtherTransactionsAreRefused(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Bitcoin, "regtest")
	tx := payTo(1, wire.NewTxOut(2, numberedScript(3)))
	plain := wireBytes(tx)
	tx.TxIn[0].Witness = wire.TxWitness{{1, 2}, {3}}
	segwit := wireBytes(tx)
	for name, raw := range map[string][]byte{"without witness": plain, "with witness": segwit} {
		if err := checkTxID(raw, p, tx.TxID()); err != nil {
			t.Errorf("%s: checkTxID = %v, want none", name, err)
		}
		for name, other := range map[string][]byte{"nothing": nil, "half": raw[:len(raw)-1], "three bytes": raw[:3],
			"more": append(bytes.Clone(raw), 0), "another": wireBytes(payTo(2, wire.NewTxOut(2, numberedScript(3))))} {
			if err := checkTxID(other, p, tx.TxID()); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: checkTxID = %v, want ErrMalformed", name, err)
			}
		}
	}
}
