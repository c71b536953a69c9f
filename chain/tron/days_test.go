package tron

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"cointill/chain/chaintest"
	"cointill/chain/node"
	"cointill/core/clock"
	"cointill/internal/testing/speed"
)

// simulatedDays are the days of each simulation, and simulatedSlot the time between its blocks: Tron's own three
// seconds would make 864,000 blocks, which take an hour here.
var (
	simulatedDays = speed.Pick(1, 30)
	simulatedSlot = speed.Pick(5*time.Minute, 2*time.Minute)
	seeds         = speed.Pick[uint64](2, 1)
)

const (
	stepsPerBlock = 4  // of the follower, while it is behind or not
	faultPercent  = 30 // of the answers are 429
	gapPercent    = 10 // of the other answers lack something
)

// simulation is a chain, a node that limits requests and leaves gaps, and a follower.
type simulation struct {
	*fixture
	random *rand.Rand
	now    *clock.Fake
	to     []string
	counts struct{ limits, gaps, reorgs, transfers, deepest int }
}

// TestThirtyDaysOfFaults follows a chain for simulated days while 30 % of the answers are 429, answers lack the end of
// the chain, a block or its results, or are of an older time, and blocks above solidity are replaced. In the end every
// transfer of the chain is there exactly once, and every other one is known to be undone. The full size is 30 days
// (make test-all).
func TestThirtyDaysOfFaults(t *testing.T) {
	t.Parallel()
	for seed := range seeds {
		c := newFakeChain(t)
		c.slot = simulatedSlot
		c.mineBlocks(30)
		n := newFakeNode(t, c)
		s := &simulation{fixture: newFixture(t, n), random: rand.New(rand.NewPCG(seed, 7)), now: clock.NewFake(testTime())}
		s.source.nodes.Members[0].pause = node.NewPause(s.now.Now)
		for range 20 {
			s.to = append(s.to, s.watchNewAddress())
		}
		n.setBehaviour(func(n *fakeNode) { n.hijack, n.tamper = s.limit, s.leaveGap })
		for range int(time.Duration(simulatedDays) * 24 * time.Hour / simulatedSlot) {
			s.liveOneSlot()
		}
		n.setBehaviour(func(n *fakeNode) { n.hijack, n.tamper = nil, nil })
		s.now.Advance(time.Hour)
		s.followToTip()
		s.checkTransfers(seed)
		t.Logf("seed %d: %d blocks, %+v", seed, len(c.blocks), s.counts)
		if s.counts.limits == 0 || s.counts.gaps == 0 || s.counts.reorgs == 0 || s.counts.transfers == 0 {
			t.Errorf("seed %d: a kind of fault never happened: %+v", seed, s.counts)
		}
	}
}

// limit answers some requests with 429, some of them with Retry-After.
func (s *simulation) limit(w http.ResponseWriter, _ string) bool {
	if s.random.IntN(100) >= faultPercent {
		return false
	}
	s.counts.limits++
	if s.random.IntN(3) == 0 {
		w.Header().Set("Retry-After", "5")
	}
	w.WriteHeader(http.StatusTooManyRequests)
	return true
}

// leaveGap changes some answers: an empty one, no results of a full block, or the block before.
func (s *simulation) leaveGap(path string, asked map[string]any, answer any) any {
	if s.random.IntN(100) >= gapPercent {
		return answer
	}
	s.counts.gaps++
	switch path {
	case infoPath:
		return "[]"
	case blockPath:
		if height := int(asked["num"].(float64)); s.random.IntN(2) == 0 && height > 0 {
			return s.chain.blocks[height-1].blockJSON()
		}
		return "{}"
	case tipPath, "/walletsolidity/getblock":
		if _, named := asked["id_or_num"]; !named { // an old tip
			return s.chain.blocks[max(len(s.chain.blocks)-1-s.random.IntN(30), 0)].headerJSON()
		}
		return "{}"
	}
	return answer
}

// liveOneSlot adds a block with transfers or without, sometimes on another branch, and lets the follower step.
func (s *simulation) liveOneSlot() {
	for range s.random.IntN(3) {
		s.counts.transfers++
		s.chain.sendTokens(outputTo(s.to[s.random.IntN(len(s.to))], 1+int64(s.random.IntN(1_000_000))))
	}
	s.chain.mineBlocks(1)
	if s.random.IntN(20) == 0 {
		depth := 1 + s.random.IntN(18)
		s.counts.reorgs++
		s.counts.deepest = max(s.counts.deepest, depth)
		s.chain.replaceBlocks(depth, s.random.IntN(2) == 0)
	}
	for range stepsPerBlock {
		s.now.Advance(simulatedSlot / stepsPerBlock)
		_, _ = s.follower.Step(s.Context()) // most steps fail
	}
}

// checkTransfers compares the ledger with the chain.
func (s *simulation) checkTransfers(seed uint64) {
	s.Helper()
	rows := s.ledger.Transfers()
	missed, twice, extra := 0, 0, 0
	onChain := map[string]bool{}
	for _, b := range s.chain.blocks {
		for _, tx := range b.txs {
			id := tx.id.String()
			onChain[id] = true
			switch got := rows[id]; {
			case len(got) == 0 || got[0].Gone || got[0].BlockHash != b.id.String():
				missed++
			case len(got) != len(tx.logs):
				twice++
			}
		}
	}
	for id, got := range rows {
		if !onChain[id] && !allGone(got) {
			extra++
		}
	}
	if missed+twice+extra > 0 {
		s.Errorf("seed %d: %d transfers were missed, %d counted twice, %d counted that were undone", seed,
			missed, twice, extra)
	}
}

func allGone(rows []chaintest.Row) bool {
	for _, r := range rows {
		if !r.Gone {
			return false
		}
	}
	return true
}
