package ethereum

import (
	"encoding/binary"
	"errors"

	"cointill/chain/ethereum/params"
)

// bloomSize is that of the summary of a block's logs: 2,048 bits.
const bloomSize = 256

// bloomContains reports whether the three bits that stand for something are set.
func bloomContains(bloom, what []byte) bool {
	for _, bit := range bloomBits(what) {
		if bloom[bloomSize-1-bit/8]>>(bit%8)&1 == 0 {
			return false
		}
	}
	return true
}

// bloomBits are the numbers of those that stand for something.
func bloomBits(what []byte) (three [3]uint16) {
	sum := params.Keccak(what)
	for i := range three {
		three[i] = binary.BigEndian.Uint16(sum[2*i:]) & (8*bloomSize - 1)
	}
	return three
}

// mayHaveTokenLogs reports whether the block's bloom has the token and its event: it may
// be wrong when it says yes, and never when it says no.
func (h header) mayHaveTokenLogs(token account) bool {
	if len(h.Bloom) != bloomSize {
		return true
	}
	return bloomContains(h.Bloom, token[:]) && bloomContains(h.Bloom, transferEvent[:])
}

// checkTokenLogs holds the receipts of all of a block's transactions against its bloom: an
// error where that mentions the token, and there is neither an event of it in them nor
// are there others whose bits happen to say the same.
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
	return errors.New("the block's bloom tells of the token, and no receipt does")
}
