package tron

import (
	"errors"
	"math/big"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/node"
	"cointill/chain/tron/params"
	"cointill/core/money"
)

// Indexes of transfers in their transaction: first the TRX that the transaction itself sends, then the logs of its
// result in order.
const (
	indexValue = 0
	indexLogs  = 1
)

// transferContract is the type of transactions that send TRX.
const transferContract = "TransferContract"

// sunDecimals is the number of decimals of TRX.
const sunDecimals = 6

// transferEvent is the first topic of logs of transfers.
var transferEvent = hash(abi.TransferEvent)

// word is a number of 256 bits, in big-endian bytes.
type word [32]byte

// movement is one movement of USDT or TRX in a block, to any receiver.
type movement struct {
	tx       hash
	index    int
	native   bool // TRX, which pays nothing
	from, to account
	amount   word
	fee      int64 // sun
}

// readBlock is a block with all its movements.
type readBlock struct {
	chain.Header
	movements []movement
}

// findMovements returns the movements of a block. Only results count: what a transaction asks for shows the sender's
// intention, logs show the effect. A failed transaction moves nothing.
func findMovements(b *fullBlock, all []*info, token account) (found []movement, err error) {
	for n := range b.Transactions {
		t, i := &b.Transactions[n], all[n]
		ok, err := hasSucceeded(t, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		native, err := t.findNative()
		if err != nil {
			return nil, err
		}
		since := len(found)
		found = append(found, native...)
		if i.Receipt.Result == resultSuccess { // only a contract emits logs
			for place := range i.Logs {
				if m, ok := i.Logs[place].toMovement(token); ok {
					m.index = indexLogs + place
					found = append(found, m)
				}
			}
		}
		for k := range found[since:] {
			m := &found[since+k]
			m.tx = t.ID
			if m.from == t.findOwner() { // what a contract moves for another account cost that account nothing
				m.fee = max(i.Fee, 0)
			}
		}
	}
	return found, nil
}

// findNative returns the TRX that a transaction sends.
func (t *transaction) findNative() ([]movement, error) {
	if len(t.Data.Contracts) != 1 || t.Data.Contracts[0].Type != transferContract {
		return nil, nil
	}
	var sent struct {
		From   account `json:"owner_address"`
		To     account `json:"to_address"`
		Amount int64   `json:"amount"`
	}
	if err := json.Unmarshal(t.Data.Contracts[0].Parameter.Value, &sent, node.AllowDuplicateNames); err != nil {
		return nil, errors.New("a transfer of TRX that can't be read")
	}
	if sent.Amount <= 0 || sent.From == sent.To {
		return nil, nil
	}
	m := movement{index: indexValue, native: true, from: sent.From, to: sent.To}
	big.NewInt(sent.Amount).FillBytes(m.amount[:])
	return []movement{m}, nil
}

// toMovement reads a log of the token's contract. Only the exact form counts: this contract, its Transfer event, two
// accounts and one amount above zero. Logs of other contracts and logs in similar forms are ignored, because any
// contract can emit them.
func (l *logEntry) toMovement(token account) (m movement, ok bool) {
	if l.Address != token || len(l.Topics) != 3 || l.Topics[0] != transferEvent || len(l.Data) != len(m.amount) {
		return m, false
	}
	from, ok := abi.ReadAddress(l.Topics[1])
	to, also := abi.ReadAddress(l.Topics[2])
	m = movement{from: from, to: to, amount: word(l.Data)}
	return m, ok && also && m.amount != word{} && from != to
}

// keepWatched returns the block with movements to watched addresses, and of USDT also from them. Nothing is
// pending on Tron and no transaction replaces another one, so that there are no spends.
func (b *readBlock) keepWatched(watch chain.Watch) chain.Block {
	out := chain.Block{Header: b.Header}
	for n := range b.movements {
		m := &b.movements[n]
		if !m.native && watch.Raw(m.from[:]) {
			if from := m.from.String(); watch.Address(from) {
				out.Departures = append(out.Departures, chain.Departure{TxID: m.tx.String(), Address: from,
					Asset: string(money.USDT), Amount: m.amount.toAmount()})
			}
		}
		if !watch.Raw(m.to[:]) {
			continue
		}
		if to := m.to.String(); watch.Address(to) {
			out.Transfers = append(out.Transfers, m.toTransfer(to))
		}
	}
	return out
}

// toTransfer returns a movement for the follower. TRX pays nothing: its asset is its amount and its name.
func (m *movement) toTransfer(to string) chain.Transfer {
	t := chain.Transfer{TxID: m.tx.String(), Index: m.index, Destination: chain.Destination{Address: to},
		From: spendPrefix(params.Address(m.from)), Fee: money.Units(m.fee)}
	amount := m.amount.toAmount()
	if m.native {
		t.Asset = decimal.NewFromBigInt(amount.Big(), -sunDecimals).String() + " " + string(money.TRX)
		return t
	}
	t.Asset, t.Amount = string(money.USDT), amount
	return t
}

// toAmount converts the number to an amount of money.
func (w word) toAmount() money.Amount { return money.FromBig(new(big.Int).SetBytes(w[:])) }
