package bitcoin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/chain/node"
	"cointill/core/money"
)

const (
	// rateBlocks is how many of the last blocks show what transactions pay.
	rateBlocks = 6
	// highestPaid bounds what they show, in multiples of the least rate: 500 sat/vB, and 5 DOGE for 1,000
	// bytes. A miner may pay any fee to itself.
	highestPaid = 500
)

// readBlockRates returns the rates that transactions of the last blocks paid: a quarter of them paid more
// than the fast one, and a quarter less than the saving one. Where those blocks have no transactions the
// rates are multiples of the least one.
func (n *server) readBlockRates(ctx context.Context) (feeRates, error) {
	state, err := n.readState(ctx)
	if err != nil {
		return nil, err
	}
	least, tip := leastRates[n.params.Coin], state.height
	paid, unread := n.fetchPaidRates(ctx, tip), tip
	if len(paid) > 0 {
		unread = 0
	}
	for ; unread > max(0, tip-rateBlocks); unread-- {
		rate, err := n.readAverageRate(ctx, unread)
		if err != nil {
			return nil, err
		}
		if rate > 0 {
			paid = append(paid, rate)
		}
	}
	rates := feeRates{}
	slices.Sort(paid)
	for i, speed := range []chain.Speed{chain.SpeedSaving, chain.SpeedUsual, chain.SpeedFast} {
		if len(paid) == 0 {
			rates[speed] = least * speedMultiple[speed]
			continue
		}
		rates[speed] = min(paid[len(paid)*(i+1)/4], least*highestPaid)
	}
	return rates, nil
}

// readAverageRate returns what the transactions of the block at a height paid on average; 0 for none.
func (n *server) readAverageRate(ctx context.Context, height int64) (int64, error) {
	subsidy := subsidyAt(n.params, height)
	if subsidy == 0 {
		return 0, nil
	}
	hash, err := n.fetchBlockHash(ctx, height)
	if errors.Is(err, chain.ErrNoBlock) { // a reorganisation took it
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	raw, err := n.fetchBlock(ctx, hash)
	if err != nil {
		return 0, err
	}
	rate, err := averageRate(raw, n.params, subsidy)
	if err != nil {
		return 0, node.DamagedDataError("a block", err)
	}
	return rate, nil
}

// subsidyAt returns the new coins that a block makes beside the fees of its transactions; 0 where they
// can't be told from the height alone.
func subsidyAt(p params.Params, height int64) int64 {
	switch {
	case p.Coin == money.BTC && p.SubsidyReductionInterval > 0:
		return int64(50e8) >> min(height/int64(p.SubsidyReductionInterval), 62)
	case p.Coin == money.DOGE && height >= 600_000:
		return 10_000 * 1e8
	}
	return 0
}

// averageRate returns the fees of a block, which its first transaction takes beside the subsidy, for each
// 1,000 virtual bytes of the other transactions.
func averageRate(raw []byte, p params.Params, subsidy int64) (int64, error) {
	_, _, w, err := openBlock(raw, p, false)
	if err != nil {
		return 0, err
	}
	var taken, weight int64
	for i := range w.ReadCount(minTx) {
		s := w.readTx(emptyWatch{}, uint64(p.MaxAmount()))
		if w.Fault != "" {
			break
		}
		if i == 0 {
			taken = sumOutputs(raw, s)
			continue
		}
		weight += 4 * int64(s.end-s.start)
		if s.segwit { // the marker and the witnesses count once (BIP 141)
			weight -= 3 * int64(2+s.lock-s.witness)
		}
	}
	if w.Fault != "" {
		return 0, fmt.Errorf("%w block: %s", ErrMalformed, w.Fault)
	}
	if fees := taken - subsidy; fees > 0 && weight > 0 {
		return money.Units(fees).MulDiv(4*1000, weight).Big().Int64(), nil
	}
	return 0, nil
}

// sumOutputs returns what a transaction pays.
func sumOutputs(raw []byte, s txSpan) (sum int64) {
	w := newDecoder(raw[:s.witness], s.outputs)
	for range w.ReadCount(minOutput) {
		sum += int64(binary.LittleEndian.Uint64(w.ReadBytes(8)))
		w.ReadBytes(w.ReadVarint())
	}
	return sum
}
