package bitcoin

import (
	"encoding/binary"
	"errors"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// finder collects what concerns a watch from transactions that were walked
// over before: their bytes are in order.
type finder struct {
	params params.Params
	watch  chain.Watch

	transfers []chain.Transfer
	spends    []chain.Spend
	keys      []string        // of the present transaction's inputs, once they are needed
	paid      map[digest]bool // the transactions that transfers are of
}

// errTwice refuses a block that would credit one output twice.
var errTwice = errors.New("it is in the block twice")

// find looks through the transaction at s.
func (f *finder) find(raw []byte, s span, id digest) error {
	var name string // made for the first match
	w := walk{raw: raw, at: s.inputs}
	for range w.varint() {
		outpoint := w.take(outpointLen)
		w.take(w.varint())
		w.take(4)
		if s.coinbase || !f.watch.Raw(outpoint) {
			continue
		}
		if key := outpointKey(outpoint); f.watch.Spend(key) {
			if name == "" {
				name = id.String()
			}
			f.spends = append(f.spends, chain.Spend{Key: key, TxID: name})
		}
	}
	paid := len(f.transfers)
	for i := range w.varint() {
		amount := binary.LittleEndian.Uint64(w.take(8))
		script := w.take(w.varint())
		if !f.watch.Raw(script) {
			continue
		}
		address := f.params.Address(script)
		if address == "" || !f.watch.Address(address) {
			continue
		}
		if name == "" {
			name = id.String()
		}
		f.transfers = append(f.transfers, f.transfer(raw, s, chain.Transfer{
			TxID: name, Index: int(i), Destination: chain.Destination{Address: address}, Amount: money.Units(int64(amount)),
		}))
	}
	f.keys = nil
	if len(f.transfers) == paid {
		return nil
	}
	if f.paid[id] {
		return errTwice
	}
	if f.paid == nil {
		f.paid = map[digest]bool{}
	}
	f.paid[id] = true
	return nil
}

// transfer completes a transfer with what is the same for all of a transaction.
func (f *finder) transfer(raw []byte, s span, t chain.Transfer) chain.Transfer {
	t.Asset = string(f.params.Coin)
	if s.coinbase {
		t.Maturity = f.params.Maturity
		return t
	}
	if f.keys == nil {
		f.keys = inputKeys(raw, s)
	}
	t.Spends = f.keys
	return t
}

// inputKeys are the spend keys of a transaction's inputs, chain.MaxSpends at most.
func inputKeys(raw []byte, s span) []string {
	w := walk{raw: raw, at: s.inputs}
	keys := make([]string, min(w.varint(), chain.MaxSpends))
	for i := range keys {
		keys[i] = outpointKey(w.take(outpointLen))
		w.take(w.varint())
		w.take(4)
	}
	return keys
}
