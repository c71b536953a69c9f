package outbox

import (
	"encoding/binary"
	"time"

	"cointill/core/ident"
)

// Schedule is the waits between attempts: after the first failure the first
// one, and so on. When it is used up, the row has failed for good.
type Schedule []time.Duration

// Next is the wait after one more failure, when there were this many before.
// It reports false when no attempt is left.
func (s Schedule) Next(before int) (time.Duration, bool) {
	if before < 0 || before >= len(s) {
		return 0, false
	}
	return s[before], true
}

// JitterWait moves a wait by up to a tenth to either side, so that what failed
// together doesn't come back together.
func JitterWait(wait time.Duration) time.Duration {
	return wait - wait/10 + randomPart(wait/5)
}

// AddLater adds up to a tenth to a wait: for one that must not be cut short.
func AddLater(wait time.Duration) time.Duration { return wait + randomPart(wait/10) }

// randomPart is a random share of a span, in whole microseconds.
func randomPart(span time.Duration) time.Duration {
	n := int64(span / time.Microsecond)
	if n <= 0 {
		return 0
	}
	random := binary.BigEndian.Uint64(ident.RandomBytes(8)) >> 1
	return time.Duration(int64(random)%n) * time.Microsecond
}
