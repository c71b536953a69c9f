package bitcoin

import (
	"encoding/binary"
	"errors"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// matcher collects the watched transfers and spends of transactions. The decoder has verified their
// bytes before.
type matcher struct {
	params params.Params
	watch  chain.Watch

	transfers []chain.Transfer
	spends    []chain.Spend
	inputKeys []string        // of the inputs of the current transaction, once they are needed
	paidTxs   map[digest]bool // the transactions with transfers
}

// errDuplicateTx refuses a block that would credit one output twice.
var errDuplicateTx = errors.New("it is in the block twice")

// matchTx matches the transaction at s.
func (f *matcher) matchTx(raw []byte, s txSpan, id digest) error {
	name := id.String()
	w := newDecoder(raw, s.inputs)
	for range w.ReadVarint() {
		outpoint := w.ReadBytes(outpointLen)
		w.ReadBytes(w.ReadVarint())
		w.ReadBytes(4)
		if s.coinbase || !f.watch.Raw(outpoint) {
			continue
		}
		if key := outpointKey(outpoint); f.watch.Spend(key) {
			f.spends = append(f.spends, chain.Spend{Key: key, TxID: name})
		}
	}
	paid := len(f.transfers)
	for i := range w.ReadVarint() {
		amount := binary.LittleEndian.Uint64(w.ReadBytes(8))
		script := w.ReadBytes(w.ReadVarint())
		if !f.watch.Raw(script) {
			continue
		}
		address := f.params.Address(script)
		if address == "" || !f.watch.Address(address) {
			continue
		}
		f.transfers = append(f.transfers, f.completeTransfer(raw, s, chain.Transfer{
			TxID: name, Index: int(i), Destination: chain.Destination{Address: address},
			Amount: money.Units(int64(amount)),
		}))
	}
	f.inputKeys = nil
	if len(f.transfers) == paid {
		return nil
	}
	if f.paidTxs[id] {
		return errDuplicateTx
	}
	if f.paidTxs == nil {
		f.paidTxs = map[digest]bool{}
	}
	f.paidTxs[id] = true
	return nil
}

// completeTransfer sets the fields that all transfers of a transaction share.
func (f *matcher) completeTransfer(raw []byte, s txSpan, t chain.Transfer) chain.Transfer {
	t.Asset = string(f.params.Coin)
	if s.coinbase {
		t.Maturity = f.params.Maturity
		return t
	}
	if f.inputKeys == nil {
		f.inputKeys = inputKeys(raw, s)
	}
	t.Spends = f.inputKeys
	return t
}

// inputKeys returns the spend keys of a transaction's inputs, at most chain.MaxSpends.
func inputKeys(raw []byte, s txSpan) []string {
	w := newDecoder(raw, s.inputs)
	keys := make([]string, min(w.ReadVarint(), chain.MaxSpends))
	for i := range keys {
		keys[i] = outpointKey(w.ReadBytes(outpointLen))
		w.ReadBytes(w.ReadVarint())
		w.ReadBytes(4)
	}
	return keys
}
