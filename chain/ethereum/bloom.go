package ethereum

import (
	"encoding/binary"
	"errors"

	"cointill/chain/abi"
)

// bloomSize is the length in bytes of a block's logs bloom: 2,048 bits.
const bloomSize = 256

// bloomContains reports whether the three bits of a value are set.
func bloomContains(bloom, what []byte) bool {
	for _, bit := range bloomBits(what) {
		if bloom[bloomSize-1-bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// bloomBits returns the positions of the three bits that stand for a value.
func bloomBits(what []byte) (three [3]uint16) {
	sum := abi.Keccak(what)
	for i := range three {
		three[i] = binary.BigEndian.Uint16(sum[2*i:]) & (8*bloomSize - 1)
	}
	return three
}

// mayHaveTokenLogs reports whether the block's bloom contains the token's address and its event.
// It can be a false positive, but never a false negative.
func (h header) mayHaveTokenLogs(token account) bool {
	if token == (account{}) {
		return false // no contract is there
	}
	if len(h.Bloom) != bloomSize {
		return true
	}
	return bloomContains(h.Bloom, token[:]) && bloomContains(h.Bloom, transferEvent[:])
}

// checkTokenLogs compares the receipts of all transactions of a block with its bloom. It fails if
// the bloom contains the token and its event, but no receipt has such a log and the other logs do
// not set the same bits by chance.
func (h header) checkTokenLogs(receipts []receipt, token account) error {
	for i := range receipts {
		for j := range receipts[i].Logs {
			l := &receipts[i].Logs[j]
			if l.Address == token && len(l.Topics) > 0 && l.Topics[0] == transferEvent {
				return nil
			}
		}
	}
	if len(h.Bloom) != bloomSize || !h.mayHaveTokenLogs(token) {
		return nil
	}
	shown := make([]byte, bloomSize)
	add := func(what []byte) {
		for _, bit := range bloomBits(what) {
			shown[bloomSize-1-bit/8] |= 1 << (bit % 8)
		}
	}
	for i := range receipts {
		for _, l := range receipts[i].Logs {
			add(l.Address[:])
			for _, topic := range l.Topics {
				add(topic[:])
			}
		}
	}
	if bloomContains(shown, token[:]) && bloomContains(shown, transferEvent[:]) {
		return nil
	}
	return errors.New("the block's bloom contains the token's event, and no receipt does")
}
