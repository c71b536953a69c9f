package ethereum

import "time"

// identityCalls is how many calls a day verify again, every ten minutes, which network a node follows and the state of
// its token.
const identityCalls = 9 * 6 * 24

// CallsADay returns how many calls a day one node gets of a process that polls it this often: while nothing is awaited,
// with a rest between two polls, and while a payment always is. With idle=logs the first number is 0, as it depends on
// how much the token is used. Both are 0 for private networks, whose blocks come on demand.
func (s *Source) CallsADay(poll, rest time.Duration) (idle, awaited int64) {
	const day = 24 * time.Hour
	if s.params.BlockTime == 0 || poll == 0 || rest == 0 {
		return 0, 0
	}
	blocks, polls := int64(day/s.params.BlockTime), int64(day/poll)
	// A poll asks for the last block. Where ether pays it asks for pending transactions, and for the last block again.
	perPoll := int64(3)
	if s.nodes.Members[0].showsNoPending() {
		perPoll = 1
	}
	// Each block is read with its receipts, and each new last block needs the finalized one.
	awaited = polls*perPoll + 2*blocks + min(polls, blocks) + identityCalls
	if s.nodes.Members[0].endpoint.idleLogs {
		return 0, awaited
	}
	// A rest ends with the last block, the finalized one and the logs; each block is read without receipts.
	return 3*int64(day/rest) + blocks + identityCalls, awaited
}
